"""New accuracy estimated without new labels, beside what the labels say."""

from __future__ import annotations

import numpy as np

from resit.stats.agreement import AlineEstimate, aline, pairwise_agreement
from resit.study.pairing import Pairing
from resit.study.result import Aline


def estimate_without_labels(pairing: Pairing) -> Aline:
    """ALine-S and ALine-D over the baseline models, and their mean absolute errors."""
    found = _estimate(pairing)
    if isinstance(found, str):
        return Aline(None, None, None, None, None, None, found)
    old, new = (scores.accuracy[pairing.baseline] for scores in (pairing.old_scores, pairing.new_scores))
    mae_s, mae_d, uncorrected = (float(np.abs(guess - new).mean()) for guess in (found.by_slope, found.by_pairs, old))
    flat = bool(np.isnan(found.line.r2))
    return Aline(
        found.line.slope,
        found.line.intercept,
        None if flat else found.line.r2,
        mae_s,
        mae_d,
        uncorrected,
        reason="R² is not available: all agreements on the new set are equal" if flat else None,
    )


def _estimate(pairing: Pairing) -> AlineEstimate | str:
    if pairing.metric != "top1" or pairing.original.weighting != "micro":
        return "defined for micro top-1 only"
    agreements = []
    for view in (pairing.original, pairing.new):
        if view.predictions is None or view.predictions.is_correctness:
            return f"{view.name}: the classes that models answered are not known"
        first = view.predictions.answers[view.index(pairing.baseline_models), :, 0]
        agreements.append((pairwise_agreement(first), view.predictions.n))
    (old, n_old), (new, n_new) = agreements
    found = aline(pairing.old_scores.accuracy[pairing.baseline], old, new, n_old, n_new)
    return found or "needs at least three baseline models whose agreements differ"
