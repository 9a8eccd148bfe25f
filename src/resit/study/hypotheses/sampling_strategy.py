"""Does accuracy follow how readily people recognise the images that a strategy chooses? (Recht et al. 2019, §4)"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from resit.build.keys import keys
from resit.data.paths import counted
from resit.data.predictions import Predictions
from resit.stats.lines import fit_line
from resit.stats.resample import generator, resample_examples
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Right, Rules, Tell
from resit.study.hypotheses.revisions import answered, revisions_of, why_no_build
from resit.study.hypotheses.shown import bootstrapped, excludes_zero, percent, within
from resit.study.hypotheses.votes import examples_of, voted
from resit.study.setview import TOP_K

if TYPE_CHECKING:
    import pyarrow as pa

PURPOSE = 76
FEWEST = 3
SAME = 1e-9


class _Set(NamedTuple):
    """A set of images: its name; the name of each image, how often it was selected of shown, and the share of models right."""

    name: str
    images: npt.NDArray[np.str_]
    frequency: Array
    share: Array

    @property
    def at(self) -> tuple[float, float]:
        """Mean frequency and mean accuracy."""
        return float(self.frequency.mean()), float(self.share.mean())


def lacks(material: Material) -> list[str]:
    """What is missing.

    Parameters
    ----------
    material : Material
    """
    if material.build is not None and (unread := why_no_build(material)):
        return [unread]
    found, _, out = _sets(material)
    if len({round(one.at[0] / SAME) for one in found}) >= FEWEST:
        return []
    why = f"; {'; '.join(out)}" if out else ""
    return [
        f"votes and answers on at least {FEWEST} sets of different mean selection frequency, here {len(found)}: a build "
        f"(--build) with revisions by several strategies, and answers on all of its candidates{why}"
    ]


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Fit a line of mean accuracy on mean selection frequency over all sets made anew, and see where the original lies.

    The part is the line's slope times the frequency that the new set lacks to the original.

    Parameters
    ----------
    material : Material
    rules : Rules
    _tell : callable
    """
    sets, original, out = _sets(material)
    x, y = (np.array(column) for column in zip(*(one.at for one in sets), strict=True))
    line = fit_line(x, y)
    draws = _redrawn(sets, rules)
    slopes = _slopes(draws[0], draws[1])
    slope = bootstrapped(slopes, line.slope, rules.level, f"{rules.resamples:,} resamples of images")
    effect = excludes_zero(slope)
    figures = [
        Figure("points of accuracy per point of selection frequency", "number", slope, len(sets)),
        Figure("R² of the line", "number", _r2(line.r2), len(sets)),
    ]
    part = None
    if original is not None:
        part = _part(sets, original, line.slope, slopes, draws[0], rules)
        left = original.at[1] - float(line.at(np.array(original.at[0])))
        figures.append(Figure("original above the line", "points", Estimate(left)))
    verdict = _verdict(sets, slope, _r2(line.r2), part, effect)
    cautions = [Caution("sets-left-out", material.new.name, one) for one in out]
    if len(sets) == FEWEST:
        cautions.append(Caution("few-sets", material.new.name, f"A line through {FEWEST} sets fits well by chance."))
    pictures = (_picture(sets, original, line.slope, line.intercept),)
    return Gathered(
        verdict, effect, part, "estimate", tuple(figures), (_sheet(sets, original),), pictures, warnings=tuple(cautions)
    )


def _sets(material: Material) -> tuple[list[_Set], _Set | None, list[str]]:
    """Sets made anew, the new one last; the original; and what was left out and why."""
    found, out = _revisions(material)
    own = _with_votes(material.new, material.right_new, material.new_counts)
    if own is not None:
        same = [one for one in found if set(one.images.tolist()) == set(own.images.tolist())]
        found = [one for one in found if one is not (same[-1] if same else None)]
    for at, (other, counts) in enumerate(material.others):
        one = _with_votes(other, other.correct(TOP_K[material.metric]), counts, apart=f"{at}\0")
        found += [] if one is None else [one]
        out += [f"{other.name} has no votes for the labels of its images"] if one is None else []
    found += [] if own is None else [own]
    return found, _with_votes(material.original, material.right_original, material.original_counts), out


def _revisions(material: Material) -> tuple[list[_Set], list[str]]:
    found, out = [], []
    share = answered(material)[1].mean(axis=0, dtype=float)
    for revised in revisions_of(material):
        name = f"revision {revised.number} ({revised.strategy})"
        unseen = int(np.isnan(revised.frequency).sum())
        if revised.missing or unseen or not len(revised.places):
            lack = f"answers on {revised.missing:,}" if revised.missing else f"votes on {unseen:,}"
            out.append(f"{name} lacks {lack} of its {len(revised.places):,} images")
            continue
        names = np.array(keys(revised.selected).to_pylist(), str)
        found.append(_Set(name, names, revised.frequency, share[revised.places]))
    return found, out


