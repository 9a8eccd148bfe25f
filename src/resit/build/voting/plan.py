"""Pages of images to vote on: candidates that still need votes, with controls whose answer is known, shuffled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resit.build.keys import among, keys, rows_in, votes_of
from resit.build.voting.similar import Similar
from resit.data.paths import short_list
from resit.errors import Notice
from resit.stats.resample import generator
from resit.store.schemas import TASKS, table

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.build.config import VotesConfig

Page = list[tuple[str, str]]  # image and role
Row = tuple[str, str, str, str, int]  # of TASKS


@dataclass(frozen=True)
class Plan:
    """What to show people next.

    Parameters
    ----------
    tasks : pyarrow.Table
        New tasks, TASKS, ordered by class, task and position.
    candidates : int
        Candidates in them.
    waiting : int
        Candidates short of votes that are in an earlier task: it is to be shown to more people (`still_to_ask`).
    enough : int
        Candidates with votes enough.
    notices : tuple of Notice
        Controls that are missing, and pages that stay short.
    """

    tasks: pa.Table
    candidates: int
    waiting: int
    enough: int
    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        pages = len(set(self.tasks["task"].to_pylist()))
        return (
            f"{pages:,} new tasks with {self.candidates:,} candidates; "
            f"{self.waiting:,} candidates wait in earlier tasks, {self.enough:,} have votes enough"
        )


@dataclass
class _Supply:
    """Original images by class, those in fewest tasks first."""

    images: Mapping[str, tuple[str, ...]]
    used: dict[str, dict[str, int]]
    rng: np.random.Generator

    def take(self, class_id: str, wanted: int, taken: set[str], *, barred: set[str] | None = None) -> list[str]:
        """Images of a class that are not on the page: by how seldom they were shown, then at random."""
        free = [image for image in self.images.get(class_id, ()) if image not in taken and image not in (barred or set())]
        used = self.used.setdefault(class_id, {})
        luck = self.rng.permutation(len(free))
        order = sorted(range(len(free)), key=lambda at: (used.get(free[at], 0), luck[at]))[: max(0, wanted)]
        chosen = [free[at] for at in order]
        for image in chosen:
            used[image] = used.get(image, 0) + 1
            taken.add(image)
        return chosen


def plan_tasks(
    images: pa.Table,
    counts: pa.Table,
    originals: pa.Table,
    similar: Similar,
    settings: VotesConfig,
    seed: int,
    *,
    tasks: pa.Table | None = None,
) -> Plan:
    """Tasks for candidates that are short of votes and in no task yet.

    Each page is for one class: up to ``task - positive - negative`` candidates; ``positive`` originals of the class;
    ``negative`` originals of the most similar class that has some. A short last page is filled up with originals of the class
    and, when these are used up, of similar classes. Originals that were shown least come first, so that many of them get votes.
    All is shuffled. A page's name is a digest of what is on it: the same plan again is the same tasks.

    Parameters
    ----------
    images : pyarrow.Table
        IMAGES, or its columns image, class_id and role; only candidates are taken.
    counts : pyarrow.Table
        COUNTS of accepted votes.
    originals : pyarrow.Table
        Columns image and class_id.
    similar : mapping of str to sequence of str
        By class, others that are similar, most similar first.
    settings : VotesConfig
    seed : int
    tasks : pyarrow.Table, optional
        Earlier tasks, TASKS.

    Returns
    -------
    Plan

    References
    ----------
    Recht et al. (2019), appendix C.1.
    """
    import pyarrow.compute as pc

    tasks = table(TASKS) if tasks is None else tasks
    pool = images.filter(pc.equal(images["role"], "candidate")).select(["image", "class_id"])
    pool = pool.group_by(["image", "class_id"]).aggregate([]).sort_by([("class_id", "ascending"), ("image", "ascending")])
    shown = votes_of(pool, counts)["shown"]
    planned = among(pool, tasks.filter(pc.equal(tasks["role"], "candidate")))
    short = shown < settings.people
    fresh = pool.filter(short & ~planned).append_column("shown", [shown[short & ~planned]])
    by_class = by_class_of(originals)
    pages = _Pages(settings, seed, similar, by_class, _shown_before(tasks, counts, originals))
    rows = [row for class_id, wanted in _wanted(fresh).items() for row in pages.of(class_id, wanted)]
    return Plan(task_table(rows), len(fresh), int((short & planned).sum()), int((~short).sum()), pages.notices())


def still_to_ask(tasks: pa.Table, counts: pa.Table, people: int) -> dict[str, int]:
    """How many more people each task needs: as many as its candidate with the fewest votes; in a task without candidates, zero.

    Parameters
    ----------
    tasks : pyarrow.Table
        TASKS.
    counts : pyarrow.Table
        COUNTS of accepted votes.
    people : int
        Fewest people who see each candidate.

    Returns
    -------
    dict of str to int
        By task, in the order of their names; tasks that need nobody are left out.
    """
    import pyarrow.compute as pc

    asked = tasks.filter(pc.equal(tasks["role"], "candidate"))
    asked = asked.select(["task"]).append_column("shown", [votes_of(asked, counts)["shown"]])
    least = asked.group_by("task").aggregate([("shown", "min")]).sort_by("task")
    needs = zip(least["task"].to_pylist(), least["shown_min"].to_pylist(), strict=True)
    return {task: people - shown for task, shown in needs if shown < people}


def task_table(rows: Sequence[Row]) -> pa.Table:
    """TASKS of some rows."""
    columns: dict[str, object] = {name: [row[at] for row in rows] for at, name in enumerate(TASKS)}
    return table(TASKS, columns)


def shuffled(class_id: str, page: Page, rng: np.random.Generator) -> list[Row]:
    """Rows of TASKS of one page, in random order, under a name that is a digest of them."""
    order = [page[at] for at in rng.permutation(len(page))]
    text = "\0".join([class_id, *(part for row in order for part in row)])
    task = f"t{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return [(task, class_id, image, role, position) for position, (image, role) in enumerate(order)]


def of_class(seed: int, class_id: str) -> np.random.Generator:
    """The generator of one class: what other classes there are changes nothing."""
    digest = hashlib.sha256(class_id.encode()).digest()
    return generator(seed, *np.frombuffer(digest[:16], "<u4").tolist())


class _Pages:
    """Makes pages, class by class, and counts what they lack."""

    def __init__(
        self,
        settings: VotesConfig,
        seed: int,
        similar: Similar,
        originals: Mapping[str, tuple[str, ...]],
        used: dict[str, dict[str, int]],
    ) -> None:
        self._settings, self._seed, self._similar, self._originals, self._used = settings, seed, similar, originals, used
        self._lacking: dict[str, set[str]] = {"positive": set(), "negative": set(), "farther": set(), "short": set()}

    def of(self, class_id: str, wanted: list[tuple[int, str]]) -> list[Row]:
        """Rows of the pages of one class: candidates with equally many votes together, those with fewest first."""
        settings, rng = self._settings, of_class(self._seed, class_id)
        room = settings.task - settings.positive - settings.negative
        luck = rng.permutation(len(wanted))
        order = [wanted[at][1] for at in sorted(range(len(wanted)), key=lambda at: (wanted[at][0], luck[at]))]
        supply = _Supply(self._originals, {class_id: dict(self._used.get(class_id, {}))}, rng)
        rows = []
        for start in range(0, len(order), room):
            page: Page = [(image, "candidate") for image in order[start : start + room]]
            rows += shuffled(class_id, self._filled(class_id, page, supply), rng)
        return sorted(rows, key=lambda row: (row[0], row[4]))

    def _filled(self, class_id: str, page: Page, supply: _Supply) -> Page:
        settings, taken = self._settings, {image for image, _ in page}
        others = self._similar.get(class_id, ())
        own = set(self._originals.get(class_id, ()))
        positive = supply.take(class_id, settings.positive, taken)
        negative: list[str] = []
        for rank, other in enumerate(others):
            more = supply.take(other, settings.negative - len(negative), taken, barred=own)
            self._note("farther", class_id, bool(rank and more))
            negative += more
        self._note("positive", class_id, len(positive) < settings.positive)
        self._note("negative", class_id, len(negative) < settings.negative)
        padding = settings.task - len(page) - len(positive) - len(negative)
        positive += (more := supply.take(class_id, padding, taken))
        padding -= len(more)
        for other in others:
            negative += (more := supply.take(other, padding, taken, barred=own))
            padding -= len(more)
        self._note("short", class_id, padding > 0)
        return page + [(image, "positive") for image in positive] + [(image, "negative") for image in negative]

    def _note(self, kind: str, class_id: str, holds: bool) -> None:
        if holds:
            self._lacking[kind].add(class_id)

    def notices(self) -> tuple[Notice, ...]:
        """What pages lack, by kind."""
        settings = self._settings
        texts = {
            "positive": f"Pages have fewer than {settings.positive} originals of their class as positive controls",
            "negative": f"Pages have fewer than {settings.negative} originals of a similar class as negative controls",
            "farther": "Negative controls come also from a class that is not the most similar one, for want of originals",
            "short": f"Pages have fewer than {settings.task} images, for want of originals to fill them up",
        }
        return tuple(
            Notice(f"controls-{kind}" if kind != "short" else "short-pages", "tasks", f"{texts[kind]}: {_classes(found)}.")
            for kind, found in self._lacking.items()
            if found
        )


def _classes(found: set[str]) -> str:
    return f"{len(found):,} class{'' if len(found) == 1 else 'es'}, {short_list(sorted(found))}"


def _wanted(fresh: pa.Table) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    columns = (fresh[name].to_pylist() for name in ("class_id", "shown", "image"))
    for class_id, shown, image in zip(*columns, strict=True):
        found.setdefault(class_id, []).append((shown, image))
    return found


def by_class_of(originals: pa.Table) -> dict[str, tuple[str, ...]]:
    """Images of each class, both in order."""
    found: dict[str, set[str]] = {}
    for image, class_id in zip(originals["image"].to_pylist(), originals["class_id"].to_pylist(), strict=True):
        found.setdefault(class_id, set()).add(image)
    return {class_id: tuple(sorted(images)) for class_id, images in sorted(found.items())}


def _shown_before(tasks: pa.Table, counts: pa.Table, originals: pa.Table) -> dict[str, dict[str, int]]:
    """Tasks in which each original stands as a positive control; one that has votes of elsewhere counts as in one task more."""
    import pyarrow.compute as pc

    positive = tasks.filter(pc.equal(tasks["role"], "positive"))
    inside = keys(positive).value_counts() if len(positive) else None
    times = dict(zip(inside.field(0).to_pylist(), inside.field(1).to_pylist(), strict=True)) if inside is not None else {}
    elsewhere = (rows_in(originals, counts) >= 0) & ~among(originals, positive)
    found: dict[str, dict[str, int]] = {}
    columns = (originals["image"].to_pylist(), originals["class_id"].to_pylist(), keys(originals).to_pylist(), elsewhere)
    for image, class_id, key, voted in zip(*columns, strict=True):
        found.setdefault(class_id, {})[image] = times.get(key, 0) + int(voted)
    return found
