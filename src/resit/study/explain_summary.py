"""An explanation for people: plain text."""

from __future__ import annotations

from resit.study.estimate import Estimate
from resit.study.explain_result import Explanation, Finding
from resit.study.verdict import bracket, points

STATES = {"ran": " ", "not run": "–", "failed": "!"}


def part_of(finding: Finding) -> str:
    """How much of the drop a hypothesis explains, in words."""
    if finding.part is None or finding.part.estimate is None:
        return ""
    return f"{'at most ' if finding.kind == 'bound' else ''}{in_points(finding.part)} points"


def in_points(value: Estimate) -> str:
    """A difference of accuracies in points, with its interval."""
    low, high = (None if end is None else 100 * end for end in (value.low, value.high))
    return points(value.estimate or 0.0) + bracket(Estimate(None, low, high), "{:.2f}")


def to_text(result: Explanation) -> str:
    """The summary that ``print(result)`` shows."""
    drop, *left = result.verdict
    lines = [drop, ""]
    for finding in result.findings:
        part = part_of(finding)
        lines.append(f"{STATES[finding.state]} {finding.title}{f': {part}' if part else ''}")
        lines.append(f"    {finding.verdict}")
        lines += [f"    ! [{caution.code}] {caution.where}: {caution.message}" for caution in finding.warnings]
    lines += ["", *left]
    lines += [f"! [{warning.code}] {warning.where}: {warning.message}" for warning in result.warnings]
    return "\n".join(lines)
