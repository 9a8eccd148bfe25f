"""How many models give an interval of the slope of a given width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from resit.errors import UsageError
from resit.stats.lines import fit_line, has_spread
from resit.stats.power import smallest
from resit.stats.resample import generator
from resit.stats.slope_width import FEWEST, Cloud, SlopeInterval, planned, slope_interval
from resit.study.plan import check_shares
from resit.study.plan_result import ModelsPlan, ModelsRow
from resit.study.plan_runs import Side, two_sides
from resit.study.settings import Data

MOST = 5_000
STEP = 1.03
SIZES = (10, 20, 50, 100, 200, 500)
MADE = 20_000  # models that a made cloud has
# Measured on ImageNetV2, 64 convnets, original and MatchedFrequency: stands in where only figures are known.
NOISE_SHARES = (0.38, 0.35)
FEWEST_RESAMPLES = 200


@dataclass(frozen=True)
class _Testbed:
    """Models to draw planned ones from, and where they come from."""

    cloud: Cloud
    n: int
    new_n: int
    shares: tuple[float, float]
    observed: int | None
    source: str


def plan_models(
    width: float = 0.1,
    *,
    runs: Sequence[Data] | None = None,
    lowest: float | None = None,
    highest: float | None = None,
    scatter: float | None = None,
    slope: float = 1.0,
    drop: float = 0.1,
    n: int | None = None,
    new_n: int | None = None,
    count: Sequence[int] = SIZES,
    level: float = 0.95,
    resamples: int = 4_000,
    seed: int = 0,
) -> ModelsPlan:
    """Plan the number of models for the slope of new on original accuracy.

    Sets of models are drawn, each model with its residual from the line, with sampling noise for the planned numbers of
    examples; the width is that of the percentile interval of their slopes, which is what the bootstrap over models estimates.
    Noise that all models share (the same images are hard for all) moves the line and is not in it.

    Parameters
    ----------
    width : float, optional
        Wanted width of the interval.
    runs : (original, new), optional
        Predictions or Accuracies whose models planned ones will be like.
    lowest, highest, scatter : float, optional
        Without runs: models evenly spread between two original accuracies, with normal residuals of this standard deviation.
        Default of all: the 64 convnets of ImageNetV2 (Recht et al. 2019), which ship with resit.
    slope, drop : float, optional
        With these: slope of the line, and how much lower accuracies in the middle are on the new set.
    n, new_n : int, optional
        Planned examples of the original and of the new set. Default: those of the runs, or 50,000 and 10,000.
    count : sequence of int, optional
        Numbers of models to tell about.
    level : float, optional
    resamples : int, optional
        Sets of models drawn for each number.
    seed : int, optional

    Returns
    -------
    ModelsPlan

    Raises
    ------
    UsageError
        If values are out of range or do not go together, or the runs have no line.
    """
    check_shares(level=level)
    _check(width, n, new_n, count, resamples, seed)
    guessed = {"--lowest": lowest, "--highest": highest, "--scatter": scatter}
    missing = [option for option, value in guessed.items() if value is None]
    if len(missing) in (1, 2):
        raise UsageError("--lowest, --highest and --scatter go together", where=", ".join(missing), fix="Give all three.")
    if runs is not None and not missing:
        raise UsageError("models are either guessed or taken from runs", where="--from", fix="Leave one out.")
    if lowest is not None and highest is not None and scatter is not None:
        bed = _made(lowest, highest, scatter, slope, drop, n or 50_000, new_n or 10_000, seed)
    else:
        bed = _real(*(_published() if runs is None else _pair(runs)), published=runs is None)
    bed = replace(bed, n=n or bed.n, new_n=new_n or bed.new_n)
    return _planned(bed, width, sorted(set(count)), level, resamples, seed)


def _planned(bed: _Testbed, width: float, sizes: list[int], level: float, resamples: int, seed: int) -> ModelsPlan:
    cloud = bed.cloud
    share_x, share_y = bed.shares
    noise = share_x * cloud.x * (1 - cloud.x) / bed.n, share_y * np.clip(cloud.y * (1 - cloud.y), 0, None) / bed.new_n
    moved, add_x, add_y = planned(cloud, *noise)
    line = fit_line(moved.x, moved.y)
    residual = moved.y - line.at(moved.x)

    def interval(models: int) -> SlopeInterval:
        return slope_interval(moved, models, add_x=add_x, add_y=add_y, level=level, resamples=resamples, seed=seed)

    grid = sorted({min(MOST, round(FEWEST * STEP**step)) for step in range(int(np.log(MOST / FEWEST) / np.log(STEP)) + 2)})
    place = smallest(lambda at: interval(grid[at]).width <= width, 0, len(grid) - 1)
    shown = sorted({*sizes, *([bed.observed] if bed.observed else [])})
    return ModelsPlan(
        models=None if place is None else grid[place],
        width=width,
        most=MOST,
        level=level,
        slope=line.slope,
        scatter=float(np.sqrt(np.mean(residual**2 + add_y + line.slope**2 * add_x))),
        lowest=float(cloud.x.min()),
        highest=float(cloud.x.max()),
        n=bed.n,
        new_n=bed.new_n,
        noise_share=share_x,
        new_noise_share=share_y,
        rows=tuple(_row(models, interval(models)) for models in shown),
        observed_models=bed.observed,
        source=bed.source,
        resamples=resamples,
        seed=seed,
    )


def _row(models: int, found: SlopeInterval) -> ModelsRow:
    return ModelsRow(models, found.low, found.high, found.width if np.isfinite(found.width) else None)


def _pair(runs: Sequence[Data]) -> tuple[Side, Side]:
    if len(runs) != 2:
        raise UsageError(f"a slope is of two sets, not of {len(runs)}", where="--from", fix="Give the original and a new set.")
    return two_sides(runs[0], runs[1])


def _published() -> tuple[Side, Side]:
    from resit.data.published import published

    found = published("imagenetv2")
    column, _, value = found.baseline.partition("=")
    chosen = [model for model in found.original.models if found.table.get(model, column) == value]
    return two_sides(found.original.select(chosen), found.new[0])


def _real(original: Side, new: Side, *, published: bool) -> _Testbed:
    if not has_spread(original.accuracy):
        what = "no line: it needs at least three models whose original accuracies are not all equal"
        raise UsageError(what, where=original.name, fix="Give answers of more models.")
    known = [side.noise_share for side in (original, new)]
    share_x, share_y = (assumed if share is None else share for share, assumed in zip(known, NOISE_SHARES, strict=True))
    x, y = original.accuracy, new.accuracy
    cloud = Cloud(x, y, share_x * x * (1 - x) / original.n, share_y * y * (1 - y) / new.n)
    told = "ImageNetV2's convnets, which ship with resit" if published else f"{original.name} and {new.name}"
    note = "" if None not in known else ", noise shares as on ImageNetV2"
    sizes = int(np.median(original.n)), int(np.median(new.n))
    return _Testbed(cloud, *sizes, (share_x, share_y), len(x), f"{len(x):,} models of {told}{note}")


def _made(lowest: float, highest: float, scatter: float, slope: float, drop: float, n: int, new_n: int, seed: int) -> _Testbed:
    check_shares(lowest=lowest, highest=highest)
    if lowest >= highest or scatter < 0:
        raise UsageError("accuracies rise from --lowest to --highest, and a scatter is not negative", where="--lowest")
    x = np.linspace(lowest, highest, MADE)
    line = (lowest + highest) / 2 - drop + slope * (x - (lowest + highest) / 2)
    if line.min() <= 0 or line.max() >= 1:
        what = f"new accuracies from {line.min():.3f} to {line.max():.3f}"
        raise UsageError(what, where="--slope, --drop", fix="Choose them so that accuracies lie between 0 and 1.")
    y = line + scatter * generator(seed, 7).standard_normal(MADE)
    nothing = np.zeros(MADE)
    source = f"models evenly spread, residuals of {100 * scatter:g} points, noise shares as on ImageNetV2"
    return _Testbed(Cloud(x, y, nothing, nothing), n, new_n, NOISE_SHARES, None, source)


def _check(width: float, n: int | None, new_n: int | None, count: Sequence[int], resamples: int, seed: int) -> None:
    if not width > 0:
        raise UsageError(f"a width is above 0, not {width:g}", where="--width", fix="Write --width 0.1")
    for option, value in {"--n": n, "--new-n": new_n}.items():
        if value is not None and value < 2:
            raise UsageError(f"{value} examples", where=option, fix="Give 2 or more.")
    if not count or min(count) < FEWEST or max(count) > MOST:
        raise UsageError(f"numbers of models lie between {FEWEST} and {MOST:,}", where="--count", fix="Write --count 64")
    if resamples < FEWEST_RESAMPLES:
        raise UsageError(f"an interval needs at least {FEWEST_RESAMPLES} resamples", where="--resamples", fix="Ask for more.")
    if seed < 0:
        raise UsageError(f"a seed is not negative, but this is {seed}", where="--seed")
