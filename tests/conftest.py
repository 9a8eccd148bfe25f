"""Fixtures that all rooms share."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Tests run side by side: more threads than cores only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")


# Where tests take longest: begun last, one of these files would keep a worker busy while the others have nothing left to do.
LONGEST = ("tests/web/test_web_thousand.py", "tests/web/", "tests/study/hypotheses/", "tests/evaluate/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, file by file."""
    items.sort(key=lambda item: next((at for at, start in enumerate(LONGEST) if item.nodeid.startswith(start)), len(LONGEST)))


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


def _need(found: object, what: str) -> None:
    if found:
        return
    if os.environ.get("RESIT_REQUIRE_ALL") == "1":
        pytest.fail(f"{what} is missing")
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    _need(importlib.util.find_spec("playwright"), "playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    _need(path, "chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()
