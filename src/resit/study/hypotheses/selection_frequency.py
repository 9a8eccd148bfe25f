"""Are the new images those that people recognise less readily? (Recht et al. 2019, figures 15 to 17; Engstrom et al. 2020)"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from resit.data.paths import counted
from resit.stats.beta_binomial import patterns
from resit.stats.intervals import percentile as bounds
from resit.stats.resample import generator, resample_examples
from resit.stats.reweighting import Reweighted, Side, reweight
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet, Unit
from resit.study.hypotheses.corrected_votes import Correction, correction
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Rules, Tell
from resit.study.hypotheses.shown import bootstrapped, excludes_zero, percent, within
from resit.study.hypotheses.statistical_error import sets_of
from resit.study.hypotheses.votes import BINS, Voted, voted, why_none
from resit.study.setview import SMALLEST_STRATUM, SetView

MOST_SHOWN = 1_000  # matching on votes takes time by their number
PURPOSE = 72
FEW = 5  # images of a bin, below which its interval means little


class _Set(NamedTuple):
    """A set with votes: its name, the votes, and the share of models right on each image that has some."""

    name: str
    votes: Voted
    share: Array
    side: Side


def lacks(material: Material) -> list[str]:
    """What is missing: votes on one of the sets are enough for its bins.

    Parameters
    ----------
    material : Material
    """
    pairs = (
        (material.original, material.original_counts, "--original-votes"),
        (material.new, material.new_counts, "--new-votes"),
    )
    found = [votes for one, counts, _ in pairs if (votes := voted(one, counts)) is not None]
    if most := [int(votes.shown.max()) for votes in found if votes.shown.max() > MOST_SHOWN]:
        return [f"at most {MOST_SHOWN:,} votes an image, here {max(most):,}: a random part of them tells as much"]
    if found:
        return []
    return [why_none(*pair) for pair in pairs]


def run(material: Material, rules: Rules, tell: Tell) -> Gathered:
    """Accuracy by bin of selection frequency, and the new set's with the original's shares of bins.

    Parameters
    ----------
    material : Material
    rules : Rules
    tell : callable
    """
    sets = _sets(material, rules)
    figures = [
        figure
        for one in sets
        for figure in (
            Figure(
                f"{one.name}: mean selection frequency", "fraction", Estimate(float(one.votes.frequency.mean())), len(one.share)
            ),
            Figure(
                f"{one.name}: mean accuracy where there are votes",
                "fraction",
                Estimate(float(one.share.mean())),
                len(one.share),
            ),
        )
    ]
    sheets, pictures = tuple(_sheet(one, rules, at) for at, one in enumerate(sets)), (_picture(sets, rules),)
    cautions = _cautions(sets)
    if len(sets) < 2:
        verdict = _rises(sets) + " There are no votes on the other set, so that no part of the drop can be told."
        return Gathered(verdict, figures=tuple(figures), sheets=sheets, pictures=pictures, warnings=tuple(cautions))
    found = reweight(sets[0].side, sets[1].side, [len(BINS)], rules.resamples, rules.seed, PURPOSE)[0]
    if not np.isfinite(found.explained):
        verdict = _rises(sets) + " No bin has images of both sets, so that no part of the drop can be told."
        return Gathered(verdict, figures=tuple(figures), sheets=sheets, pictures=pictures, warnings=tuple(cautions))
    naive = bootstrapped(found.replicates, found.explained, rules.level, f"{rules.resamples:,} resamples of images")
    fixed = correction(material, sets[0].votes, sets[1].votes, sets[0].share, sets[1].share, rules, tell)
    part = fixed.part if fixed.by_the_same_votes else naive
    figures += [*([] if fixed.by_the_same_votes else [Figure("part by bins (naive)", "points", naive)]), *fixed.figures]
    cautions += [*fixed.warnings, *_uncovered(found, sets)]
    effect = excludes_zero(part)
    verdict = f"{_rises(sets)} {_verdict(part, fixed, effect)}"
    return Gathered(verdict, effect, part, "estimate", tuple(figures), sheets, pictures, warnings=tuple(cautions))


def _sets(material: Material, rules: Rules) -> list[_Set]:
    found = []
    for (one, right), counts in zip(sets_of(material), (material.original_counts, material.new_counts), strict=True):
        votes = voted(one, counts)
        if votes is not None:
            share = right.mean(axis=0, dtype=float)[votes.rows]
            strata = SetView(one, "micro", rules.seed, 0).strata
            own = None if strata is None else np.unique(strata[votes.rows], return_inverse=True)[1]
            own = None if own is None or np.bincount(own).min() < SMALLEST_STRATUM else own
            found.append(_Set(one.name, votes, share, Side(share, [votes.bins], own)))
    return found


def _by_bin(one: _Set) -> tuple[Array, Array]:
    """Images and sum of the share of models right, in each bin."""
    size = len(BINS)
    count, total = np.bincount(one.votes.bins, minlength=size), np.bincount(one.votes.bins, one.share, size)
    return count.astype(float), total.astype(float)


def _intervals(one: _Set, rules: Rules, at: int) -> tuple[Array, Array]:
    """Percentile bounds of the accuracy of each bin; NaN where it has few images."""
    inside = (one.votes.bins[:, None] == np.arange(len(BINS))).astype(float)
    scores = np.concatenate([inside, inside * one.share[:, None]], axis=1)
    drawn = resample_examples(generator(rules.seed, PURPOSE, 2, at), scores, rules.resamples, one.side.strata)
    count, total = drawn[:, : len(BINS)], drawn[:, len(BINS) :]
    found = np.full((2, len(BINS)), np.nan)
    for place in np.flatnonzero(inside.sum(axis=0) >= FEW).tolist():
        some = count[:, place] > 0
        found[:, place] = bounds((total[some, place] / count[some, place]), rules.level)
    return found[0], found[1]


def _sheet(one: _Set, rules: Rules, at: int) -> Sheet:
    count, total = _by_bin(one)
    low, high = _intervals(one, rules, at)
    rows = tuple(
        (
            name,
            int(count[place]),
            float(count[place] / count.sum()),
            float(total[place] / count[place]) if count[place] else None,
            float(low[place]) if np.isfinite(low[place]) else None,
            float(high[place]) if np.isfinite(high[place]) else None,
        )
        for place, name in enumerate(BINS)
    )
    columns = ("selection frequency", "images", "share", "accuracy", "low", "high")
    units: tuple[Unit, ...] = ("number", "count", "fraction", "fraction", "fraction", "fraction")
    return Sheet(f"{one.name} by selection frequency", columns, units, rows)


def _picture(sets: list[_Set], rules: Rules) -> Picture:
    series = []
    for at, one in enumerate(sets):
        count, total = _by_bin(one)
        low, high = _intervals(one, rules, at)
        series.append(
            Series(
                one.name,
                tuple(
                    Point(
                        BINS[place],
                        float(total[place] / count[place]),
                        float(low[place]) if np.isfinite(low[place]) else None,
                        float(high[place]) if np.isfinite(high[place]) else None,
                    )
                    for place in np.flatnonzero(count).tolist()
                ),
            )
        )
    return Picture("Mean accuracy by selection frequency", "selection frequency", "accuracy", tuple(series))


def _rises(sets: list[_Set]) -> str:
    said = []
    for one in sets:
        count, total = _by_bin(one)
        there = np.flatnonzero(count >= FEW)
        if len(there) > 1:
            ends = [f"{percent(float(total[at] / count[at]))} at {BINS[at]}" for at in (there[0], there[-1])]
            said.append(f"on {one.name} from {ends[0]} to {ends[1]}")
    return f"Mean accuracy goes {' and '.join(said)}." if said else "All images have the same selection frequency."


def _verdict(part: Estimate, fixed: Correction, effect: bool) -> str:
    said = "explain" if effect else "explain nothing that is more than chance:"
    if fixed.by_the_same_votes:
        corrected = "The votes on the new set selected its images, so they cannot measure them as they are; corrected for that,"
        return f"{corrected} selection frequencies {said} {within(part)} of the drop."
    beside = f"corrected for the noise of votes it is {within(fixed.part)}"
    return f"With the original's shares of the bins, selection frequencies {said} {within(part)} of the drop; {beside}."


def _cautions(sets: list[_Set]) -> list[Caution]:
    found = []
    for one in sets:
        if one.votes.without:
            message = f"{counted(one.votes.without, 'image')} without votes for the label: left out of all figures here."
            found.append(Caution("without-votes", one.name, message))
        if len(np.unique(one.votes.frequency)) == 1:
            found.append(
                Caution("one-frequency", one.name, "All images have the same selection frequency: it can explain nothing.")
            )
        few = int(patterns(one.votes.selected, one.votes.shown).shown.min())
        if few < FEW:
            message = f"Some images have only {counted(few, 'vote')}: their frequencies are mostly noise."
            found.append(Caution("few-votes", one.name, message))
    return found


def _uncovered(found: Reweighted, sets: list[_Set]) -> list[Caution]:
    if not found.uncovered:
        return []
    message = (
        f"{percent(found.uncovered)} of {sets[0].name} is in bins that {sets[1].name} lacks: left out of the part by bins."
    )
    return [Caution("bins-missing", sets[1].name, message)]


HYPOTHESIS = Hypothesis(
    name="selection-frequency",
    title="Selection frequency",
    question="Are the new images those that people recognise less readily?",
    source="Recht et al. (2019), §4 and figures 15 to 17; Engstrom et al. (2020)",
    lacks=lacks,
    seconds=lambda material, rules: 5 + 1e-8 * rules.resamples * (material.original.n + material.new.n),
    run=run,
)
