"""Tables for a paper and for other programs: CSV holds fractions in full, Markdown and LaTeX what people read."""

from __future__ import annotations

from dataclasses import asdict

from resit.report import format as fmt
from resit.report.markup import Table, to_csv, to_latex, to_markdown
from resit.study.result import Comparison, Fit, Result, Score

Records = list[dict[str, object]]


def tables(result: Result) -> dict[str, str]:
    """All tables of a result.

    Parameters
    ----------
    result : Result
        The comparison.

    Returns
    -------
    dict of str
        Contents by path, such as ``tables/models-v4-top1.tex``.
    """
    files: dict[str, str] = {}
    original = result.original.name
    for stem, comparison in zip(fmt.stems(result), result.comparisons, strict=True):
        for name, (records, table) in _all(original, comparison).items():
            if records:
                files[f"tables/{name}-{stem}.csv"] = to_csv(records)
                files[f"tables/{name}-{stem}.md"] = to_markdown(table)
                files[f"tables/{name}-{stem}.tex"] = to_latex(table)
    return files


def _all(original: str, comparison: Comparison) -> dict[str, tuple[Records, Table]]:
    return {
        "models": (model_records(comparison), models_table(original, comparison)),
        "fits": (fit_records(comparison), fits_table(original, comparison)),
        "classes": ([asdict(row) for row in comparison.classes or ()], classes_table(original, comparison)),
        "confusions": ([asdict(row) for row in comparison.confusions or ()], confusions_table(original, comparison)),
    }


def model_records(comparison: Comparison) -> Records:
    """One record a model, figures as fractions."""
    return [
        {
            "model": row.model,
            "variant": row.variant,
            "family": row.family,
            "kind": row.kind,
            "date": row.date,
            "baseline": row.baseline,
            **_score_record("original", row.original),
            **_score_record("new", row.new),
            "change": row.change.estimate,
            "change_low": row.change.low,
            "change_high": row.change.high,
            "rank_change": row.rank_change,
            "effective_robustness": row.effective_robustness,
        }
        for row in comparison.models
    ]


def _score_record(name: str, score: Score) -> dict[str, object]:
    interval = score.rank_interval
    return {
        f"{name}_correct": score.correct,
        f"{name}_n": score.n,
        f"{name}_accuracy": score.accuracy,
        f"{name}_low": score.low,
        f"{name}_high": score.high,
        f"{name}_rank": score.rank,
        f"{name}_rank_low": interval and interval.low,
        f"{name}_rank_high": interval and interval.high,
    }


def _fits(comparison: Comparison) -> list[tuple[str, Fit]]:
    return [(who, fit) for who, fits in (("baseline", comparison.fits), ("all", comparison.fits_all)) for fit in fits.values()]


def fit_records(comparison: Comparison) -> Records:
    """One record for each fit and each unit of resampling."""
    return [
        {
            "scale": fit.scale,
            "over": who,
            "n_models": fit.n_models,
            "unit": each.unit,
            "resamples": each.resamples,
            "failed": each.failed,
            "slope": each.slope.estimate,
            "slope_low": each.slope.low,
            "slope_high": each.slope.high,
            "intercept": each.intercept.estimate,
            "intercept_low": each.intercept.low,
            "intercept_high": each.intercept.high,
            "r2": fit.r2,
            "rmse": fit.rmse,
            "moment_slope": fit.correction and fit.correction.moment_slope,
            "deming_slope": fit.correction and fit.correction.deming_slope,
            "deming_lambda": fit.correction and fit.correction.deming_lambda,
        }
        for who, fit in _fits(comparison)
        for each in fit.intervals
    ]


def models_table(original: str, comparison: Comparison) -> Table:
    """The models in the order of their original rank."""
    heading = ("Model", original, comparison.new.name, "Change", "Rank", "New rank", "Eff. rob.")
    rows = tuple(
        (
            row.key,
            _with_interval(row.original),
            _with_interval(row.new),
            fmt.change(row.change),
            fmt.rank(row.original.rank),
            fmt.rank(row.new.rank),
            fmt.points(row.effective_robustness) if row.effective_robustness is not None else "–",
        )
        for row in sorted(comparison.models, key=lambda row: (row.original.rank, row.key))
    )
    return Table(heading, rows, 1, f"{fmt.metric(comparison.metric)} accuracy in percent, changes in points")


def _with_interval(score: Score) -> str:
    return f"{fmt.number(100 * score.accuracy, 2)} {fmt.bounds(score.low, score.high, 2, 100)}".strip()


def classes_table(original: str, comparison: Comparison) -> Table:
    """The classes, largest drop first."""
    known = sorted(comparison.classes or (), key=lambda row: (row.change is None, row.change or 0.0, row.id))
    rows = tuple(
        (row.id, row.name, fmt.percent(row.original, 1), fmt.percent(row.new, 1), fmt.points(row.change, 1)) for row in known
    )
    heading = ("Class", "Name", original, comparison.new.name, "Change")
    return Table(heading, rows, 2, f"Mean {fmt.metric(comparison.metric)} accuracy by class over the baseline models")


def confusions_table(original: str, comparison: Comparison) -> Table:
    """The most confused pairs, in the result's order."""
    rows = tuple(
        (f"{row.true_name} ({row.true_id})", f"{row.answered_name} ({row.answered_id})", *_shares(row.original, row.new))
        for row in comparison.confusions or ()
    )
    heading = ("Class", "Answered as", original, comparison.new.name, "Change")
    return Table(heading, rows, 2, "Share of the class's examples, mean over the baseline models")


def _shares(old: float, new: float) -> tuple[str, str, str]:
    return fmt.percent(old, 1), fmt.percent(new, 1), fmt.points(new - old, 1)


def fits_table(original: str, comparison: Comparison) -> Table:
    """The lines on three scales, over the baseline and over all models."""
    heading = ("Scale", "Models", "Slope", "Intercept", "R²", "RMSE", "Slope, corrected")
    rows = tuple(
        (
            fit.scale,
            f"{who}, {fit.n_models}",
            fmt.estimate(fit.slope),
            fmt.estimate(fit.intercept),
            fmt.number(fit.r2, 4),
            fmt.MISSING if fit.rmse is None else fmt.number(100 * fit.rmse, 2),
            fmt.number(fit.correction.moment_slope if fit.correction else None),
        )
        for who, fit in _fits(comparison)
        if who == "baseline" or comparison.baseline.n_models != comparison.n_models
    )
    sets = f"{comparison.new.name} on {original}, {fmt.metric(comparison.metric)}"
    boot = comparison.bootstrap
    how = f"{boot.interval} bootstrap over {boot.unit}, {boot.resamples:,} resamples"
    return Table(heading, rows, 2, f"{sets}; {how}; RMSE in points")
