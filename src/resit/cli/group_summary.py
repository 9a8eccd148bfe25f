"""What ``resit groups`` shows on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from resit.cli.show import bullet, ending, on_output
from resit.data.paths import counted

if TYPE_CHECKING:
    from resit.study.groups_result import Groups

COLUMNS = ("model", "best", "worst", "best − worst, points", "by chance", "p")


def group_summary(result: Groups) -> None:
    """Print what a study of groups found: a table a set, metric and grouping, the verdict in words, repairs and warnings.

    Parameters
    ----------
    result : Groups
        What was found.
    """
    from resit.study.groups_summary import COLUMNS as NAMES
    from resit.study.groups_summary import MOST_ROWS, row
    from resit.study.verdict import metric_label

    console = on_output()
    for study in result.studies:
        size = f" (n = {study.set.n:,})" if study.set.n else ""
        title = f"{study.set.name}{size}, {metric_label(study.metric)}, by {study.by}"
        console.print(Text.assemble((title, "bold"), f": {counted(study.n_groups, 'group')}"))
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for at, name in enumerate(COLUMNS):
            table.add_column(name, justify="left" if at < 3 else "right", overflow="fold")
        for one in study.models[:MOST_ROWS]:
            cells = dict(zip(NAMES, row(study, one), strict=True))
            table.add_row(*(Text(cells[name]) for name in COLUMNS))
        console.print(Padding(table, (0, 0, 0, 2)))
        if len(study.models) > MOST_ROWS:
            console.print(f"  … and {counted(len(study.models) - MOST_ROWS, 'more model')}, in the report.")
        console.print()
    for sentence in result.verdict:
        bullet(console, sentence)
    ending(console, result)
