"""What matching on noisy votes leaves: true frequency and accuracy of a matched set against its original, without drawing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.stats.beta_binomial import BetaMixture, cell_edges, cell_middles

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
BINS = 5
EDGES = np.arange(BINS + 1) / BINS


@dataclass(frozen=True, slots=True)
class MatchedBias:
    """Means of the original and of the set that is matched to it; accuracies are NaN where no curve was given."""

    original_frequency: float
    new_frequency: float
    original_accuracy: float
    new_accuracy: float

    @property
    def frequency_shift(self) -> float:
        """True frequency, new minus original."""
        return self.new_frequency - self.original_frequency

    @property
    def accuracy_shift(self) -> float:
        """Accuracy, new minus original, of models that are right equally often on both at equal true frequency."""
        return self.new_accuracy - self.original_accuracy


def count_chances(mixture: BetaMixture, votes: int) -> Array:
    """Chance of each number selected of ``votes``, shape (votes + 1,): a mixture of beta-binomials.

    Raises
    ------
    UsageError
        If there is no vote.
    """
    from scipy.special import betaln, gammaln

    if votes < 1:
        raise UsageError(f"{votes} votes an image", where="votes", fix="Give 1 or more.")
    k = np.arange(votes + 1)[:, None]
    ways = gammaln(votes + 1) - gammaln(k + 1) - gammaln(votes - k + 1)
    chance = np.exp(ways + betaln(k + mixture.a, votes - k + mixture.b) - betaln(mixture.a, mixture.b)) @ mixture.weight
    return np.asarray(chance / chance.sum(), float)


def bin_chances(mixture: BetaMixture, votes: int) -> Array:
    """Chance that the observed frequency of an image lies in each of the five bins, shape (5,)."""
    return np.bincount(_bins(votes), count_chances(mixture, votes), minlength=BINS).astype(np.float64)


def matched_bias(
    original: BetaMixture, pool: BetaMixture, votes: int, curve: tuple[npt.ArrayLike, npt.ArrayLike] | None = None
) -> MatchedBias:
    """Means of a set whose histogram of observed frequencies is that of the original.

    Images of the original and of the pool have ``votes`` votes each. A candidate with k of n votes is drawn with chance
    proportional to p_pool(k) within its bin, and each bin has the share that it has in the original. Given k, its true
    frequency has the posterior of the pool, whatever bin it was drawn for: this is what pulls the new set towards the pool.
    It is the limit of many images and of many more candidates; rounding to whole images and shortages are not in it.

    Parameters
    ----------
    original, pool : BetaMixture
        True frequency of the original images and of the candidates.
    votes : int
        Votes n of each image.
    curve : pair of array_like, optional
        True frequencies, rising, and the accuracy of models at each; straight lines between.

    Returns
    -------
    MatchedBias

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML, section 2. The five bins are
    those of Recht, B., et al. (2019), appendix C.1.
    """
    where = _bins(votes)
    chance = count_chances(pool, votes)
    per_bin = np.bincount(where, chance, minlength=BINS)
    share = bin_chances(original, votes)[where] * chance / per_bin[where]
    counts = np.arange(votes + 1)
    shown = np.full(votes + 1, votes)
    frequency = float(share @ pool.posterior_mean(counts, shown))
    if curve is None:
        return MatchedBias(original.mean, frequency, np.nan, np.nan)
    right = _on(curve, cell_middles())
    accuracy = float(share @ (pool.posterior(counts, shown) @ right))
    return MatchedBias(original.mean, frequency, float(original.cells() @ right), accuracy)


def matched_bias_limit(
    original: BetaMixture, pool: BetaMixture, curve: tuple[npt.ArrayLike, npt.ArrayLike] | None = None
) -> MatchedBias:
    """The same with unlimited votes: what is left is that the pool lies otherwise than the original within each bin.

    Parameters
    ----------
    original, pool, curve
        As in :func:`matched_bias`.

    Returns
    -------
    MatchedBias
    """
    edges = np.union1d(cell_edges(), EDGES)
    middles = (edges[1:] + edges[:-1]) / 2
    where = np.minimum((middles * BINS).astype(int), BINS - 1)
    old, mass = (_mass(mixture, edges) for mixture in (original, pool))
    per_bin = np.bincount(where, old, minlength=BINS) / np.bincount(where, mass, minlength=BINS)
    new_frequency = float((np.diff(_first_moment(pool, EDGES)) * per_bin).sum())
    if curve is None:
        return MatchedBias(original.mean, new_frequency, np.nan, np.nan)
    right = _on(curve, middles)
    return MatchedBias(original.mean, new_frequency, float(old @ right), float((per_bin[where] * mass) @ right))


def _bins(votes: int) -> Ints:
    """Bin of each number selected, in whole numbers: left-closed, and the last one closed."""
    return np.minimum(BINS - 1, BINS * np.arange(votes + 1, dtype=np.int64) // votes)


def _on(curve: tuple[npt.ArrayLike, npt.ArrayLike], frequency: Array) -> Array:
    return np.asarray(np.interp(frequency, np.asarray(curve[0], float), np.asarray(curve[1], float)), float)


def _mass(mixture: BetaMixture, edges: Array) -> Array:
    from scipy.special import betainc

    return np.asarray(mixture.weight @ np.diff(betainc(mixture.a[:, None], mixture.b[:, None], edges), axis=1), float)


def _first_moment(mixture: BetaMixture, edges: Array) -> Array:
    """Integral of the frequency from 0 to each edge."""
    from scipy.special import betainc

    means = mixture.weight * mixture.a / (mixture.a + mixture.b)
    return np.asarray(means @ betainc(mixture.a[:, None] + 1, mixture.b[:, None], edges), float)
