"""The part of a drop that selection frequencies explain, corrected for the noise of votes (Engstrom et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resit.build.keys import rows_in
from resit.data.paths import counted
from resit.stats.beta_binomial import Patterns, patterns
from resit.stats.corrected import Corrected
from resit.stats.frequency_matching import by_votes
from resit.stats.frequency_mixtures import by_mixtures
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure
from resit.study.hypotheses.interface import Array, Material, Rules, Tell
from resit.study.hypotheses.votes import Voted

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.build.steps.opened import Build

ENOUGH = 10  # votes that matching by votes asks for, where most images have them
MOST_RESAMPLES = 1_000
MIXTURE_RESAMPLES = 100
OF_THE_REST = "resamples of images; as wide as the interval of the drop that is left"


@dataclass(frozen=True)
class Correction:
    """What correcting gives.

    Parameters
    ----------
    by_the_same_votes : bool
        Whether the votes on the new images are those that selected them.
    part : Estimate
        From mixtures of betas.
    figures : tuple of Figure
    warnings : tuple of Caution
    """

    by_the_same_votes: bool
    part: Estimate
    figures: tuple[Figure, ...]
    warnings: tuple[Caution, ...]


def correction(
    material: Material, old: Voted, new: Voted, old_share: Array, new_share: Array, rules: Rules, tell: Tell
) -> Correction:
    """Naive by observed frequency, jackknife and mixtures of betas, each as a part of the drop.

    Parameters
    ----------
    material : Material
    old, new : Voted
    old_share, new_share : ndarray of float, shape (n,)
        Share of models that are right on each image that has votes.
    rules : Rules
    tell : callable
    """
    same, pool = _of_build(material)
    drop = float(old_share.mean() - new_share.mean())
    figures: list[Figure] = []
    cautions: list[Caution] = []
    if same:
        message = "The votes on these images selected them: matching on them would find nothing. Fresh votes would measure it."
        cautions.append(Caution("selected-by-these-votes", material.new.name, message))
    else:
        tell("Matching on votes")
        figures += _by_votes(old, new, old_share, new_share, rules, cautions, material.new.name)
    tell("Fitting mixtures of betas")
    counts = patterns(new.selected, new.shown)
    resamples = min(rules.resamples, MIXTURE_RESAMPLES)
    found = by_mixtures(
        patterns(old.selected, old.shown),
        pool or counts,
        counts,
        correct_new=new_share,
        correct_original=old_share,
        resamples=resamples,
        level=rules.level,
        seed=rules.seed,
    )
    assert found.corrected is not None
    part = _part(found.corrected, drop, f"mixtures of betas, {resamples:,} {OF_THE_REST}")
    figures.append(Figure("part by mixtures of betas", "points", part))
    return Correction(same, part, tuple(figures), tuple(cautions))


def _part(found: Corrected, drop: float, method: str) -> Estimate:
    """How much of the observed drop was taken away, with the width of the interval of what is left, which is the wider one."""
    assert found.drop is not None
    return Estimate(drop - found.drop.value, drop - found.drop.high, drop - found.drop.low, method)


def _by_votes(
    old: Voted, new: Voted, old_share: Array, new_share: Array, rules: Rules, cautions: list[Caution], name: str
) -> list[Figure]:
    votes = min(_least(one) for one in (old, new))
    kept = [one.shown >= votes for one in (old, new)]
    if out := sum(int((~one).sum()) for one in kept):
        message = f"{counted(out, 'image')} with fewer than {votes:,} votes left out where matching is by votes."
        cautions.append(Caution("fewer-votes", name, message))
    if votes < 2:
        message = "One vote an image: the jackknife has none to leave out, so only mixtures correct."
        cautions.append(Caution("one-vote", name, message))
        return []
    resamples = min(rules.resamples, MOST_RESAMPLES)
    counts = [patterns(one.selected[own], one.shown[own]) for one, own in zip((old, new), kept, strict=True)]
    found = by_votes(
        counts[0],
        counts[1],
        new_share[kept[1]],
        votes,
        correct_original=old_share[kept[0]],
        resamples=resamples,
        level=rules.level,
        seed=rules.seed,
    )
    kept_drop = float(old_share[kept[0]].mean() - new_share[kept[1]].mean())
    method = f"{resamples:,} {OF_THE_REST}"
    return [
        Figure("part by observed frequency (naive)", "points", _part(found.naive, kept_drop, method)),
        Figure("part by jackknife", "points", _part(found.jackknife, kept_drop, method)),
    ]


def _least(one: Voted) -> int:
    """Fewest votes of an image that has enough; where none has, of any image."""
    enough = one.shown[one.shown >= ENOUGH]
    return int(enough.min() if len(enough) else one.shown.min())


def _of_build(material: Material) -> tuple[bool, Patterns | None]:
    """Whether the votes selected the new images, and the votes on all candidates of the build."""
    if material.build is None or material.new_counts is None:
        return False, None
    from resit.build.steps.opened import open_build

    with open_build(material.build) as build:
        counts = build.store.counts()
        candidates = build.store.images("candidate")
        by_votes_chosen = _chosen_by_votes(build)
    pool = _shown(counts, candidates)
    return by_votes_chosen and _are_among(material.new_counts, counts), pool


def _chosen_by_votes(build: Build) -> bool:
    from resit.build.sampling.registry import STRATEGIES

    revisions = build.store.revisions()
    kind = STRATEGIES.get(str(revisions[-1].record.get("strategy"))) if revisions else None
    return kind is not None and kind.by_votes


def _are_among(votes: pa.Table, counts: pa.Table) -> bool:
    """Whether the votes are those of the build, not others on the same images."""
    places = rows_in(votes, counts)
    same = [
        np.append(np.asarray(counts[name], np.int64), -1)[places] == np.asarray(votes[name], np.int64)
        for name in ("selected", "shown")
    ]
    return bool(np.mean(same[0] & same[1]) > 0.5)


def _shown(counts: pa.Table, candidates: pa.Table) -> Patterns | None:
    places = rows_in(candidates, counts)
    places = places[places >= 0]
    selected, shown = (np.asarray(counts[name], np.int64)[places] for name in ("selected", "shown"))
    some = shown > 0
    return patterns(selected[some], shown[some]) if some.any() else None
