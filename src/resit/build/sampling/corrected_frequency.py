"""Bias-corrected matching: bins are filled so that the true frequencies, not the observed ones, are the original's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from resit.build.keys import Ints
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.sampling.pool import ClassPool, Votes
from resit.stats.beta_binomial import BetaMixture, cell_edges, patterns
from resit.stats.beta_mixture import fit_mixture
from resit.stats.largest_remainder import apportion

HEAVY = 1e4
PARTS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class CorrectedFrequency(MatchedFrequency):
    """MatchedFrequency with targets that allow for the noise of votes.

    True frequencies of all originals and of all candidates are mixtures of betas. For a class, the wanted distribution is the
    mean posterior of its originals, and each bin of its candidates has a mean posterior too; the shares of the bins are those
    that come nearest, in squared distance of the distribution functions. Bins are then filled as in MatchedFrequency.

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML, section 4. Sampling by it is ours.
    """

    name: ClassVar[str] = "corrected-frequency"

    fitted: tuple[BetaMixture, BetaMixture] | None = field(default=None, repr=False)

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings, as they are recorded."""
        return {name: value for name, value in vars(self).items() if name != "fitted"}

    def prepared(self, candidates: Votes, originals: Votes, class_ids: Sequence[str]) -> Self:  # noqa: ARG002
        """Fit both mixtures to all classes together; see :class:`Strategy`."""
        enough = originals.shown >= max(self.minimum_votes, 1)
        if not enough.any() or not len(candidates.shown):
            return self
        ours = fit_mixture(patterns(candidates.selected, candidates.shown)).mixture
        theirs = fit_mixture(patterns(originals.selected[enough], originals.shown[enough])).mixture
        return replace(self, fitted=(theirs, ours))

    def targets(self, pool: ClassPool, originals: Ints) -> Ints:
        """How many images each bin should have, shape (bins,)."""
        from scipy.optimize import nnls

        if self.fitted is None or not len(pool.selected):
            return apportion(originals, pool.wanted)
        enough = pool.originals.shown >= max(self.minimum_votes, 1)
        wanted = _mean_posterior(self.fitted[0], pool.originals.selected[enough], pool.originals.shown[enough])
        bins = self.bins(pool.selected, pool.shown)
        there = np.unique(bins)
        ours = [_mean_posterior(self.fitted[1], pool.selected[bins == one], pool.shown[bins == one]) for one in there]
        width = np.sqrt(np.diff(cell_edges()))
        design = np.cumsum(ours, axis=1).T * width[:, None]
        goal = np.cumsum(wanted) * width
        share, _ = nnls(np.vstack([design, np.full(len(there), HEAVY)]), np.append(goal, HEAVY))
        weights = np.zeros(len(originals), np.int64)
        weights[there] = np.rint(share * PARTS).astype(np.int64)
        return apportion(weights, pool.wanted)


def _mean_posterior(mixture: BetaMixture, selected: Ints, shown: Ints) -> np.ndarray:
    counts = patterns(selected, shown)
    weights = counts.weights()
    return np.asarray(weights @ mixture.posterior(counts.selected, counts.shown) / weights.sum(), float)
