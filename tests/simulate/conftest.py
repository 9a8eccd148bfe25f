"""Digits as parts of a build, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from extras import needs
from resit.simulate.parts import Parts, digits_parts
from resit.simulate.pool import Pool, make_pool


@pytest.fixture(scope="session")
def digits_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("digits")


@pytest.fixture(scope="session")
def parts(digits_folder: Path) -> Parts:
    needs("sklearn")
    return digits_parts(digits_folder, seed=3)


@pytest.fixture(scope="session")
def pool(parts: Parts, digits_folder: Path) -> Pool:
    return make_pool(parts, digits_folder, seed=3)
