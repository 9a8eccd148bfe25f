"""Hands pairs out: to each reviewer the next ones, no pair to two people at once."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from sqlalchemy import select

from resit.store.layout import VERDICT
from resit.store.pairs import has_judged
from resit.web.pair_list import Key, Pair, PairList, Progress, key_of
from resit.web.pair_source import Made, PairSource

if TYPE_CHECKING:
    from resit.build.steps.opened import Build
    from resit.store.accounts import Account

LOOKED_THROUGH = 100  # last verdicts of a person, for those to go back to
ALL_DONE = "Every pair within the targets has a verdict."


@dataclass(frozen=True, slots=True)
class Given:
    """What somebody is given.

    Parameters
    ----------
    pairs : tuple of (Pair, bool)
        To look at next, each with whether somebody was unsure of it.
    left : int
        Pairs that wait, these among them.
    elsewhere : int
        Of these, in the hands of somebody else.
    doubted : int
        Of these, that who asks was unsure of.
    progress : tuple of Progress
    message : str
        Why nothing waits; empty where something does.
    """

    pairs: tuple[tuple[Pair, bool], ...]
    left: int
    elsewhere: int
    doubted: int
    progress: tuple[Progress, ...]
    message: str


class PairQueue:
    """The pairs of a build, and in whose hands they are. Safe in threads.

    Parameters
    ----------
    build : Build
    lease : float
        Seconds for which a pair is in the hands of one person.
    """

    def __init__(self, build: Build, lease: float) -> None:
        self._build, self._lease = build, lease
        self._source = PairSource(build)
        self._hands: dict[Key, tuple[int, float]] = {}
        self._put_off: dict[int, dict[Key, None]] = {}

    def references(self) -> set[str]:
        """Images of reference sets in the list; none while it is being made."""
        with self._source.opened() as made:
            return set() if made is None else made.pairs.references()

    def give(
        self,
        account: Account,
        n: int,
        *,
        held: Collection[Key] = (),
        skip: Sequence[Key] = (),
        again: bool = False,
        patience: float = 0.0,
    ) -> Given | None:
        """Give somebody the next pairs.

        Parameters
        ----------
        account : Account
        n : int
            How many.
        held : collection of Key, optional
            Pairs that their page has already; they stay in their hands.
        skip : sequence of Key, optional
            Pairs that they put off: these come last, and others may have them.
        again : bool, optional
            Whether they are given pairs again that they were unsure of.
        patience : float, optional
            Seconds to wait for the list.

        Returns
        -------
        Given or None
            None while the list is being made.

        Raises
        ------
        Stop
            If it cannot be made.
        """
        with self._source.opened(patience) as made:
            if made is None:
                return None
            now = time.monotonic()
            self._hands = {key: hand for key, hand in self._hands.items() if hand[1] > now}
            self._let_go(account, skip)
            self._hold(account, held, now)
            taken: list[int] = []
            for at in self._free(made.pairs, account, again):
                if len(taken) == n:
                    break
                if made.pairs.key(at) not in held:
                    taken.append(at)
            self._hold(account, [made.pairs.key(at) for at in taken], now)
            return self._told(made, account, taken)

    def _let_go(self, account: Account, keys: Sequence[Key]) -> None:
        own = self._put_off.setdefault(account.id, {})
        for key in keys:
            own.pop(key, None)
            own[key] = None
            if key in self._hands and self._hands[key][0] == account.id:
                del self._hands[key]

    def _hold(self, account: Account, keys: Collection[Key], now: float) -> None:
        for key in keys:
            if self._is_free(key, account):
                self._hands[key] = (account.id, now + self._lease)

    def _is_free(self, key: Key, account: Account) -> bool:
        return self._hands.get(key, (account.id,))[0] == account.id

    def _free(self, pairs: PairList, account: Account, again: bool) -> Iterator[int]:
        """Places of the pairs that somebody may be given, in order; those that they put off are last."""
        places = (pairs.place(key) for key in self._put_off.get(account.id, ()))
        late = {at: None for at in places if at is not None and pairs.is_waiting(at)}
        for at in chain((at for at in pairs.waiting() if at not in late), late):
            if self._is_free(pairs.key(at), account) and (again or not pairs.is_doubted(at, account.name)):
                yield at

    def _told(self, made: Made, account: Account, taken: list[int]) -> Given:
        pairs = made.pairs
        places = [pairs.place(key) for key, hand in self._hands.items() if hand[0] != account.id]
        return Given(
            pairs=tuple((pairs.pair(at), pairs.is_doubted(at)) for at in taken),
            left=pairs.left,
            elsewhere=sum(at is not None and pairs.is_waiting(at) for at in places),
            doubted=pairs.doubted(account.name),
            progress=pairs.progress(),
            message="" if pairs.left else made.lack or ALL_DONE,
        )

    def has_judged(self, account: Account) -> bool:
        """Whether somebody has said something of a pair."""
        with self._build.store.reading() as connection:
            return has_judged(connection, account.name, "pair")

    def before(self, account: Account, n: int) -> list[tuple[Pair, str]]:
        """Pairs of the list that somebody judged last, each with what they said; the latest comes last."""
        statement = select(VERDICT.c.image, VERDICT.c.other, VERDICT.c.verdict)
        statement = statement.where((VERDICT.c.kind == "pair") & (VERDICT.c.person == account.name))
        with self._build.store.reading() as connection:
            rows = connection.execute(statement.order_by(VERDICT.c.id.desc()).limit(LOOKED_THROUGH)).all()
        said: dict[Key, str] = {}
        for image, other, verdict in rows:
            said.setdefault(key_of(image, other), verdict)
        with self._source.opened() as made:
            if made is None:
                return []
            places = [(made.pairs.place(key), verdict) for key, verdict in said.items()]
            known = [(made.pairs.pair(at), verdict) for at, verdict in places if at is not None]
        return known[:n][::-1]
