"""The folder that most tests start from."""

from __future__ import annotations

from pathlib import Path

import pytest
from exam_files import LABELS, write_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two models' JSON files and the labels beside."""
    return write_folder(tmp_path, {"good": LABELS, "poor": [0, 0, 0, 0, 0, 0]})
