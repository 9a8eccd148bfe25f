"""Times as files have them, in ISO 8601, UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from resit.errors import InputError

# As Mechanical Turk writes them: Sun Sep 22 12:15:30 PDT 2019.
TURK = re.compile(r"^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{1,2}) (\d{1,2}:\d{2}:\d{2}) ([A-Z]{3,4}) (\d{4})$")
HOURS = {"UTC": 0, "GMT": 0, "EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def utc(text: str, where: str) -> str:
    """A time in ISO 8601, UTC, such as ``2026-01-31T12:00:00Z``.

    Parameters
    ----------
    text : str
        In ISO 8601 with an offset, or as Mechanical Turk writes times.
    where : str
        What it is, for messages.

    Raises
    ------
    InputError
        If it is neither, or has no offset or a zone that is not known.
    """
    text = text.strip()
    if found := TURK.match(text):
        month, day, clock, zone, year = found.groups()
        if month not in MONTHS or zone not in HOURS:
            raise _odd(text, where)
        moment = _parsed(f"{year}-{MONTHS.index(month) + 1:02}-{int(day):02}T{clock:0>8}", text, where)
        return in_utc(moment.replace(tzinfo=timezone(timedelta(hours=HOURS[zone]))))
    moment = _parsed(text, text, where)
    if moment.tzinfo is None:
        raise _odd(text, where)
    return in_utc(moment)


def in_utc(moment: datetime) -> str:
    """A moment, with its zone known, in ISO 8601, UTC."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _parsed(iso: str, text: str, where: str) -> datetime:
    try:
        return datetime.fromisoformat(iso)
    except ValueError as error:
        raise _odd(text, where) from error


def _odd(text: str, where: str) -> InputError:
    fix = "Write times like 2026-01-31T12:00:00Z, or 2026-01-31T12:00:00-08:00."
    return InputError(f"a time whose moment is not clear: {text!r}", where=where, fix=fix)
