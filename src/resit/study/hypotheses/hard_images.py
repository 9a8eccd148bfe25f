"""Does the new set have more images that no model gets right, such as mislabelled ones? (Recht et al. 2019, appendix B.2)"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from resit.data.paths import counted
from resit.stats.intervals import clopper_pearson, newcombe
from resit.stats.quantile_gaps import quantile_means
from resit.stats.resample import generator, resample_examples
from resit.study.estimate import Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet
from resit.study.hypotheses.hard_gallery import gallery
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Right, Rules, Tell
from resit.study.hypotheses.shown import bootstrapped, excludes_zero, percent, within
from resit.study.hypotheses.statistical_error import sets_of
from resit.study.setview import SetView

PURPOSE = 73
FEWEST_MODELS = 5
TENTHS = 10
CLOSE = 1e-9
FEW_RIGHT = 0.1  # of answers, at most: nearly nobody


def lacks(material: Material) -> tuple[str, ...]:
    """What is missing.

    Parameters
    ----------
    material : Material
    """
    if len(material.models) >= FEWEST_MODELS:
        return ()
    return (f"at least {FEWEST_MODELS} models: what a few get wrong are not yet hard images",)


def run(material: Material, rules: Rules, tell: Tell) -> Gathered:
    """Count images that no model gets right, and share the drop out over the images by how many models are right on them.

    The part is what the new set loses by having another share of images that no model gets right than the original. With the
    images of each set sorted by the share of models that are right on them, the drop is the mean difference of equal quantiles.

    Parameters
    ----------
    material : Material
    rules : Rules
    tell : callable
    """
    rights = [right for _, right in sets_of(material)]
    shares = [right.mean(axis=0, dtype=float) for right in rights]
    never = [(~right.any(axis=0)).astype(int) for right in rights]
    rate, part = _surplus(never, rules), _part(material, shares, never, rules)
    effect = excludes_zero(rate)
    edges = _edges(rules.hardest)
    levels = [quantile_means(share, edges) for share in shares]
    hard = [float(quantile_means(share, [0, rules.hardest])[0]) for share in shares]
    rest = float((np.diff(edges) * (levels[0] - levels[1]))[edges[:-1] >= rules.hardest - CLOSE].sum() / (1 - rules.hardest))
    figures = _figures(material, rights, never, rules)
    figures += [Figure("new minus original share that no model gets right", "points", rate)]
    figures += [Figure(f"drop without the hardest {100 * rules.hardest:g} % of each set", "points", Estimate(rest))]
    tell("Drawing hard images")
    tiles, cautions = gallery(material, [hardest(right, rules.hardest, one.benchmark.ids) for one, right in sets_of(material)])
    return Gathered(
        f"{_verdict(material, never, part, effect)} {_without(material.drop, rest, hard, rules.hardest)}",
        effect,
        part,
        "estimate",
        tuple(figures),
        (_sheet(edges, levels, material.drop),),
        _pictures(material, edges, levels),
        tuple(tiles),
        tuple(cautions),
    )


def hardest(right: Right, fraction: float, keys: npt.ArrayLike | None = None) -> npt.NDArray[np.int64]:
    """The images that fewest models get right, hardest first.

    Of images that equally many get right the first by name come first; where there are no names, the first by position.

    Parameters
    ----------
    right : ndarray of bool, shape (M, n)
    fraction : float
        How many of the images, rounded to the nearest, at least one.
    keys : array_like of str, shape (n,), optional
        Names.
    """
    names = np.arange(right.shape[1]) if keys is None else np.asarray(keys)
    number = max(1, int(np.floor(fraction * right.shape[1] + 0.5)))
    return np.lexsort((names, right.sum(axis=0)))[:number].astype(np.int64)


def _surplus(never: list[npt.NDArray[np.int_]], rules: Rules) -> Estimate:
    found = newcombe(never[0].sum(), len(never[0]), never[1].sum(), len(never[1]), rules.level)
    return Estimate(float(found.estimate), float(found.low), float(found.high), "Newcombe")


def _part(material: Material, shares: list[Array], never: list[npt.NDArray[np.int_]], rules: Rules) -> Estimate | None:
    """New accuracy with the original's share of hard images, less that as it is; None where no new image is another."""
    if never[1].all():
        return None
    whole, drawn = [], []
    for at, ((one, _), share, none) in enumerate(zip(sets_of(material), shares, never, strict=True)):
        scores = np.stack([none, share], axis=1)
        strata = SetView(one, "micro", rules.seed, 0).strata
        whole.append(scores.mean(axis=0)[None])
        drawn.append(resample_examples(generator(rules.seed, PURPOSE, at), scores, rules.resamples, strata) / one.n)
    method = f"{rules.resamples:,} resamples of images"
    return bootstrapped(_cost(*drawn), float(_cost(*whole)[0]), rules.level, method)


