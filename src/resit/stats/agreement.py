"""Agreement on the line: accuracy on a new set estimated without its labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.stats.lines import Line, fit_line, has_spread
from resit.stats.scales import backward, forward, off_the_edge

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AlineEstimate:
    """The line of pairwise agreements on the probit scale, and new accuracies estimated by ALine-S and ALine-D, shape (M,)."""

    line: Line
    by_slope: Array
    by_pairs: Array


def pairwise_agreement(answers: npt.NDArray[np.integer]) -> Array:
    """Fraction of examples on which each pair of models answers the same.

    Parameters
    ----------
    answers : ndarray of int, shape (M, n)
        First answers; -1 (no valid answer) agrees with nothing.

    Returns
    -------
    ndarray of float, shape (M (M - 1) / 2,)
        In the order of ``numpy.triu_indices(M, 1)``.
    """
    models, n = answers.shape
    same = np.empty(n, bool)
    valid = answers >= 0
    everyone = bool(valid.all())
    agreement: Array = np.empty(models * (models - 1) // 2)
    at = 0
    for i in range(models - 1):
        for j in range(i + 1, models):
            np.equal(answers[i], answers[j], out=same)
            if not everyone:
                same &= valid[i]
            agreement[at] = np.count_nonzero(same)
            at += 1
    return np.asarray(agreement / n, float)


def aline(
    accuracy: Array, agreement_original: Array, agreement_new: Array, n_original: int, n_new: int
) -> AlineEstimate | None:
    """ALine-S and ALine-D.

    On the probit scale the line of new against original agreement, a * x + b, is taken for the line of accuracies: ALine-S
    applies it to each model's original accuracy; ALine-D solves, by least squares over all pairs, (acc_i + acc_j) / 2 on new =
    agreement_ij on new + a * ((acc_i + acc_j) / 2 - agreement_ij) on original.

    Parameters
    ----------
    accuracy : ndarray of float, shape (M,)
        On the original set.
    agreement_original, agreement_new : ndarray of float, shape (M (M - 1) / 2,)
        From :func:`pairwise_agreement`.
    n_original, n_new : int
        Number of examples, for agreements or accuracies of exactly 0 or 1.

    Returns
    -------
    AlineEstimate or None
        None for fewer than three models or agreements without spread.

    References
    ----------
    Baek et al. (2022), Agreement-on-the-Line, sections 4.1 and 4.2.
    """
    x = forward(off_the_edge(agreement_original, n_original), "probit")
    y = forward(off_the_edge(agreement_new, n_new), "probit")
    count = len(accuracy)
    if count < 3 or not has_spread(x):
        return None
    line = fit_line(x, y)
    z = forward(off_the_edge(accuracy, n_original), "probit")
    first, second = np.triu_indices(count, 1)
    target = y + line.slope * ((z[first] + z[second]) / 2 - x)
    # normal equations of the pair means: ((M - 2) I + 1 1') w = 2 * (sum of targets of each model's pairs)
    sums = 2 * (np.bincount(first, target, count) + np.bincount(second, target, count))
    by_pairs = (sums - sums.sum() / (2 * count - 2)) / (count - 2)
    return AlineEstimate(line, backward(line.at(z), "probit"), backward(by_pairs, "probit"))
