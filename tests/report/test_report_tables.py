"""Tables: CSV holds fractions in full, Markdown and LaTeX what people read; names stand as they are in each."""

from __future__ import annotations

import csv
import io
import re

from fake import HOSTILE, NAMES, comparison, result

from resit.report.markup import Table, latex, to_csv, to_latex, to_markdown
from resit.report.tables import fits_table, model_records, models_table, tables

NASTY = ("a_b&c%", "<script>", "x|y", "back\\slash{}", 'c,d "quoted"', "two\nlines", "$^~#", "[first]", "*starred*")


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_comparison_has_its_tables_in_three_forms() -> None:
    files = tables(result())
    stems = [
        f"{name}-{new}-{metric}"
        for name in ("models", "fits", "classes", "confusions")
        for new in ("matched-frequency", "threshold-0.7")
        for metric in ("top1", "top5")
    ]
    assert set(files) == {f"tables/{stem}.{end}" for stem in stems for end in ("csv", "md", "tex")}


def test_what_is_not_known_has_no_table() -> None:
    assert not [path for path in tables(result(comparison(full=False))) if "classes" in path or "fits" in path]


def test_csv_gives_names_and_figures_back() -> None:
    made = comparison(names=NASTY)
    rows = read(to_csv(model_records(made)))
    assert [row["model"] for row in rows] == list(NASTY)
    assert [float(row["original_accuracy"]) for row in rows] == [row.original.accuracy for row in made.models]
    assert to_csv([]) == ""


def test_csv_leaves_empty_what_is_not_available() -> None:
    rows = read(to_csv(model_records(comparison(full=False))))
    assert {row["original_low"] for row in rows} == {row["effective_robustness"] for row in rows} == {""}


def test_latex_is_booktabs_and_every_row_has_every_column() -> None:
    table = models_table("val_1%", comparison(names=(*NASTY, *HOSTILE)))
    lines = to_latex(table).splitlines()
    assert lines[1] == r"\begin{tabular}{lrrrrrr}"
    assert [line.strip() for line in lines if line.strip() in (r"\toprule", r"\midrule", r"\bottomrule")] == [
        r"\toprule", r"\midrule", r"\bottomrule",
    ]  # fmt: skip
    body = [line for line in lines if line.endswith(r" \\")]
    assert len(body) == len(NASTY) + len(HOSTILE) + 1
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {6}
    assert not any(line.lstrip().startswith(("[", "*")) for line in body)
    assert r"val\_1\%" in body[0]


def test_latex_escapes_what_latex_reads() -> None:
    assert latex("a_b&c%") == r"a\_b\&c\%"
    assert latex("<script>") == r"\textless{}script\textgreater{}"
    assert latex('\\{}$^~#"−') == r"\textbackslash{}\{\}\$\textasciicircum{}\textasciitilde{}\#\char34{}$-$"


def test_markdown_keeps_columns_and_shows_names_as_they_are() -> None:
    text = to_markdown(models_table("val", comparison(names=(*NASTY, *HOSTILE))))
    body = [line for line in text.splitlines() if line.startswith("|")]
    assert len(body) == len(NASTY) + len(HOSTILE) + 2
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in body} == {8}
    assert r"a\_b\&c%" in text
    assert "<script>" not in text
    assert body[1] == "| :-- | --: | --: | --: | --: | --: | --: |"


def test_a_line_break_in_a_caption_stays_in_the_comment() -> None:
    text = to_latex(Table(("a",), (("b",),), 1, "one\n\\input{x}"))
    assert text.splitlines()[0].startswith("% one \\input{x}")
    assert text.splitlines()[1].startswith("\\begin")


def test_lines_over_all_models_are_shown_only_where_they_differ() -> None:
    assert len(fits_table("val", comparison()).rows) == 6
    assert len(fits_table("val", comparison(full=False, names=NAMES)).rows) == 3
