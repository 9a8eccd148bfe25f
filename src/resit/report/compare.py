"""A comparison drawn: the page, the figures for a paper and the tables."""

from __future__ import annotations

from resit.report.bundle import bundle_ahead
from resit.report.figures import figures
from resit.report.page import render
from resit.report.tables import tables
from resit.study.result import Result


def compare_files(result: Result) -> dict[str, bytes]:
    """All files of the report but ``result.json``.

    Parameters
    ----------
    result : Result
        What is shown.

    Returns
    -------
    dict of bytes
        Contents by path.
    """
    with bundle_ahead() as bundle:
        drawn = figures(result)
        texts = {**tables(result), "index.html": render(result, bundle)}
    return drawn | {name: text.encode() for name, text in texts.items()}
