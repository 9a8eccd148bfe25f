"""What is left of a drop when all parts that were found are taken away, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Sequence

from resit.data.paths import counted
from resit.study.estimate import Estimate
from resit.study.explain_result import Finding, Left
from resit.study.explain_summary import in_points
from resit.study.verdict import metric_label

CHANCE = "statistical-error"  # moves the drop, and takes nothing away
# Hypotheses of one cause, measured in two ways.
TWICE = (frozenset({"selection-frequency", "sampling-strategy"}), frozenset({"hyperparameters", "adaptivity-bound"}))


def left_of(drop: Estimate, findings: Sequence[Finding]) -> Left:
    """What is left of a drop.

    Parts that make the new set look better are not added: they would hide others. Of two that measure one cause the larger
    counts.

    Parameters
    ----------
    drop : Estimate
    findings : sequence of Finding
    """
    whole, by_estimates, at_least = drop.estimate or 0.0, 0.0, 0.0
    parts = {one.name: one.part for one in findings if one.part and one.part.estimate is not None and one.name != CHANCE}
    most = {name: max(part.estimate or 0.0, part.high or 0.0, 0.0) for name, part in parts.items()}
    smaller = [name for pair in TWICE for name in sorted(pair & parts.keys(), key=lambda name: most[name])[:-1]]
    names = tuple(name for name in parts if name not in smaller)
    for one in findings:
        if one.name in names:
            part = parts[one.name]
            by_estimates += max(part.estimate or 0.0, 0.0) if one.kind == "estimate" else 0.0
            at_least += most[one.name]
    return Left(whole - by_estimates, whole - at_least, names)


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
    those = counted(estimates, "hypothesis", "hypotheses")
    said = (
        f"none are left by the estimates of {those}, which add up to {-100 * left.by_estimates:.2f} more, and "
        if left.by_estimates < 0
        else f"{100 * left.by_estimates:.2f} are left by the estimates of {those}, and "
    )
    also = f" and {counted(bounds, 'bound was', 'bounds were')} reached" if bounds else ""
    return (
        f"Of the drop of {100 * (drop.estimate or 0):.2f} points, {said if estimates else ''}at least "
        f"{100 * max(left.at_least, 0.0):.2f} are left where each part were as large as its interval allows{also}. "
        f"Parts overlap, so that their sum takes away too much rather than too little.{_once(findings)}"
    )


def _once(findings: Sequence[Finding]) -> str:
    ran = {one.name: one.title for one in findings if one.part is not None and one.part.estimate is not None}
    both = [[ran[name] for name in sorted(pair)] for pair in TWICE if pair <= ran.keys()]
    return "".join(f" {' and '.join(titles)} measure one cause: the larger of the two counts." for titles in both)