def _cost(old: Array, new: Array) -> Array:
    """(1 - p) m' - a' of each row of hard share and accuracy; NaN where all new images are hard."""
    others = 1 - new[:, 0]
    sound = np.divide(new[:, 1], others, out=np.full(len(new), np.nan), where=others > CLOSE)
    return np.asarray((new[:, 0] - old[:, 0]) * sound, float)


def _figures(material: Material, rights: list[Right], never: list[npt.NDArray[np.int_]], rules: Rules) -> list[Figure]:
    figures = []
    for (one, _), right, none in zip(sets_of(material), rights, never, strict=True):
        exact = clopper_pearson(none.sum(), one.n, rules.level)
        told = Estimate(float(exact.estimate), float(exact.low), float(exact.high), "Clopper-Pearson")
        chosen = right[:, hardest(right, rules.hardest, one.benchmark.ids)]
        most, mean = int(chosen[:, -1].sum()), float(chosen.mean())
        figures += [
            Figure(f"{one.name}: images that no model gets right", "count", Estimate(float(none.sum())), one.n),
            Figure(f"{one.name}: share that no model gets right", "fraction", told, one.n),
            Figure(f"{one.name}: models right on the hardest, at most", "count", Estimate(most), chosen.shape[1]),
            Figure(f"{one.name}: mean accuracy on the hardest", "fraction", Estimate(mean), chosen.shape[1]),
        ]
    return figures


def _edges(fraction: float) -> Array:
    """The hardest images, then the others by tenths."""
    tenths = np.arange(TENTHS + 1) / TENTHS
    return np.asarray(np.unique(np.concatenate([tenths[np.abs(tenths - fraction) > CLOSE], [fraction]])), float)


def _verdict(material: Material, never: list[npt.NDArray[np.int_]], part: Estimate | None, effect: bool) -> str:
    counts = [
        f"{int(none.sum()):,} of {one.n:,} images of {one.name}"
        for (one, _), none in zip(sets_of(material), never, strict=True)
    ]
    shares = [percent(float(none.mean())) for none in never]
    drop = f"of the drop of {within(Estimate(material.drop))}."
    if part is None:
        said = f"The new set has no other images, so that it cannot be told what part they make {drop}"
    elif effect:
        more = "more" if never[1].mean() > never[0].mean() else "fewer"
        said = f"The new set has {more} of them, which explains {within(part)} {drop}"
    else:
        said = f"That is no difference beyond chance; it explains {within(part)} {drop}"
    return (
        f"None of {counted(len(material.models), 'model')} gets {counts[0]} ({shares[0]}) and {counts[1]} ({shares[1]}) right. "
        f"{said}"
    )


def _without(drop: float, rest: float, hard: list[float], fraction: float) -> str:
    """The drop without the hardest images, and why it can be larger."""
    why = ": larger, as nearly nobody is right on these in both sets, which leaves little to lose"
    larger = rest > drop > 0 and max(hard) <= FEW_RIGHT
    return f"Without the hardest {100 * fraction:g} % of each set the drop is {within(Estimate(rest))}{why if larger else ''}."


def _sheet(edges: Array, levels: list[Array], drop: float) -> Sheet:
    widths = np.diff(edges)
    parts = widths * (levels[0] - levels[1])
    rows = tuple(
        (
            f"{100 * low:g} to {100 * high:g} %",
            float(old),
            float(new),
            float(part),
            float(part / drop) if abs(drop) > CLOSE else None,
        )
        for low, high, old, new, part in zip(edges[:-1], edges[1:], *levels, parts, strict=True)
    )
    columns = ("images, hardest first", "models right, original", "models right, new", "part of the drop", "share of the drop")
    return Sheet("Where the drop lies", columns, ("number", "fraction", "fraction", "points", "fraction"), rows)


def _pictures(material: Material, edges: Array, levels: list[Array]) -> tuple[Picture, ...]:
    middles = (edges[1:] + edges[:-1]) / 2
    lines = tuple(
        Series(one.name, tuple(Point(float(x), float(y)) for x, y in zip(middles, own, strict=True)), "line")
        for (one, _), own in zip(sets_of(material), levels, strict=True)
    )
    names = [f"{100 * low:g} to {100 * high:g} %" for low, high in pairwise(edges.tolist())]
    parts = np.diff(edges) * (levels[0] - levels[1])
    bars = Series("part of the drop", tuple(Point(name, float(part)) for name, part in zip(names, parts, strict=True)), "bar")
    return (
        Picture("Models right, image by image", "images, hardest first", "models right", lines, x_unit="fraction"),
        Picture("Where the drop lies", "images, hardest first", "part of the drop", (bars,), y_unit="points", line_at=0.0),
    )


HYPOTHESIS = Hypothesis(
    name="hard-images",
    title="Hard images",
    question="Does the new set have more images that no model gets right, such as mislabelled ones?",
    source="Recht et al. (2019), appendix B.2",
    lacks=lacks,
    seconds=lambda material, rules: 2 + 6e-9 * rules.resamples * (material.original.n + material.new.n),
    run=run,
)
