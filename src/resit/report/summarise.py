"""A Result as the page shows it: what is picked, ordered and put into words; nothing is estimated here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from resit.data.paths import counted
from resit.report import format as fmt
from resit.report.dotplot import DotPlot, Line, plot
from resit.report.palette import Palette, palette
from resit.study.result import ClassRow, Comparison, Estimate, ModelRow, Result

MANY = 200
CLASSES = 12
LEAD = 3


@dataclass(frozen=True, slots=True)
class Figure:
    """One key figure: its name, its value, its interval or the reason why it is missing; of the line, also its scale."""

    name: str
    value: str
    note: str
    scale: str = ""


@dataclass(frozen=True, slots=True)
class Lead:
    """The first sentences on one new set, and where the page says more."""

    id: str
    name: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """All that the page shows of one comparison."""

    id: str
    comparison: Comparison
    palette: Palette
    figures: tuple[Figure, ...]
    drops: DotPlot
    ranks: DotPlot
    classes: DotPlot | None
    at_edge: int
    n_beside: int
    has_line: bool
    has_band: bool


def leads(result: Result) -> list[Lead]:
    """What to read first: on each new set, by the first metric, how far accuracy moves and what the slope says.

    Parameters
    ----------
    result : Result
        The comparison.

    Returns
    -------
    list of Lead
    """
    first = result.comparisons[0].metric
    numbered = [(f"c{i}", c) for i, c in enumerate(result.comparisons) if c.metric == first]
    return [Lead(name, c.new.name, c.verdict[:LEAD] or (_moved(c, result.original.name),)) for name, c in numbered]


def _moved(c: Comparison, original: str) -> str:
    size = fmt.number(100 * abs(c.mean_change), 1)
    side = "lower" if c.mean_change < 0 else "higher"
    return f"Mean {fmt.metric(c.metric)} accuracy of {counted(c.n_models, 'model')} is {size} points {side} than on {original}."


def gaps(result: Result) -> list[str]:
    """Why a figure of the overview is missing, each reason once."""
    names = {"spearman": "Rank correlation", "real_swaps": "Real swaps"}
    told = []
    for c in result.comparisons:
        missing = {name: reason(c, key) for key, name in names.items() if getattr(c, key) is None}
        fit = c.fits.get("linear")
        if fit is None or fit.slope.estimate is None:
            missing["Slope"] = (fit.reason or fit.slope.reason or "") if fit else reason(c, "fits")
        if c.mean_change_interval.low is None:
            missing["Interval of the change"] = c.mean_change_interval.reason or ""
        told += [f"{name}: {fmt.MISSING}{f' ({why})' if why else ''}." for name, why in missing.items()]
    return list(dict.fromkeys(told))


def methods(result: Result) -> dict[str, str]:
    """Names of the intervals of an accuracy and of a change, as the records give them."""
    models = [row for c in result.comparisons for row in c.models]
    scores = {score.method for row in models for score in (row.original, row.new)}
    changes = {row.change.method for row in models}
    return {name: ", ".join(sorted(filter(None, found))) for name, found in (("accuracy", scores), ("change", changes))}


def views(result: Result) -> list[View]:
    """One view for each comparison, in the result's order."""
    return [_view(f"c{i}", comparison) for i, comparison in enumerate(result.comparisons)]


def _view(name: str, comparison: Comparison) -> View:
    edge = sum(score.accuracy in (0.0, 1.0) for row in comparison.models for score in (row.original, row.new))
    return View(
        id=name,
        comparison=comparison,
        palette=palette(comparison.models),
        figures=tuple(_figures(comparison)),
        drops=drop_plot(comparison),
        ranks=rank_plot(comparison),
        classes=class_plot(comparison.classes),
        at_edge=edge,
        n_beside=sum(not row.baseline for row in comparison.models),
        has_line=any(fit.slope.estimate is not None for fit in comparison.fits.values()),
        has_band=any(fit.band is not None for fit in comparison.fits.values()),
    )


