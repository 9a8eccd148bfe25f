"""The events of a build: candidates, votes, verdicts and selections, in SQLite or PostgreSQL. No event is ever overwritten.

`open_store` opens or makes a store; `Store` has all that can be put in and read.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resit.store.opening import open_store
    from resit.store.records import Added, Note, Revision, Selection
    from resit.store.store import Store

_HOME = {
    "Added": "resit.store.records",
    "Note": "resit.store.records",
    "Revision": "resit.store.records",
    "Selection": "resit.store.records",
    "Store": "resit.store.store",
    "open_store": "resit.store.opening",
}
__all__ = ["Added", "Note", "Revision", "Selection", "Store", "open_store"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
