"""People who vote, made up: how good each one is, and what they answer."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.simulate.truth import seen_as
from resit.stats.resample import generator
from resit.store.schemas import COUNTS, VOTES, table

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
CONCENTRATION = 50.0  # a + b of the beta distributions that people's sensitivity and specificity come from
PEOPLE = {
    "person": "string",
    "sensitivity": "double",  # selects an image that looks to a good annotator as the class
    "specificity": "double",  # leaves out one that does not
    "spammer": "bool",
}
_CROWD, _ANSWERS, _COUNTS = range(3)


@dataclass(frozen=True)
class Crowd:
    """People of a given quality.

    Parameters
    ----------
    size : int
        How many there are.
    skill : float
        Mean of their sensitivities, and of their specificities, from 0.5 to 1.
    spam : float
        Share of people who select half of all images, blindly.
    laziness : float
        Share of the images of a page that the others do not look at, and so leave out.

    Raises
    ------
    UsageError
        If a number cannot be meant.
    """

    size: int = 100
    skill: float = 0.97
    spam: float = 0.0
    laziness: float = 0.0

    def __post_init__(self) -> None:
        if self.size < 1 or not 0.5 <= self.skill <= 1 or not 0 <= self.spam <= 1 or not 0 <= self.laziness <= 1:
            fix = "Give at least one person, a skill from 0.5 to 1, and shares from 0 to 1."
            raise UsageError(f"a crowd that cannot be: {self}", where="crowd", fix=fix)

    def people(self, seed: int = 0) -> pa.Table:
        """Each person's quality, PEOPLE. Sensitivity and specificity come from a beta distribution around the skill."""
        rng = generator(seed, _CROWD)
        drawn = np.ones((2, self.size))
        if self.skill < 1:
            drawn = rng.beta(CONCENTRATION * self.skill, CONCENTRATION * (1 - self.skill), (2, self.size))
        spammer = np.zeros(self.size, bool)
        spammer[rng.choice(self.size, round(self.spam * self.size), replace=False)] = True
        width = len(str(self.size))
        names = [f"person-{number:0{width}}" for number in range(1, self.size + 1)]
        quality = [np.where(spammer, 0.5, kind) for kind in drawn]
        return table(PEOPLE, dict(zip(PEOPLE, (names, *quality, spammer), strict=True)))

    def chances(self, seed: int = 0) -> tuple[Array, Array]:
        """Probability that each person selects an image that looks to a good annotator as the class, and one that does not.

        Returns
        -------
        right, wrong : ndarray of float, shape (size,)
        """
        people = self.people(seed)
        right, left = (np.asarray(people[name], float) for name in ("sensitivity", "specificity"))
        looks = np.where(np.asarray(people["spammer"], bool), 1.0, 1 - self.laziness)
        return right * looks, (1 - left) * looks


def answer(
    tasks: pa.Table,
    truth: pa.Table,
    crowd: Crowd,
    *,
    seed: int,
    time: str,
    people: int | Mapping[str, int] = 10,
    before: pa.Table | None = None,
    barred: Collection[str] = (),
) -> pa.Table:
    """What people answer to tasks.

    An image that a good annotator selects with probability c is selected by a person of sensitivity s and specificity t with
    probability s c + (1 − t)(1 − c). What a person answers to a task depends on nothing but the seed, the crowd and the task.

    Parameters
    ----------
    tasks : pyarrow.Table
        TASKS.
    truth : pyarrow.Table
        TRUTH.
    crowd : Crowd
    seed : int
        The same in every call for one build: it also says how good each person is.
    time : str
        ISO 8601, UTC: when all votes are given.
    people : int or mapping of str to int, optional
        How many more people answer each task, or by task, as `still_to_ask` tells; others are left out then.
    before : pyarrow.Table, optional
        Earlier VOTES or ASSIGNMENTS, rejected ones too: nobody answers a task twice.
    barred : collection of str, optional
        People who are not asked any more.

    Returns
    -------
    pyarrow.Table
        VOTES, ordered by task, person and position. Assignments are called ``TASK-PERSON``.

    Raises
    ------
    InputError
        If the truth of an image is not known.
    UsageError
        If there are not people enough.
    """
    import pyarrow.compute as pc

    ordered = tasks.take(pc.sort_indices(tasks, [("task", "ascending"), ("position", "ascending")]))
    asked = _asked(ordered, crowd, people, _answered(before), set(barred), seed)
    if not asked:
        return table(VOTES)
    clear, (right, wrong) = seen_as(ordered, truth), crowd.chances(seed)
    rows = np.concatenate([np.tile(np.arange(one.start, one.stop), len(one.people)) for one in asked])
    person = np.concatenate([np.repeat(one.people, one.stop - one.start) for one in asked])
    luck = np.concatenate([one.luck.ravel() for one in asked])
    selected = luck < right[person] * clear[rows] + wrong[person] * (1 - clear[rows])
    return _votes(ordered, asked, rows, person, selected, crowd.people(seed)["person"], time)


