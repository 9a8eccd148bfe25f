"""A Result drawn: a page, figures for a paper, tables, and the Result itself, in one directory. Nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from resit.study.result import Result

__all__ = ["report"]


def report(result: Result, directory: str | os.PathLike[str]) -> Path:
    """Write the report of a result.

    Parameters
    ----------
    result : Result
        What a comparison returned.
    directory : path
        Where the report goes: a new or empty directory, or an earlier report, which is replaced as a whole or left as it is.

    Returns
    -------
    pathlib.Path
        The page, ``index.html``.

    Raises
    ------
    OutputError
        If the directory holds something else than a report, or cannot be written.
    """
    from resit.report.bundle import bundle_ahead
    from resit.report.figures import figures
    from resit.report.page import render
    from resit.report.tables import tables
    from resit.report.write import write

    def files() -> dict[str, bytes]:
        with bundle_ahead() as bundle:
            drawn = figures(result)
            texts = {"result.json": result.to_json(), **tables(result), "index.html": render(result, bundle)}
        return {name: text.encode() for name, text in texts.items()} | drawn

    return write(Path(directory), files)
