"""Libraries that only some tests need."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest


def needs(*names: str) -> Any:
    """The first of some modules; without one of them the test file is skipped, or fails where everything is required."""
    if os.environ.get("RESIT_REQUIRE_ALL") == "1":
        found = [importlib.import_module(name) for name in names]
    else:
        found = [pytest.importorskip(name) for name in names]
    return found[0]
