"""Who may use the web pages: accounts, the invites that lead to them, and sessions. Of secrets only the SHA-256 is kept."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from resit.errors import UsageError
from resit.store.bulk import next_number
from resit.store.layout import ACCOUNT, INVITE, SESSION
from resit.store.work import let_go

if TYPE_CHECKING:
    from sqlalchemy import Connection

ROLES = ("annotator", "reviewer", "admin")
NAME = re.compile(r"[^\x00-\x1f\x7f]{1,80}")
_REVOCATIONS = select(func.count()).where(INVITE.c.revoked != "")
_WHO = (
    select(ACCOUNT.c.id, ACCOUNT.c.name, ACCOUNT.c.role)
    .join(INVITE, INVITE.c.account_id == ACCOUNT.c.id)
    .join(SESSION, SESSION.c.invite_id == INVITE.c.id)
    .where((SESSION.c.secret == bindparam("secret")) & (SESSION.c.ends > bindparam("time")) & (INVITE.c.revoked == ""))
)


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may use the pages.

    Parameters
    ----------
    id : int
    name : str
        It stands as the person with each vote.
    role : {'annotator', 'reviewer', 'admin'}
    """

    id: int
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Invited:
    """An account with the state of its invites.

    Parameters
    ----------
    account : Account
    time : str
        Of the last invite.
    good : bool
        Whether one of them is not revoked.
    """

    account: Account
    time: str
    good: bool


def hashed(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def invite(connection: Connection, role: str, name: str | None, time: str) -> tuple[Account, str]:
    """Invite somebody, or somebody again who lost the link or was revoked.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction that writes.
    role : {'annotator', 'reviewer', 'admin'}
    name : str or None
        None: the role with the next number.
    time : str

    Returns
    -------
    account : Account
    secret : str
        The last part of the link. It is not kept and cannot be shown again.

    Raises
    ------
    UsageError
        If the role is none, or the name has no text, is too long, or is that of somebody in another role.
    """
    if role not in ROLES:
        raise UsageError(f"no role {role!r}", where="invite", fix=f"The roles are {', '.join(ROLES)}.")
    wanted = _free_name(connection, role) if name is None else name.strip()
    if not NAME.fullmatch(wanted):
        raise UsageError("no name of 1 to 80 characters in one line", where="invite", fix="Give a shorter one.")
    row = connection.execute(select(ACCOUNT.c.id, ACCOUNT.c.role).where(ACCOUNT.c.name == wanted)).first()
    if row is None:
        number = next_number(connection, ACCOUNT.c.id)
        connection.execute(insert(ACCOUNT), {"id": number, "name": wanted, "role": role, "time": time})
    elif row.role != role:
        raise UsageError(f"{wanted} is {row.role} already", where="invite", fix="Choose another name for the other role.")
    else:
        number = int(row.id)
    secret = secrets.token_urlsafe(24)
    values = {"account_id": number, "secret": hashed(secret), "time": time, "revoked": ""}
    connection.execute(insert(INVITE), {"id": next_number(connection, INVITE.c.id), **values})
    return Account(number, wanted, role), secret


def _free_name(connection: Connection, role: str) -> str:
    taken = set(connection.execute(select(ACCOUNT.c.name)).scalars())
    return next(name for at in range(1, len(taken) + 2) if (name := f"{role} {at}") not in taken)


def revoke(connection: Connection, name: str, time: str) -> int:
    """Take back all invites of somebody; open sessions end with them, pages that they hold become free, what was done stays.

    Returns
    -------
    int
        Invites that were good until now.

    Raises
    ------
    UsageError
        If there is nobody of that name.
    """
    number = connection.execute(select(ACCOUNT.c.id).where(ACCOUNT.c.name == name)).scalar()
    if number is None:
        raise UsageError(f"nobody is called {name!r}", where="revoke", fix="The admin page lists all names.")
    good = (INVITE.c.account_id == number) & (INVITE.c.revoked == "")
    count = connection.execute(select(func.count()).select_from(INVITE).where(good)).scalar() or 0
    connection.execute(update(INVITE).where(good).values(revoked=time))
    let_go(connection, number, time)
    return int(count)


def revocations(connection: Connection) -> int:
    """How many invites were ever revoked: while that is so, no session ends before its time."""
    return int(connection.execute(_REVOCATIONS).scalar() or 0)


def has_admin(connection: Connection) -> bool:
    """Whether somebody can open the admin page."""
    return any(one.good and one.account.role == "admin" for one in everybody(connection))


def everybody(connection: Connection) -> list[Invited]:
    """All accounts, in the order of their names."""
    last, good = func.max(INVITE.c.time), func.sum((INVITE.c.revoked == "").cast(INVITE.c.id.type))
    statement = select(ACCOUNT.c.id, ACCOUNT.c.name, ACCOUNT.c.role, last, good)
    joined = statement.join(INVITE, INVITE.c.account_id == ACCOUNT.c.id)
    grouped = joined.group_by(ACCOUNT.c.id, ACCOUNT.c.name, ACCOUNT.c.role).order_by(ACCOUNT.c.name)
    return [Invited(Account(*row[:3]), row[3], bool(row[4])) for row in connection.execute(grouped)]


def begin_session(connection: Connection, secret: str, time: str, ends: str) -> str | None:
    """Begin a session for who has an invite; sessions that are over are forgotten.

    Returns
    -------
    str or None
        The secret of the session; None where the invite is none, or was revoked.
    """
    good = (INVITE.c.secret == hashed(secret)) & (INVITE.c.revoked == "")
    number = connection.execute(select(INVITE.c.id).where(good)).scalar()
    if number is None:
        return None
    connection.execute(delete(SESSION).where(SESSION.c.ends <= time))
    session = secrets.token_urlsafe(32)
    connection.execute(insert(SESSION), {"secret": hashed(session), "invite_id": number, "time": time, "ends": ends})
    return session


def end_session(connection: Connection, session: str) -> None:
    """Forget a session."""
    connection.execute(delete(SESSION).where(SESSION.c.secret == hashed(session)))


def who(connection: Connection, session: str, time: str) -> Account | None:
    """Whose session it is; None where there is none, it is over, or its invite was revoked."""
    row: Any = connection.execute(_WHO, {"secret": hashed(session), "time": time}).first()
    return None if row is None else Account(*row)
