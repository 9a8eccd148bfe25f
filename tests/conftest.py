"""Fixtures that all rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Tests run side by side: more threads than cores only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data: RESIT_SHARED_DATA, else ../shared/data beside the repository."""
    folder = Path(os.environ.get("RESIT_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        reason = f"no real data at {folder}; set RESIT_SHARED_DATA to its folder"
        if os.environ.get("RESIT_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