def _figures(c: Comparison) -> list[Figure]:
    mean = c.mean_change_interval
    left = f"{c.baseline.n_models:,} in the line" if c.baseline.n_models != c.n_models else "all in the line"
    figures = [
        Figure("Models", f"{c.n_models:,}", left),
        Figure("Mean change, points", fmt.points(c.mean_change), _note(mean, 2, 100)),
    ]
    for scale, fit in c.fits.items():
        beside = "" if scale == "linear" else f", {scale} scale"
        figures.append(Figure(f"Slope{beside}", fmt.number(fit.slope.estimate), _note(fit.slope, 3), scale))
        figures.append(Figure("R²", fmt.number(fit.r2), fit.reason or f"of the line, {scale} scale", scale))
    if not c.fits:
        figures.append(Figure("Slope", fmt.MISSING, reason(c, "fits")))
    kendall = reason(c, "spearman") or f"Kendall {fmt.number(c.kendall)}"
    figures.append(Figure("Rank correlation", fmt.number(c.spearman), kendall))
    swaps = fmt.MISSING if c.real_swaps is None else f"{len(c.real_swaps):,}"
    figures.append(Figure("Real swaps", swaps, reason(c, "real_swaps") or f"of {counted(c.n_pairs, 'pair')}"))
    return figures


def reason(comparison: Comparison, name: str) -> str:
    """Why a field of a comparison is missing, in the result's words."""
    return comparison.reason.get(name, "")


def _note(value: Estimate, digits: int, factor: float = 1.0) -> str:
    return value.reason or fmt.bounds(value.low, value.high, digits, factor)


def _extremes(models: Sequence[ModelRow], order: list[float]) -> tuple[list[ModelRow], str]:
    """All models in order, or, of more than can be read, both ends and a note that says so."""
    ranked = [row for _, row in sorted(zip(order, models, strict=True), key=lambda pair: (pair[0], pair[1].key))]
    if len(ranked) <= MANY:
        return ranked, ""
    half = MANY // 2
    note = f"Of {len(ranked):,} models, the {half} at each end are drawn; the table below has all of them."
    return ranked[:half] + ranked[-half:], note


def drop_plot(comparison: Comparison) -> DotPlot:
    """Change of each model's accuracy in points, largest drop first."""
    changes = [row.new.accuracy - row.original.accuracy for row in comparison.models]
    shown, note = _extremes(comparison.models, changes)
    lines = [_drop_line(row) for row in shown]
    return plot(lines, unit="points", note=note, zero=True)


def _drop_line(row: ModelRow) -> Line:
    estimate = row.change
    at = 100 * (row.new.accuracy - row.original.accuracy)
    low, high = estimate.low, estimate.high
    spans = () if low is None or high is None else ((100 * low, 100 * high, "span"),)
    return Line(row.key, row.key, fmt.change(estimate), spans, ((at, "dot" if row.baseline else "dot hollow"),))


def rank_plot(comparison: Comparison) -> DotPlot:
    """Rank of each model on both sets, by its original rank; of too many, those that moved most."""
    swapped = {key for swap in comparison.real_swaps or () for key in (swap.first, swap.second)}
    shown, note = _extremes(comparison.models, [row.rank_change for row in comparison.models])
    ordered = sorted(shown, key=lambda row: (row.original.rank, row.key))
    lines = [_rank_line(row, row.key in swapped) for row in ordered]
    return plot(lines, unit="rank", note=note, whole=True)


def _rank_line(row: ModelRow, swapped: bool) -> Line:
    old, new = row.original, row.new
    spans = tuple(
        (float(score.rank_interval.low), float(score.rank_interval.high), f"span {kind}")
        for score, kind in ((old, "old"), (new, "new"))
        if score.rank_interval is not None
    )
    gained = fmt.signed(row.rank_change, 0 if row.rank_change % 1 == 0 else 1)
    text = f"{fmt.rank(old.rank)} → {fmt.rank(new.rank)} ({gained})"
    dots = ((old.rank, "dot hollow"), (new.rank, "dot"))
    spans = (*spans, (old.rank, new.rank, "move"))
    return Line(row.key, row.key, text, spans, dots, "real swap" if swapped else "")


def class_plot(classes: tuple[ClassRow, ...] | None) -> DotPlot | None:
    """The classes with the largest drops and the largest gains (or smallest drops)."""
    known = sorted((row for row in classes or () if row.change is not None), key=lambda row: (row.change or 0.0, row.id))
    if not known:
        return None
    few = len(known) <= 2 * CLASSES
    shown = known if few else known[:CLASSES] + known[-CLASSES:]
    note = "" if few else f"Of {len(known):,} classes, the {CLASSES} with the largest drops and the {CLASSES} at the other end."
    return plot([_class_line(row) for row in shown], unit="points", note=note, zero=True)


def _class_line(row: ClassRow) -> Line:
    text = f"{fmt.percent(row.original, 1)} → {fmt.percent(row.new, 1)} ({fmt.points(row.change, 1)})"
    at = 100 * (row.change or 0.0)
    return Line("", f"{row.name} ({row.id})" if row.name != row.id else row.id, text, ((0.0, at, "move"),), ((at, "dot"),))
