"""A short test with known answers that people take before they vote, and who has passed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from resit.build.keys import among
from resit.build.voting.answers import REJECTED
from resit.build.voting.plan import by_class_of, of_class, shuffled, task_table
from resit.build.voting.quality import control_accuracy
from resit.build.voting.similar import Similar
from resit.data.paths import short_list
from resit.errors import UsageError
from resit.store.schemas import STATUSES, table

if TYPE_CHECKING:
    import pyarrow as pa

GRADES = {
    "person": "string",
    "right": "int64",
    "shown": "int64",
    "accuracy": "double",
    "passed": "bool",
    "reason": "string",  # why not; empty where passed
}


def plan_test(
    originals: pa.Table, similar: Similar, classes: Sequence[str], seed: int, *, positive: int = 6, negative: int = 6
) -> pa.Table:
    """One page for each of some classes, of originals of the class and of similar classes, shuffled.

    Parameters
    ----------
    originals : pyarrow.Table
        Columns image and class_id; better those whose label is beyond doubt.
    similar : mapping of str to sequence of str
        By class, others that are similar, most similar first.
    classes : sequence of str
        To ask about.
    seed : int
    positive, negative : int, optional
        Images of each kind on a page.

    Returns
    -------
    pyarrow.Table
        TASKS, without candidates. They are exported and read as any tasks.

    Raises
    ------
    UsageError
        If a class has too few originals, or similar classes have.
    """
    by_class = by_class_of(originals)
    rows, short = [], []
    for class_id in sorted(set(classes)):
        rng = of_class(seed, class_id)
        known = _drawn([by_class.get(class_id, ())], positive, set(), rng)
        near = [by_class.get(other, ()) for other in similar.get(class_id, ())]
        others = _drawn(near, negative, set(by_class.get(class_id, ())), rng)
        if len(known) < positive or len(others) < negative:
            short.append(class_id)
        page = [(image, "positive") for image in known] + [(image, "negative") for image in others]
        rows += shuffled(class_id, page, rng)
    if short or not rows:
        what = f"too few originals for a test in {len(short):,} classes: {short_list(short)}" if short else "a test of no class"
        raise UsageError(what, where="qualification test", fix="Ask for fewer images, or name other classes.")
    return task_table(rows)


def _drawn(groups: Iterable[Sequence[str]], wanted: int, barred: set[str], rng: np.random.Generator) -> list[str]:
    """Images at random of the first group, and of the next one when it is used up."""
    found: list[str] = []
    for group in groups:
        free = [image for image in group if image not in barred and image not in found]
        found += [free[at] for at in rng.permutation(len(free))[: wanted - len(found)]]
    return found


def grade(votes: pa.Table, test: pa.Table, *, accuracy: float = 0.9) -> pa.Table:
    """Who has passed a test: right on at least a share of it, and all of it answered.

    Parameters
    ----------
    votes : pyarrow.Table
        VOTES on the tasks of the test; of a person who took it again, only those that count.
    test : pyarrow.Table
        TASKS, of `plan_test`.
    accuracy : float, optional
        From 0 to 1.

    Returns
    -------
    pyarrow.Table
        GRADES, ordered by person.

    Raises
    ------
    UsageError
        If the accuracy is not from 0 to 1.
    """
    if not 0 <= accuracy <= 1:
        raise UsageError(f"{accuracy} is no accuracy", where="qualification test", fix="Give one from 0 to 1, such as 0.9.")
    votes = votes.filter(among(votes, test))
    rows = []
    for found in control_accuracy(votes).to_pylist():
        right, shown = (found[f"positive_{what}"] + found[f"negative_{what}"] for what in ("right", "shown"))
        reason = "" if right >= accuracy * shown else f"{right} of {shown} right, {accuracy:.1%} are needed"
        if shown < test.num_rows:
            reason = f"{shown} of {test.num_rows} images answered"
        rows.append((found["person"], right, shown, right / shown if shown else None, not reason, reason))
    columns: dict[str, object] = {name: [row[at] for row in rows] for at, name in enumerate(GRADES)}
    return table(GRADES, columns)


def reject_unqualified(votes: pa.Table, grades: pa.Table, *, person: str, time: str) -> pa.Table:
    """Rejections of the assignments of people who have not passed a test, or not taken it.

    Parameters
    ----------
    votes : pyarrow.Table
        VOTES of accepted assignments.
    grades : pyarrow.Table
        GRADES.
    person : str
        Who decides.
    time : str
        ISO 8601, UTC.

    Returns
    -------
    pyarrow.Table
        STATUSES, for `Store.set_assignments`, ordered by assignment.
    """
    why = dict(zip(grades["person"].to_pylist(), grades["reason"].to_pylist(), strict=True))
    whose = votes.group_by(["assignment", "person"]).aggregate([]).sort_by("assignment").to_pylist()
    reasons = [(row["assignment"], why.get(row["person"], "test not taken")) for row in whose]
    rows = [(name, REJECTED, person, f"not qualified: {reason}", time) for name, reason in reasons if reason]
    columns: dict[str, object] = {name: [row[at] for row in rows] for at, name in enumerate(STATUSES)}
    return table(STATUSES, columns)
