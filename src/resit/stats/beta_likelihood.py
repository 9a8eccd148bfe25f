"""Beta-binomial likelihood of counts, and its slopes, from tables of a + j: no special function for any image."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from resit.stats.beta_binomial import Patterns

Array = npt.NDArray[np.float64]
MOST_CELLS = 4_000_000


class Expected(NamedTuple):
    """What the E-step gives: the log-likelihood, and how many images of each component have more than j of each count.

    Parameters
    ----------
    log_likelihood : ndarray of float, shape (...,)
        Sum over images, without binomial coefficients.
    images : ndarray of float, shape (..., K)
        Effective number of images of each component.
    selected, passed, shown : ndarray of float, shape (..., K, N)
        Effective images with more than j times selected, passed over and shown, j = 0, …, N - 1.
    """

    log_likelihood: Array
    images: Array
    selected: Array
    passed: Array
    shown: Array


@dataclass(frozen=True)
class Likelihood:
    """Likelihood of counts under mixtures of betas, many mixtures at a time.

    As B(k + a, n - k + b) / B(a, b) is the product of a + j over j < k and of b + j over j < n - k, over that of a + b + j over
    j < n, sums over images become sums over j of how many have more than j. N is the most times that an image was shown.

    Parameters
    ----------
    counts : Patterns
        Of U patterns.
    weights : ndarray of float, shape (U,) or (B, U)
        How many images have each pattern; B of them go with mixtures of shape (B, K).
    """

    counts: Patterns
    weights: Array
    most: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "most", int(self.counts.shown.max()))

    @cached_property
    def _more(self) -> tuple[Any, ...]:
        """For times selected, passed over and shown: whether each pattern has more than j, shape (U, N)."""
        from scipy.sparse import csr_array

        numbers = (self.counts.selected, self.counts.shown - self.counts.selected, self.counts.shown)
        if len(self.counts.selected) * self.most <= MOST_CELLS:
            return tuple((number[:, None] > np.arange(self.most)).astype(float) for number in numbers)
        # Row by row: j = 0, …, number - 1.
        columns = [np.concatenate([np.arange(one) for one in number]) for number in numbers]
        ends = [np.concatenate([[0], np.cumsum(number)]) for number in numbers]
        shape = (len(self.counts.selected), self.most)
        return tuple(csr_array((np.ones(len(at)), at, end), shape=shape) for at, end in zip(columns, ends, strict=True))

    def expected(self, a: Array, b: Array, log_weight: Array) -> Expected:
        """The E-step.

        Parameters
        ----------
        a, b, log_weight : ndarray of float, shape (..., K)
            Shapes, and logarithms of the weights.
        """
        k, n, whole = self.counts.selected, self.counts.shown, a + b
        joint = self._rising(a)[..., k] + self._rising(b)[..., n - k] - self._rising(whole)[..., n] + log_weight[..., None]
        top = joint.max(axis=-2, keepdims=True)
        share = np.exp(joint - top)
        total = share.sum(axis=-2, keepdims=True)
        log_likelihood = ((np.log(total) + top)[..., 0, :] * self.weights).sum(axis=-1)
        share *= self.weights[..., None, :] / total
        flat = share.reshape(-1, share.shape[-1])
        shape = (*a.shape, self.most)
        return Expected(log_likelihood, share.sum(axis=-1), *((flat @ more).reshape(shape) for more in self._more))

    def slopes(self, found: Expected, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """The three sums over j that the M-step is made of: of a, of b, and of both; each shape (..., K)."""
        j = np.arange(self.most)
        tails = (found.selected, found.passed, found.shown)
        sums = [(tail / (shape[..., None] + j)).sum(axis=-1) for tail, shape in zip(tails, (a, b, a + b), strict=True)]
        return sums[0], sums[1], sums[2]

    def _rising(self, shape: Array) -> Array:
        """Logarithm of shape · (shape + 1) · … of 0 to N factors, shape (..., K, N + 1)."""
        found = np.zeros((*shape.shape, self.most + 1))
        np.cumsum(np.log(shape[..., None] + np.arange(self.most)), axis=-1, out=found[..., 1:])
        return found
