"""Models far off the line of all others: more often a broken file than a discovery."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId
from resit.errors import Notice
from resit.stats.lines import has_spread
from resit.stats.scales import backward, forward, off_the_edge
from resit.study.pairing import Pairing
from resit.study.verdict import metric_label

Array = npt.NDArray[np.float64]
FEWEST = 8
FAR = 8.0
FAR_ACCURACY = 0.05
DISORDERED = (
    "Their top-5 is on the line, so their classes are probably stored in a bad order, such as worst first: mend or exclude them"
)
BROKEN = (
    "Likely causes are a wrong class map, a wrong order of examples or other preprocessing than on the original: "
    "mend or exclude them"
)
ABOVE = (
    "The line may not hold for such models, or they have seen this set: look at them before you believe the fit, "
    "or exclude them"
)


def robust_residuals(x: Array, y: Array) -> Array:
    """Residuals of y from the Theil-Sen line on x, centred on their median."""
    first, second = np.triu_indices(len(x), 1)
    run = x[second] - x[first]
    slope = np.median((y[second] - y[first])[run != 0] / run[run != 0])
    residual = y - slope * x
    return np.asarray(residual - np.median(residual))


def off_the_line(pairing: Pairing) -> dict[ModelId, float]:
    """Models far off a robust line of all models on the logit scale, and by how much accuracy on the new set.

    Far means more than eight robust standard deviations (1.4826 MAD) and more than five points of accuracy.
    """
    old, new = pairing.old_scores, pairing.new_scores
    x = forward(off_the_edge(old.accuracy, old.n), "logit")
    y = forward(off_the_edge(new.accuracy, new.n), "logit")
    fine = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(fine) < FEWEST or not has_spread(x[fine]):
        return {}
    residual = robust_residuals(x[fine], y[fine])
    gap = new.accuracy[fine] - backward(y[fine] - residual, "logit")
    far = (np.abs(residual) > FAR * 1.4826 * np.median(np.abs(residual))) & (np.abs(gap) > FAR_ACCURACY)
    return {pairing.models[row]: float(gap[at]) for at, row in enumerate(fine.tolist()) if far[at]}


def outlier_notices(pairings: list[Pairing]) -> list[Notice]:
    """Notices for the metrics of one new set; models off the top-1 line but on the top-5 line are told apart."""
    far = {pairing.metric: off_the_line(pairing) for pairing in pairings}
    on_top5 = {model for pairing in pairings if pairing.metric == "top5" for model in pairing.models} - far.get(
        "top5", {}
    ).keys()
    notices = []
    for pairing in pairings:
        gaps = far[pairing.metric]
        below = {model: gap for model, gap in gaps.items() if gap < 0}
        above = {model: gap for model, gap in gaps.items() if gap > 0}
        disordered = {model: gap for model, gap in below.items() if pairing.metric == "top1" and model in on_top5}
        broken = {model: gap for model, gap in below.items() if model not in disordered}
        notices += [
            _notice(pairing, found, cause)
            for found, cause in ((disordered, DISORDERED), (broken, BROKEN), (above, ABOVE))
            if found
        ]
    return notices


def _notice(pairing: Pairing, gaps: dict[ModelId, float], cause: str) -> Notice:
    worst = sorted(gaps, key=lambda model: -abs(gaps[model]))
    named = ", ".join(f"{model} by {abs(100 * gaps[model]):.1f} points" for model in worst[:5])
    more = f" and {len(worst) - 5} more" if len(worst) > 5 else ""
    side = "above" if gaps[worst[0]] > 0 else "below"
    metric = metric_label(pairing.metric)
    mend = " ".join(f"--exclude {model.model!r}" for model in worst[:5])
    if cause == DISORDERED:
        mend = " ".join(f"--worst-first {model.model}@{pairing.new.name}" for model in worst[:5])
    message = f"{metric} is far {side} the robust line of all models on the logit scale for {named}{more}. {cause} ({mend})."
    where = f"{worst[0].model}@{pairing.new.name}" if len(worst) == 1 else f"{pairing.new.name}, {metric}"
    return Notice("off-the-line", where, message)
