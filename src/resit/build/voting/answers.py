"""Answers from anywhere become votes: matched with tasks, doubles and contradictions found, what does not count told."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resit.data.paths import short_list
from resit.errors import InputError, Notice
from resit.store.schemas import STATUSES, VOTES, table

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
LOST = {"row": "int64", "task": "string", "person": "string", "reason": "string"}
ACCEPTED, REJECTED = "accepted", "rejected"
IMPORT = "import"  # who decided, where reading did
BARRED, REPEATED = "a rejected person", "the person has answered this task before"


@dataclass(frozen=True)
class Answers:
    """What a file of answers holds.

    Parameters
    ----------
    votes : pyarrow.Table
        VOTES, for `Store.add_votes`; those of assignments that do not count too, so that they can come back in.
    statuses : pyarrow.Table
        STATUSES, for `Store.set_assignments`, of assignments that were accepted or rejected where they were given, are by a
        rejected person, or answer a task again.
    lost : pyarrow.Table
        Columns row (from 1, of the file's rows or answers), task, person and reason: what is no vote.
    notices : tuple of Notice
    """

    votes: pa.Table
    statuses: pa.Table
    lost: pa.Table
    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        rejected = self.statuses["status"].to_pylist().count(REJECTED)
        people = len(self.votes["person"].unique())
        votes, lost = self.votes.num_rows, self.lost.num_rows
        return f"{votes:,} votes by {people:,} people; {rejected:,} assignments rejected; {lost:,} rows are no votes"


@dataclass(frozen=True)
class Given:
    """Answers before they are matched: columns of equal length n, those of text as numbers and the texts that they stand for.

    Parameters
    ----------
    where : str
        The file.
    place : ndarray of int64
        Row of the table of tasks, or -1 where there is none.
    person, assignment, time : tuple of (ndarray of int64, pyarrow.Array)
        Numbers and texts.
    selected : ndarray of bool
    lost : pyarrow.Table
        What was lost on the way here, LOST.
    notices : tuple of Notice
    decided : dict
        By assignment: status, person, reason and time of a decision that came with the answers.
    """

    where: str
    place: Ints
    person: tuple[Ints, pa.Array]
    assignment: tuple[Ints, pa.Array]
    time: tuple[Ints, pa.Array]
    selected: Bools
    lost: pa.Table
    notices: tuple[Notice, ...]
    decided: dict[str, tuple[str, str, str, str]]


def match_answers(
    given: Given, tasks: pa.Table, *, rejected_people: Collection[str] = (), earlier: pa.Table | None = None
) -> Answers:
    """Votes of answers that were matched with tasks.

    Parameters
    ----------
    given : Given
    tasks : pyarrow.Table
        TASKS.
    rejected_people : collection of str, optional
        People whose assignments are rejected.
    earlier : pyarrow.Table, optional
        VOTES that are accepted already, to find who answers a task again under another assignment.

    Returns
    -------
    Answers

    Raises
    ------
    InputError
        If nothing fits the tasks, an assignment has two people or tasks, or answers on one image contradict each other.
    """
    if not len(given.place):
        why = given.lost["reason"].to_pylist()
        what = f"no votes on these tasks ({short_list(sorted(set(why)))})" if why else "no votes"
        raise InputError(what, where=given.where, fix="Check that the file is of this build's tasks.")
    task_code, task_names = _encoded(tasks["task"])
    owner = _owners(given, task_code[given.place], task_names)
    given, notices = _once(given, tasks)
    votes = _votes(given, tasks)
    statuses, more = _statuses(given, owner, tasks, set(rejected_people), earlier)
    notices = [*given.notices, *notices, *more, *_incomplete(given, owner, task_code), *_losses(given)]
    return Answers(votes, statuses, given.lost, tuple(notices))


@dataclass(frozen=True)
class _Owners:
    """Of each assignment: number of its person and task, and its first time."""

    person: Ints
    task: Ints
    task_names: list[str]
    first: list[str]


def _encoded(column: pa.ChunkedArray) -> tuple[Ints, list[str]]:
    found = column.combine_chunks().dictionary_encode()
    return found.indices.to_numpy().astype(np.int64), found.dictionary.to_pylist()


def _owners(given: Given, task: Ints, task_names: list[str]) -> _Owners:
    codes, names = given.assignment
    person_names = given.person[1]
    people, tasks = np.zeros(len(names), np.int64), np.zeros(len(names), np.int64)
    people[codes], tasks[codes] = given.person[0], task
    two: tuple[tuple[str, Bools, Callable[[int], Any]], ...] = (
        ("people", people[codes] != given.person[0], lambda row: person_names[int(given.person[0][row])].as_py()),
        ("tasks", tasks[codes] != task, lambda row: task_names[int(task[row])]),
    )
    for what, wrong, name_of in two:
        if wrong.any():
            row = int(np.argmax(wrong))
            same = np.flatnonzero((codes == codes[row]) & ~wrong)
            both = f"{name_of(row)}, {name_of(int(same[0]))}"
            fix = "An assignment is one person's answer to one task: give each its own."
            raise InputError(
                f"assignment {names[int(codes[row])].as_py()} is of two {what}: {both}", where=given.where, fix=fix
            )
    times = given.time[1].to_pylist()
    rank = np.empty(len(times), np.int64)
    rank[np.array(sorted(range(len(times)), key=times.__getitem__), int)] = np.arange(len(times))
    first = np.full(len(names), len(times), np.int64)
    np.minimum.at(first, codes, rank[given.time[0]])
    by_rank = sorted(times)
    return _Owners(people, tasks, task_names, [by_rank[at] if at < len(times) else "" for at in first.tolist()])


def _once(given: Given, tasks: pa.Table) -> tuple[Given, list[Notice]]:
    """Each image once in each assignment, in the order of the file."""
    key = given.assignment[0] * tasks.num_rows + given.place
    order = np.argsort(key, kind="stable")
    same = key[order[1:]] == key[order[:-1]]
    if not same.any():
        return given, []
    differs = same & (given.selected[order[1:]] != given.selected[order[:-1]])
    if differs.any():
        row = int(order[1:][int(np.argmax(differs))])
        image = tasks["image"][int(given.place[row])].as_py()
        name = given.assignment[1][int(given.assignment[0][row])].as_py()
        what = f"assignment {name} answers image {image} both ways"
        raise InputError(what, where=given.where, fix="Find out which answer is right, and remove the other.")
    keep = np.ones(len(key), bool)
    keep[order[1:][same]] = False
    message = f"{int(same.sum()):,} rows are there more than once, and are counted once."
    kept = replace(
        given,
        place=given.place[keep],
        person=(given.person[0][keep], given.person[1]),
        assignment=(given.assignment[0][keep], given.assignment[1]),
        time=(given.time[0][keep], given.time[1]),
        selected=given.selected[keep],
    )
    return kept, [Notice("same-rows", given.where, message)]


def _votes(given: Given, tasks: pa.Table) -> pa.Table:
    import pyarrow as pa

    def text(pair: tuple[Ints, pa.Array]) -> pa.Array:
        return pair[1].take(pa.array(pair[0]))

    asked = {name: tasks[name].combine_chunks().take(pa.array(given.place)) for name in ("image", "class_id", "role")}
    people = {"person": text(given.person), "assignment": text(given.assignment), "time": text(given.time)}
    return table(VOTES, {**asked, **people, "selected": pa.array(given.selected)})


def _statuses(
    given: Given, owner: _Owners, tasks: pa.Table, rejected_people: set[str], earlier: pa.Table | None
) -> tuple[pa.Table, list[Notice]]:
    names, people = given.assignment[1].to_pylist(), given.person[1].to_pylist()
    decided = dict(given.decided)
    there = np.unique(given.assignment[0]).tolist()
    mine = {names[at] for at in there}
    answered = _answered(earlier, tasks, mine) if earlier is not None else set()
    barred = again = 0
    for at in sorted(there, key=lambda at: (owner.first[at], names[at])):
        name, person = names[at], people[owner.person[at]]
        task = (person, owner.task_names[owner.task[at]])
        if name in decided and decided[name][0] == REJECTED:
            continue
        if person in rejected_people:
            decided[name], barred = (REJECTED, IMPORT, BARRED, owner.first[at]), barred + 1
        elif task in answered:
            decided[name], again = (REJECTED, IMPORT, REPEATED, owner.first[at]), again + 1
        else:
            answered.add(task)
    rows = [(name, *decided[name]) for name in sorted(decided.keys() & mine)]
    columns: dict[str, object] = {
        name: [row[at] for row in rows] for at, name in enumerate(("assignment", "status", "person", "reason", "time"))
    }
    notices = []
    if barred:
        message = f"{barred:,} assignments are by rejected people: their votes are kept, and do not count."
        notices.append(Notice("rejected-people", given.where, message))
    if again:
        message = f"{again:,} assignments answer a task that the person has answered before: only the first one counts."
        notices.append(Notice("answered-again", given.where, message))
    return table(STATUSES, columns), notices


def _answered(earlier: pa.Table, tasks: pa.Table, mine: set[str]) -> set[tuple[str, str]]:
    """Who has answered which task already, under assignments that are not among these; a candidate tells the task."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from resit.build.keys import rows_in

    other = pc.invert(pc.is_in(earlier["assignment"], value_set=pa.array(sorted(mine), pa.string())))
    votes = earlier.filter(pc.and_(other, pc.equal(earlier["role"], "candidate")))
    votes = votes.group_by("assignment", use_threads=False).aggregate(
        [("person", "first"), ("image", "first"), ("class_id", "first")]
    )
    votes = votes.rename_columns([name.removesuffix("_first") for name in votes.column_names])
    asked = tasks.filter(pc.equal(tasks["role"], "candidate"))
    at = rows_in(votes, asked)
    names = asked["task"].to_pylist()
    people = votes["person"].to_pylist()
    return {(person, names[row]) for person, row in zip(people, at.tolist(), strict=True) if row >= 0}


def _incomplete(given: Given, owner: _Owners, task_code: Ints) -> list[Notice]:
    size = np.bincount(task_code)
    votes = np.bincount(given.assignment[0], minlength=len(owner.task))
    short = int(((votes > 0) & (votes < size[owner.task])).sum())
    message = f"{short:,} assignments do not answer every image of their task: the others count as not shown."
    return [Notice("incomplete-assignments", given.where, message)] if short else []


def _losses(given: Given) -> list[Notice]:
    found = given.lost["reason"].value_counts().to_pylist()
    notices = []
    for entry in sorted(found, key=lambda entry: str(entry["values"])):
        reason = entry["values"]
        first = given.lost["row"][given.lost["reason"].index(reason).as_py()].as_py()
        message = f"{entry['counts']:,} rows are no votes: {reason}; the first is row {first:,}."
        notices.append(Notice("lost-rows", given.where, message))
    return notices


def lost_rows(rows: list[tuple[int, str, str, str]]) -> pa.Table:
    """A table of what is lost: row, task, person and reason of each."""
    columns: dict[str, object] = {name: [row[at] for row in rows] for at, name in enumerate(LOST)}
    return table(LOST, columns)
