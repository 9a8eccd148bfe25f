"""Effective robustness: accuracy on the new set beyond what the original accuracy predicts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resit.stats.lines import fit_line, has_spread
from resit.stats.scales import backward, forward

Array = npt.NDArray[np.float64]


def effective_robustness(original: Array, new: Array, baseline: npt.NDArray[np.bool_]) -> Array:
    """Accuracy on new minus the prediction of the baseline models' line on the logit scale.

    A baseline model is predicted by the line of the other baseline models.

    Parameters
    ----------
    original, new : ndarray of float, shape (M,)
        Accuracies strictly between 0 and 1, NaN where a model has none.
    baseline : ndarray of bool, shape (M,)
        Which models the line is fitted over.

    Returns
    -------
    ndarray of float, shape (M,)
        NaN where no line can be fitted (fewer than four baseline models, or no spread).

    References
    ----------
    Taori et al. (2020), section 3.1; leave-one-out by leverage (Cook and Weisberg 1982, section 2.2).
    """
    x, y = forward(original, "logit"), forward(new, "logit")
    used = baseline & np.isfinite(x) & np.isfinite(y)
    if used.sum() < 4 or not has_spread(x[used]):
        return np.full(len(x), np.nan)
    line = fit_line(x[used], y[used])
    predicted = line.at(x)
    centre = x[used].mean()
    leverage = 1 / used.sum() + (x[used] - centre) ** 2 / ((x[used] - centre) ** 2).sum()
    alone = leverage > 1 - 1e-12  # without this model the others have no spread
    residual = y[used] - line.at(x[used])
    left_out = np.divide(residual, 1 - leverage, out=np.full_like(residual, np.nan), where=~alone)
    predicted[used] = y[used] - left_out
    return new - backward(predicted, "logit")
