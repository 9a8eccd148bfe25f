"""A store on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from databases import address, postgresql

if TYPE_CHECKING:
    from resit.store import Store

__all__ = ["address", "postgresql"]


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """An empty store, once in SQLite and once in PostgreSQL."""
    from resit.store import open_store

    with open_store(address, create=True) as made:
        yield made
