"""Revisions as people write them: ``r3`` or ``3``."""

from __future__ import annotations

import re

from resit.errors import UsageError

REVISION = re.compile(r"r?([1-9][0-9]*)")


def revision(text: str) -> int:
    """The number of a revision.

    Raises
    ------
    UsageError
        If it is none.
    """
    found = REVISION.fullmatch(text.strip().lower())
    if not found:
        raise UsageError(f"{text!r} is no revision", where="revision", fix="Write r3.")
    return int(found[1])
