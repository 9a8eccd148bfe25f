"""What is left of a drop when all parts that were found are taken away, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Sequence

from resit.data.paths import counted
from resit.study.estimate import Estimate
from resit.study.explain_result import Finding, Left
from resit.study.explain_summary import in_points
from resit.study.verdict import metric_label

CHANCE = "statistical-error"  # moves the drop, and takes nothing away


def left_of(drop: Estimate, findings: Sequence[Finding]) -> Left:
    """What is left of a drop.

    Parts that make the new set look better are not added: they would hide others.

    Parameters
    ----------
    drop : Estimate
    findings : sequence of Finding
    """
    whole, by_estimates, at_least, names = drop.estimate or 0.0, 0.0, 0.0, []
    for one in findings:
        if one.part is None or one.part.estimate is None or one.name == CHANCE:
            continue
        names.append(one.name)
        by_estimates += max(one.part.estimate, 0.0) if one.kind == "estimate" else 0.0
        at_least += max(one.part.estimate, one.part.high or 0.0, 0.0)
    return Left(whole - by_estimates, whole - at_least, tuple(names))


def drop_sentence(drop: Estimate, metric: str, sets: tuple[str, str], models: int) -> str:
    """The drop in one sentence, as a change of accuracy.

    Parameters
    ----------
    drop : Estimate
        Original minus new.
    metric : str
    sets : (str, str)
        Names of original and new set.
    models : int
    """
    low, high = (None if end is None else -end for end in (drop.high, drop.low))
    change = in_points(Estimate(-(drop.estimate or 0.0), low, high))
    return f"{metric_label(metric)} accuracy from {sets[0]} to {sets[1]}, mean of {counted(models, 'model')}: {change} points."


def left_sentence(drop: Estimate, left: Left, findings: Sequence[Finding]) -> str:
    """What is left of the drop in one sentence."""
    if (drop.estimate or 0) <= 0:
        return "The new set is not harder: there is no drop to explain."
    if not left.counted:
        return "No hypothesis that ran says how many points it explains."
    estimates = sum(one.name in left.counted and one.kind == "estimate" for one in findings)
    bounds = len(left.counted) - estimates
    said = f"{100 * left.by_estimates:z.2f} are left by the estimates of {counted(estimates, 'hypothesis', 'hypotheses')}, and "
    also = f" and {counted(bounds, 'bound was', 'bounds were')} reached" if bounds else ""
    return (
        f"Of the drop of {100 * (drop.estimate or 0):.2f} points, {said if estimates else ''}at least "
        f"{100 * max(left.at_least, 0.0):.2f} are left where each part were as large as its interval allows{also}. "
        "Parts overlap, so that their sum takes away too much rather than too little."
    )
