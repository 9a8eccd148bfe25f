"""A Result drawn: a page, figures for a paper, tables, and the Result itself, in one directory. Nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from resit.study.explain_result import Explanation
    from resit.study.groups_result import Groups
    from resit.study.plan_result import AnyPlan
    from resit.study.progress_result import Progress
    from resit.study.result import Result
    from resit.study.retrain_result import Retrained

__all__ = ["report"]


def report(result: Result | Progress | Groups | Retrained | Explanation | AnyPlan, directory: str | os.PathLike[str]) -> Path:
    """Write the report of a result.

    Parameters
    ----------
    result : Result, Progress, Groups, Retrained, Explanation or a plan
        What a study returned.
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
    from resit.report.compare import compare_files
    from resit.report.explain import explain_files
    from resit.report.groups import groups_files
    from resit.report.plan import plan_files
    from resit.report.progress import progress_files
    from resit.report.retrain import retrain_files
    from resit.report.write import write
    from resit.study.explain_result import Explanation
    from resit.study.groups_result import Groups
    from resit.study.plan_result import AnyPlan
    from resit.study.progress_result import Progress
    from resit.study.retrain_result import Retrained

    def files() -> dict[str, bytes]:
        if isinstance(result, Groups):
            drawn = groups_files(result)
        elif isinstance(result, Retrained):
            drawn = retrain_files(result)
        elif isinstance(result, Explanation):
            drawn = explain_files(result)
        elif isinstance(result, AnyPlan):
            drawn = plan_files(result)
        else:
            drawn = progress_files(result) if isinstance(result, Progress) else compare_files(result)
        return {"result.json": result.to_json().encode(), **drawn}

    return write(Path(directory), files)