def _with_votes(one: Predictions, right: Right, counts: pa.Table | None, apart: str = "") -> _Set | None:
    """The images of a set that have votes; where they have no ids their names hold for this set alone."""
    votes = voted(one, counts)
    if votes is None:
        return None
    names = np.array(keys(examples_of(one)).to_pylist(), str)[votes.rows]
    names = names if one.benchmark.ids is not None else np.char.add(f"{apart}{one.name}\0", names)
    return _Set(one.name, names, votes.frequency, right.mean(axis=0, dtype=float)[votes.rows])


def _redrawn(sets: list[_Set], rules: Rules) -> tuple[Array, Array]:
    """Mean frequency and accuracy of each set over redrawn images, shapes (B, S): an image in several is redrawn in all."""
    names = np.unique(np.concatenate([one.images for one in sets]))
    scores = np.zeros((len(names), 3 * len(sets)))
    for at, one in enumerate(sets):
        values = np.stack([np.ones(len(one.share)), one.frequency, one.share], axis=1)
        np.add.at(scores[:, 3 * at : 3 * at + 3], np.searchsorted(names, one.images), values)
    drawn = resample_examples(generator(rules.seed, PURPOSE), scores, rules.resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        return drawn[:, 1::3] / drawn[:, ::3], drawn[:, 2::3] / drawn[:, ::3]


def _slopes(x: Array, y: Array) -> Array:
    dx = x - x.mean(axis=1, keepdims=True)
    spread = (dx**2).sum(axis=1)
    return np.asarray(np.divide((dx * y).sum(axis=1), spread, out=np.full(len(x), np.nan), where=spread > 0), float)


def _part(sets: list[_Set], original: _Set, slope: float, slopes: Array, x: Array, rules: Rules) -> Estimate:
    """The line's slope times original minus new mean frequency; the new set is the last one."""
    drawn = resample_examples(generator(rules.seed, PURPOSE, 1), original.frequency[:, None], rules.resamples)[:, 0]
    replicates = slopes * (drawn / len(original.frequency) - x[:, -1])
    value = slope * (original.at[0] - sets[-1].at[0])
    return bootstrapped(replicates, value, rules.level, f"{rules.resamples:,} resamples of images")


def _r2(value: float) -> Estimate:
    flat = bool(np.isnan(value))
    return Estimate(None, reason="all sets have the same accuracy") if flat else Estimate(value)


def _verdict(sets: list[_Set], slope: Estimate, r2: Estimate, part: Estimate | None, effect: bool) -> str:
    fit = r2.reason if r2.estimate is None else f"R² {r2.estimate:.3f}"
    low, high = min(sets, key=lambda one: one.at[0]), max(sets, key=lambda one: one.at[0])
    said = (
        f"Over {counted(len(sets), 'set')} mean accuracy goes from {percent(low.at[1])} at a mean selection frequency of "
        f"{low.at[0]:.2f} to {percent(high.at[1])} at {high.at[0]:.2f}: {slope.estimate or 0:.2f} points a point ({fit})."
    )
    if not effect:
        return f"{said} This is no more than chance."
    if part is None:
        return f"{said} Without votes on the original, no part of the drop can be told."
    return f"{said} By this line, the original's other selection frequency explains {within(part)} of the drop."


def _sheet(sets: list[_Set], original: _Set | None) -> Sheet:
    rows = tuple((one.name, len(one.share), *one.at) for one in [*([original] if original else []), *sets])
    columns = ("set", "images", "mean selection frequency", "mean accuracy")
    return Sheet("Sets", columns, ("number", "count", "fraction", "fraction"), rows)


def _picture(sets: list[_Set], original: _Set | None, slope: float, intercept: float) -> Picture:
    series = [Series("new sets", tuple(Point(*one.at) for one in sets))]
    ends = [one.at[0] for one in sets]
    if original is not None:
        series.append(Series(original.name, (Point(*original.at),)))
        ends.append(original.at[0])
    line = tuple(Point(x, intercept + slope * x) for x in (min(ends), max(ends)))
    title = "Mean accuracy by mean selection frequency"
    drawn = (*series, Series("line over new sets", line, "line"))
    return Picture(title, "mean selection frequency", "mean accuracy", drawn, x_unit="fraction")


HYPOTHESIS = Hypothesis(
    name="sampling-strategy",
    title="Sampling strategy",
    question="Does accuracy follow how readily people recognise the images that a strategy chooses?",
    source="Recht et al. (2019), §4",
    lacks=lacks,
    seconds=lambda material, rules: 2 + 1e-8 * rules.resamples * (material.original.n + material.new.n),
    run=run,
)
