"""A report of the made-up result, written once: what many tests look at and none changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake import HOSTILE, NAMES, comparison, result

from resit.report import report
from resit.report.page import render


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a whole report: two new sets, two metrics, hostile names, one comparison with little known."""
    folder = tmp_path_factory.mktemp("written") / "made" / "report"
    names = (*NAMES[:6], *HOSTILE)
    sets = (comparison("v4", "top1", names=names), comparison("v4", "top5", names=names), comparison("v6", "top1", full=False))
    report(result(*sets), folder)
    return folder


@pytest.fixture(scope="session")
def page() -> str:
    """The page of the made-up result: four comparisons with every field in use."""
    return render(result())


@pytest.fixture(scope="session")
def bare_page() -> str:
    """The page of a comparison in which little is known."""
    return render(result(comparison(full=False), warnings=0))
