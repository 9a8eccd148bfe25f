"""A table as text that other programs read: CSV, Markdown, LaTeX; any name of a model stands in each as it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from resit.report import format as fmt

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    fmt.MINUS: "$-$",
    "²": "$^2$",
    "λ": r"$\lambda$",
    "–": "--",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A heading and rows of text; the first ``words`` columns are words, the others figures."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int
    caption: str


def to_csv(records: Sequence[dict[str, object]]) -> str:
    """Records as CSV; what is not available is empty."""
    if not records:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def to_markdown(table: Table) -> str:
    """A table that GitHub and Pandoc read."""
    align = [":--" if i < table.words else "--:" for i in range(len(table.heading))]
    heading, *rows = ([_markdown(cell) for cell in row] for row in (table.heading, *table.rows))
    lines = [f"| {' | '.join(row)} |" for row in (heading, align, *rows)]
    return "\n".join([*lines, "", f"{_markdown(table.caption)}.", ""])


def to_latex(table: Table) -> str:
    """A ``tabular`` with the rules of the package booktabs."""
    lines = [_line(row) for row in (table.heading, *table.rows)]
    columns = "l" * table.words + "r" * (len(table.heading) - table.words)
    return "\n".join(
        [
            f"% {' '.join(table.caption.split())}. Needs \\usepackage{{booktabs}}.",
            f"\\begin{{tabular}}{{{columns}}}",
            r"  \toprule",
            lines[0],
            r"  \midrule",
            *lines[1:],
            r"  \bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _line(row: Sequence[str]) -> str:
    cells = [latex(cell) for cell in row]
    guard = "{}" if cells[0].startswith(("[", "*")) else ""  # else an option of the command before it
    return f"  {guard}{' & '.join(cells)} \\\\"


def _markdown(text: str) -> str:
    for sign in "\\`*_{}[]<>|#&~":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def latex(text: str) -> str:
    """Text that LaTeX prints as it stands."""
    return " ".join("".join(LATEX.get(sign, sign) for sign in text).split())
