"""Whose session it is, without asking the database for each click."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from resit.store.accounts import Account, revocations, who
from resit.web.times import moment

if TYPE_CHECKING:
    from resit.store import Store

EVERY = 1.0  # seconds between two looks at whether another program revoked an invite
KEPT = 60.0  # seconds for which a session is not looked up again otherwise
MOST = 10_000  # sessions that are kept


class Sessions:
    """Accounts by session, at most `EVERY` seconds behind what other programs revoke. Safe in threads.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._kept: dict[str, tuple[Account, float]] = {}
        self._changes = 0
        self._revoked, self._looked = -1, -EVERY

    def known(self, session: str) -> Account | None:
        """Whose session it is, if that need not be looked up."""
        now = time.monotonic()
        with self._lock:
            if now - self._looked > EVERY:
                return None
            account, until = self._kept.get(session, (None, 0.0))
        return account if now < until else None

    def look(self, session: str) -> Account | None:
        """Whose session it is, by the database where need be; None where it is none, or over."""
        begun = time.monotonic()
        with self._store.reading() as connection:
            self._refresh(revocations(connection), begun)
            if (found := self.known(session)) is not None:
                return found
            changes = self._changes
            account = who(connection, session, moment())
        with self._lock:
            if account is not None and changes == self._changes:
                if len(self._kept) >= MOST:
                    self._kept.clear()
                self._kept[session] = account, begun + KEPT
        return account

    def forget(self) -> None:
        """Look again at the next call: a session was ended here."""
        with self._lock:
            self._forget()

    def _refresh(self, revoked: int, begun: float) -> None:
        with self._lock:
            if revoked != self._revoked:
                self._revoked = revoked
                self._forget()
            self._looked = max(self._looked, begun)

    def _forget(self) -> None:
        self._kept.clear()
        self._changes += 1