@dataclass(frozen=True)
class _Asked:
    """Who answers a task, in order, and a number from 0 to 1 for each of them and each image, shape (people, images)."""

    task: str
    start: int
    stop: int
    people: Ints
    luck: Array


def _asked(
    ordered: pa.Table,
    crowd: Crowd,
    people: int | Mapping[str, int],
    answered: Mapping[str, set[str]],
    barred: set[str],
    seed: int,
) -> list[_Asked]:
    sizes = ordered.group_by("task").aggregate([("position", "count")]).sort_by("task")
    lengths = np.asarray(sizes["position_count"], np.int64)
    stops = np.cumsum(lengths)
    names: list[str] = crowd.people(seed)["person"].to_pylist()
    place = {name: row for row, name in enumerate(names)}
    found = []
    for task, start, stop in zip(sizes["task"].to_pylist(), (stops - lengths).tolist(), stops.tolist(), strict=True):
        wanted = people if isinstance(people, int) else people.get(task, 0)
        if wanted < 1:
            continue
        rng = generator(seed, _ANSWERS, *_words(task))
        order = rng.permutation(crowd.size)
        out = [place[name] for name in answered.get(task, set()) | barred if name in place]
        turns = np.flatnonzero(~np.isin(order, out))[:wanted]
        if len(turns) < wanted:
            what = f"{len(turns):,} people left to ask, while task {task} needs {wanted:,}"
            raise UsageError(what, where="crowd", fix="Make the crowd larger.")
        luck = rng.random((turns[-1] + 1, stop - start))[turns]
        by_name = np.argsort(order[turns])
        found.append(_Asked(task, start, stop, order[turns][by_name], luck[by_name]))
    return found


def _answered(before: pa.Table | None) -> dict[str, set[str]]:
    """People who answered each task, by the names of assignments."""
    found: dict[str, set[str]] = {}
    if before is not None:
        for row in before.group_by(["assignment", "person"]).aggregate([]).to_pylist():
            found.setdefault(row["assignment"].removesuffix(f"-{row['person']}"), set()).add(row["person"])
    return found


def _votes(
    ordered: pa.Table,
    asked: list[_Asked],
    rows: Ints,
    person: Ints,
    selected: npt.NDArray[np.bool_],
    names: pa.ChunkedArray,
    time: str,
) -> pa.Table:
    import pyarrow as pa

    listed = names.to_pylist()
    assignments = [f"{one.task}-{listed[who]}" for one in asked for who in one.people.tolist()]
    sizes = np.concatenate([np.full(len(one.people), one.stop - one.start) for one in asked])
    columns: dict[str, object] = {name: ordered[name].take(pa.array(rows)) for name in ("image", "class_id", "role")}
    columns |= {
        "person": names.take(pa.array(person)),
        "assignment": pa.array(assignments, pa.string()).take(pa.array(np.repeat(np.arange(len(sizes)), sizes))),
        "selected": selected,
        "time": pa.repeat(time, len(rows)),
    }
    return table(VOTES, columns)


def counts_of_originals(truth: pa.Table, crowd: Crowd, *, votes: int = 50, accuracy: float = 0.0, seed: int = 0) -> pa.Table:
    """Votes on the originals that stand before a build begins, as CIFAR-10H has them for CIFAR-10, by people of the crowd.

    Parameters
    ----------
    truth : pyarrow.Table
        TRUTH.
    crowd : Crowd
        Each vote is by anybody of it who is good enough.
    votes : int, optional
        On each image.
    accuracy : float, optional
        People whose expected accuracy on clear images, half of them of the class, is lower did not vote: candidates are
        matched to originals without a shift only if people of both were chosen alike.
    seed : int, optional

    Returns
    -------
    pyarrow.Table
        COUNTS, ordered by class and image.

    Raises
    ------
    UsageError
        If the number of votes is not above 0, or nobody is good enough.
    """
    import pyarrow.compute as pc

    if votes < 1:
        raise UsageError(f"{votes} votes", where="originals", fix="Give at least 1.")
    rows = truth.filter(pc.equal(truth["role"], "original")).sort_by([("class_id", "ascending"), ("image", "ascending")])
    clear = np.asarray(rows["clarity"], float)
    each = crowd.chances(seed)
    voted = (each[0] + 1 - each[1]) / 2 >= accuracy
    if not voted.any():
        what = f"nobody of {crowd.size:,} people with an accuracy of {accuracy:g} on controls"
        raise UsageError(what, where="originals", fix="Make the crowd better, or lower the accuracy that it needs.")
    right, wrong = (float(chance[voted].mean()) for chance in each)
    selected = generator(seed, _COUNTS).binomial(votes, right * clear + wrong * (1 - clear))
    columns = {"image": rows["image"], "class_id": rows["class_id"], "selected": selected}
    return table(COUNTS, {**columns, "shown": np.full(len(rows), votes)})


def _words(text: str) -> list[int]:
    words: list[int] = np.frombuffer(hashlib.sha256(text.encode()).digest()[:16], "<u4").tolist()
    return words
