"""Sentences that say no more than the data do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from resit.data.label_spaces import differ
from resit.data.paths import counted
from resit.study.progress_result import Gap, Rate
from resit.study.result import Estimate, Fit, LabelSpaces, ModelRow, Swap

WEAK_LINE = 0.9
HALF = 0.5
ROUNDING = 1e-9


def metric_label(metric: str) -> str:
    """A metric as people write it: top-1, top-5."""
    return metric.replace("top", "top-") if metric in ("top1", "top5") else metric


def points(value: float) -> str:
    """A difference of accuracies in points, with a proper minus."""
    return f"{100 * value:+.2f}".replace("-", "−")


def bracket(figure: Estimate, form: str = "{:.3f}") -> str:
    """The interval of a figure, or nothing where there is none."""
    if figure.low is None or figure.high is None:
        return ""
    return f" [{form.format(figure.low)}, {form.format(figure.high)}]".replace("-", "−")


def shown(figure: Estimate) -> str:
    """A figure and its interval, or that it is not available."""
    if figure.estimate is None:
        return "n/a"
    return f"{figure.estimate:.3f}".replace("-", "−") + bracket(figure)


def change_sentence(original: str, new: str, metric: str, rows: Sequence[ModelRow], mean: float, interval: Estimate) -> str:
    """How much accuracy changes on average, and for how many models surely."""
    moved = f"{abs(100 * mean):.2f} points {'lower' if mean < 0 else 'higher'} on average than"
    if round(100 * mean, 2) == 0:
        moved = "the same on average as"
    down = sum(row.change.high is not None and row.change.high < 0 for row in rows)
    up = sum(row.change.low is not None and row.change.low > 0 for row in rows)
    known = sum(row.change.low is not None for row in rows)
    around = ""
    if interval.low is not None and interval.high is not None:
        around = f" (mean change {points(mean)} [{points(interval.low)}, {points(interval.high)}], over redrawn examples)"
    surely = (
        f" Taken one by one, {down:,} of {counted(known, 'model')} drop and {up:,} rise by more than sampling noise."
        if known
        else ""
    )
    return f"On {new}, {metric_label(metric)} of {counted(len(rows), 'model')} is {moved} on {original}{around}.{surely}"


def slope_sentences(fits: Mapping[str, Fit], baseline: str, mean_change: float, spaces: LabelSpaces) -> list[str]:
    """What the slope says of adaptive overfitting, on the linear scale, only where the new set is not easier.

    Nor does it say anything where the two axes are scored over different sets of classes.
    """
    fit = fits["linear"]
    slope = fit.slope
    if slope.estimate is None:
        return [f"No line is fitted: {(fit.reason or '').removeprefix('no line: ')}."]
    over = (
        f"Over the {fit.n_models:,} baseline models ({baseline})" if baseline != "all" else f"Over all {fit.n_models:,} models"
    )
    figure = f"{over} the slope of new on original accuracy is {shown(slope)}"
    if slope.low is None or slope.high is None:
        return [f"{figure}; without an interval it says nothing about overfitting ({slope.reason or 'no resamples'})."]
    if differ(spaces.original, spaces.new):
        different = f"The axes are scored over different sets of classes ({spaces.original}, {spaces.new})"
        return [f"{figure}.", f"{different}, so the slope is no test of adaptive overfitting.", *_weak(fit)]
    if mean_change > 0:
        return [f"{figure}. These models do not lose on the new set, so the slope is no test of adaptive overfitting."]
    if slope.high < 1 - ROUNDING:
        meaning = (
            "below 1: gains on the original set shrink on the new one. Adaptive overfitting (diminishing returns) would look "
            "like this, and so would a floor or ceiling or models of another kind"
        )
    elif slope.low >= 1 - ROUNDING:
        meaning = (
            "at or above 1: gains on the original set carry over in full or grow. No sign of diminishing returns, as Recht "
            "et al. (2018, 2019) found for CIFAR-10.1 and ImageNetV2"
        )
    else:
        meaning = "and its interval holds 1: diminishing returns are neither shown nor excluded"
    sentences = [f"{figure}, {meaning}.", *_weak(fit), *_other_scales(fits)]
    if mean_change < 0 and slope.high >= 1 - ROUNDING:
        sentences.append("A drop that is common to all models is not excluded by this (Recht et al. 2019, section 5.1).")
    return sentences


def everyone_sentence(fit: Fit, baseline: str) -> str | None:
    """The slope over all models, where the line is fitted over some; None where they are the same."""
    if baseline == "all" or fit.slope.estimate is None:
        return None
    return f"Over all {fit.n_models:,} models, baseline or not, the slope is {shown(fit.slope)}."


def is_weak(fit: Fit) -> bool:
    """Whether a line explains under nine tenths of the variance."""
    return fit.r2 is not None and fit.r2 < WEAK_LINE


def _weak(fit: Fit) -> list[str]:
    if fit.r2 is None or not is_weak(fit):
        return []
    return [f"The line is a weak description: it explains {100 * fit.r2:.0f} % of the variance."]


def _side(slope: Estimate) -> str:
    if slope.low is None or slope.high is None:
        return "unknown"
    return "below 1" if slope.high < 1 - ROUNDING else "at or above 1" if slope.low >= 1 - ROUNDING else "around 1"


def _other_scales(fits: Mapping[str, Fit]) -> list[str]:
    here = _side(fits["linear"].slope)
    other = {scale: fits[scale].slope for scale in ("probit", "logit") if fits[scale].slope.estimate is not None}
    differ = {scale: slope for scale, slope in other.items() if _side(slope) not in (here, "unknown")}
    if not differ:
        return []
    told = " and ".join(f"{shown(slope)} on the {scale} scale" for scale, slope in differ.items())
    return [f"The scales disagree: the slope is {told}; what counts as an equal gain depends on the scale."]


def order_sentence(
    rows: Sequence[ModelRow],
    spearman: float | None,
    kendall: float | None,
    swaps: Sequence[Swap] | None,
    why_no_swaps: str,
    pairs: int,
) -> str | None:
    """How far the order of the models is kept, and which swaps are real."""
    if spearman is None or kendall is None:
        return None
    shifts = [row.rank_change for row in rows]
    text = (
        f"The order of the models: Spearman {spearman:.3f}, Kendall {kendall:.3f}; ranks move by {min(shifts):+g} to "
        f"{max(shifts):+g}".replace("-", "−")
    )
    if swaps is None:
        return f"{text}. Which of these moves are real is not known: that {why_no_swaps}."
    if not swaps:
        return f"{text}. Of {counted(pairs, 'pair')}, none swaps its order significantly on both sets (exact McNemar, Holm)."
    verb = "swaps its" if len(swaps) == 1 else "swap their"
    return f"{text}. Of {counted(pairs, 'pair')}, {len(swaps)} {verb} order significantly on both sets (exact McNemar, Holm)."


def gap_sentence(gap: Gap, original: str, rates: Sequence[Rate] = ()) -> str:
    """Whether a gain on the original buys less on one set than on the standard one, as far as the interval of the gap says.

    The R² of a line that describes its set badly is told beside.
    """
    ratio = gap.ratio
    start = f"{metric_label(gap.metric)}: progress on {gap.standard} divided by progress on {gap.other}"
    weak = [
        f"; R² {rate.fits['linear'].r2:.2f} on {rate.new.name}: progress on {original} explains "
        f"{'little' if (rate.fits['linear'].r2 or 0.0) < HALF else 'only a part'} of accuracy there"
        for rate in rates
        if rate.metric == gap.metric and rate.new.name in (gap.standard, gap.other) and is_weak(rate.fits["linear"])
    ]
    ending = "".join(weak) + "."
    if ratio.estimate is None or ratio.low is None or ratio.high is None:
        return f"{start} is not available: {ratio.reason}{ending}"
    if ratio.low <= 1 <= ratio.high:
        meaning = "its interval holds 1, so neither is shown to progress faster"
    else:
        less = "less" if ratio.low > 1 else "more"
        meaning = f"a point gained on {original} buys {less} on {gap.other} than on {gap.standard}"
    return f"{start} is {shown(ratio)}: {meaning}{ending}"


def weak_rate_sentence(rate: Rate) -> str | None:
    """That a line describes a set badly, where it does."""
    fit, logit = rate.fits["linear"], rate.fits["logit"]
    if fit.r2 is None or not is_weak(fit):
        return None
    other = "" if logit.r2 is None else f", {100 * logit.r2:.0f} % on the logit scale"
    return (
        f"{metric_label(rate.metric)}: the line is a weak description of {rate.new.name}, where it explains "
        f"{100 * fit.r2:.0f} % of the variance{other}: one rate does not hold for all models."
    )
