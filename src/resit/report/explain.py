"""An explanation drawn: one picture of all parts, a section for each hypothesis, and a gallery of images."""

from __future__ import annotations

from collections.abc import Sequence

from resit.report import format as fmt
from resit.report.figures import export, picture
from resit.report.frame import Spec
from resit.report.markup import Table, to_csv, to_latex, to_markdown
from resit.report.page import environment, styles
from resit.report.pictures import FACTOR, rows_of, spec_of
from resit.study.explain_result import Cell, Explanation, Finding, Picture, Point, Series, Sheet, Unit
from resit.study.result import Estimate

Record = dict[str, object]
GALLERY = "gallery.html"
WHOLE, REST = "the whole drop", "left, by estimates"


def explain_files(result: Explanation) -> dict[str, bytes]:
    """All files of the report but ``result.json``.

    Parameters
    ----------
    result : Explanation
        What is shown.

    Returns
    -------
    dict of bytes
        Contents by path.
    """
    named: list[tuple[str, Spec]] = [("parts", parts(result))]
    for finding in result.findings:
        named += [(f"{finding.name}-{at}", spec_of(one)) for at, one in enumerate(finding.pictures, 1)]
    drawn = {path: content for name, spec in named for path, content in export(f"figures/{name}", spec)}
    pictures = {name: picture(spec) for name, spec in named}
    texts = _tables(result)
    kit = environment()
    tiles = [(finding, finding.gallery) for finding in result.findings if finding.gallery]
    shared = {"result": result, "styles": styles(kit)}
    texts["index.html"] = kit.get_template("explain.html.j2").render(
        **shared,
        parts=pictures["parts"],
        views=[_view(finding, pictures) for finding in result.findings],
        gallery=GALLERY if tiles else None,
    )
    if tiles:
        texts[GALLERY] = kit.get_template("gallery.html.j2").render(**shared, tiles=tiles)
    return drawn | {path: text.encode() for path, text in texts.items()}


def _view(finding: Finding, pictures: dict[str, str]) -> Record:
    """What the page shows of a finding."""
    return {
        "finding": finding,
        "part": _part(finding),
        "figures": _figures(finding),
        "sheets": [_sheet(sheet) for sheet in finding.sheets],
        "pictures": [
            (one.title, pictures[f"{finding.name}-{at}"], _words(one), rows_of(one))
            for at, one in enumerate(finding.pictures, 1)
        ],
    }


def _part(finding: Finding) -> str:
    """How much of the drop a hypothesis explains."""
    if finding.part is None or finding.part.estimate is None:
        return ""
    return f"{'at most ' if finding.kind == 'bound' else ''}{fmt.change(finding.part)} points"


def _words(one: Picture) -> str:
    return f"{one.y} by {one.x}" if one.x else one.y


def parts(result: Explanation) -> Spec:
    """How much of the drop each hypothesis explains, with intervals; bounds are series of their own."""
    series = [Series("the drop", (_point(WHOLE, result.drop),), "point")]
    for kind, name in (("estimate", "explained"), ("bound", "at most")):
        found = [one for one in result.findings if one.part is not None and one.kind == kind]
        points = tuple(_point(one.title, one.part) for one in found if one.part is not None and one.part.estimate is not None)
        if points:
            series.append(Series(name, points))
    rest = Point(REST, result.left.by_estimates)
    series.append(Series("left", (rest,)))
    title = "How many points of the drop each hypothesis explains"
    return spec_of(Picture(title, "", "part of the drop", tuple(series), y_unit="points", line_at=0.0))


def _point(name: str, value: Estimate) -> Point:
    return Point(name, value.estimate or 0.0, value.low, value.high)


def _figures(finding: Finding) -> Table:
    rows = []
    for figure in finding.figures:
        value = figure.value
        shown = fmt.MISSING if value.estimate is None else _number(value.estimate, figure.unit)
        bounds = "" if value.low is None or value.high is None else fmt.bounds(value.low, value.high, 2, FACTOR[figure.unit])
        n = "" if figure.n is None else f"{figure.n:,}"
        rows.append((figure.name, f"{shown} {bounds}".strip(), n, value.reason or value.method or ""))
    return Table(("Figure", "Value", "n", "How"), tuple(rows), 1, finding.title)


def _number(value: float, unit: Unit) -> str:
    if unit == "count":
        return f"{value:,.0f}"
    if unit == "fraction":
        return fmt.percent(value)
    return fmt.points(value) if unit == "points" else fmt.number(value, 3)


def _sheet(sheet: Sheet) -> Table:
    rows = tuple(tuple(_cell(cell, unit) for cell, unit in zip(row, sheet.units, strict=True)) for row in sheet.rows)
    words = next((at for at, column in enumerate(zip(*sheet.rows, strict=True)) if not _is_text(column)), len(sheet.columns))
    return Table(sheet.columns, rows, max(words, 1), sheet.title)


def _is_text(column: Sequence[Cell]) -> bool:
    return all(isinstance(cell, str) or cell is None for cell in column)


def _cell(cell: Cell, unit: Unit) -> str:
    if cell is None:
        return fmt.MISSING
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) and unit in ("count", "number") else _number(float(cell), unit)


def _tables(result: Explanation) -> dict[str, str]:
    """The parts, and each sheet, for other programs."""
    rows = [
        {
            "hypothesis": one.name,
            "state": one.state,
            "found": one.effect,
            "kind": one.kind if one.part else None,
            **{name: getattr(one.part, name, None) for name in ("estimate", "low", "high")},
            "verdict": one.verdict,
        }
        for one in result.findings
    ]
    shown = tuple((one.title, one.state, _part(one) or "", one.verdict) for one in result.findings)
    table = Table(("Hypothesis", "State", "Part of the drop", "Verdict"), shown, 4, result.verdict[0].rstrip("."))
    texts = {"tables/parts.csv": to_csv(rows), "tables/parts.md": to_markdown(table), "tables/parts.tex": to_latex(table)}
    for finding in result.findings:
        for at, sheet in enumerate(finding.sheets, 1):
            records: list[Record] = [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]
            texts[f"tables/{finding.name}-{at}.csv"] = to_csv(records)
    return texts
