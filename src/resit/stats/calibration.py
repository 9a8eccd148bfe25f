"""Whether a model is right as often as it is confident: expected calibration error, and confidence minus accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.stats.resample import generator, resample_examples

Array = npt.NDArray[np.float64]
BINS = 15
MODELS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Reliability:
    """Examples of one model by confidence, in bins of about equally many.

    Parameters
    ----------
    n : ndarray of float, shape (bins,)
        Examples in each bin.
    confidence, accuracy : ndarray of float, shape (bins,)
        Means in each bin.
    """

    n: Array
    confidence: Array
    accuracy: Array

    @property
    def ece(self) -> float:
        """Expected calibration error: mean distance of accuracy from confidence, bins weighted by their examples.

        Chance in each bin adds to it, the more the fewer examples there are and the more often the model errs.
        """
        return float(self.n @ np.abs(self.confidence - self.accuracy) / self.n.sum())


def bins_of(confidence: npt.NDArray[np.floating], bins: int = BINS) -> npt.NDArray[np.int64]:
    """Bin of each example, by rank of confidence: equal confidences are in one bin, so that bins may be of unequal size.

    Parameters
    ----------
    confidence : ndarray of float, shape (n,)
    bins : int, optional

    Returns
    -------
    ndarray of int, shape (n,)
    """
    below = np.searchsorted(np.sort(confidence), confidence)
    return np.asarray(below * bins // max(1, len(confidence)), np.int64)


def reliability(confidence: npt.NDArray[np.floating], right: npt.NDArray[np.bool_], bins: int = BINS) -> Reliability:
    """Mean confidence and accuracy in bins of about equally many examples.

    Parameters
    ----------
    confidence : ndarray of float, shape (n,)
        Probability that the model gave its answer.
    right : ndarray of bool, shape (n,)
    bins : int, optional

    Returns
    -------
    Reliability
        Only bins with examples.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks; with bins of equal mass, as Nguyen and O'Connor (2015).
    """
    at = bins_of(confidence, bins)
    n = np.bincount(at, minlength=bins).astype(float)
    some = n > 0
    sums = [np.bincount(at, values, minlength=bins)[some] for values in (confidence.astype(float), right.astype(float))]
    return Reliability(n[some], sums[0] / n[some], sums[1] / n[some])


def squared_error(confidence: npt.NDArray[np.floating], right: npt.NDArray[np.bool_], bins: int = BINS) -> float:
    """Squared calibration error without upward bias, whatever the number of examples: mean over bins of gap² − s² / n.

    The gap is mean confidence minus accuracy in the bin, and s² the variance of confidence minus right in it: the square of a
    gap that is zero but for chance has the mean s² / n. Bins are weighted by their examples.

    Parameters
    ----------
    confidence : ndarray of float, shape (n,)
    right : ndarray of bool, shape (n,)
    bins : int, optional

    Returns
    -------
    float
        Below zero as often as chance has it, where the model is calibrated. Bins of one example are left out; NaN where all
        are.

    References
    ----------
    Kumar, Liang and Ma (2019), Verified uncertainty calibration, §5, who take accuracy × (1 − accuracy) for the variance: in
    wide bins that is too much.
    """
    at, gap = bins_of(confidence, bins), confidence.astype(float) - right
    n = np.bincount(at, minlength=bins).astype(float)
    some = n > 1
    if not some.any():
        return float("nan")
    sums, squares = (np.bincount(at, values, minlength=bins)[some] for values in (gap, gap**2))
    n = n[some]
    variance = (squares - sums**2 / n) / (n - 1)
    return float((sums**2 / n - variance).sum() / n.sum())


def redrawn_squares(
    seed: int,
    purpose: tuple[int, ...],
    confidence: npt.NDArray[np.floating],
    right: npt.NDArray[np.bool_],
    resamples: int,
    strata: npt.NDArray[np.int_] | None = None,
    bins: int = BINS,
) -> Array:
    """Mean over bins of gap² over redrawn examples.

    Bins stay those of all examples. Resampling adds to the mean: only the spread counts.

    Parameters
    ----------
    seed : int
    purpose : tuple of int
        As :func:`resit.stats.resample.generator` takes them. All models are asked the same examples in a resample.
    confidence : ndarray of float, shape (M, n)
    right : ndarray of bool, shape (M, n)
    resamples : int
        Number of resamples B.
    strata : ndarray of int, shape (n,), optional
    bins : int, optional

    Returns
    -------
    ndarray of float, shape (B, M)
    """
    models, n = confidence.shape
    found = []
    for start in range(0, models, MODELS_AT_ONCE):
        part = range(start, min(start + MODELS_AT_ONCE, models))
        scores = np.zeros((n, len(part) * bins), np.float32)
        for place, model in enumerate(part):
            at = bins_of(confidence[model], bins)
            size = np.bincount(at, minlength=bins)[at]
            scores[np.arange(n), place * bins + at] = (confidence[model] - right[model]) / np.sqrt(size)
        sums = resample_examples(generator(seed, *purpose), scores, resamples, strata)
        found.append((sums.reshape(resamples, len(part), bins) ** 2).sum(axis=2) / n)
    return np.concatenate(found, axis=1)
