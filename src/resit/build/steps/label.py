"""Ask people about candidates: tasks out to where they vote, votes back in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from resit.build.clock import now
from resit.build.keys import among
from resit.build.steps.opened import Build, Tell, silent
from resit.build.steps.originals import image_bytes, path_in_build, row_of
from resit.build.steps.similar import similar_classes
from resit.build.voting.answers import REJECTED, Answers
from resit.build.voting.export import Exported, export_csv, export_label_studio, export_mturk
from resit.build.voting.pages import Pages, make_pages
from resit.build.voting.plan import Plan, plan_tasks, still_to_ask
from resit.build.voting.qualify import plan_test
from resit.build.voting.read_csv import read_csv_votes
from resit.build.voting.read_label_studio import read_label_studio_votes
from resit.build.voting.read_mturk import read_mturk_votes
from resit.data.columns import plain
from resit.data.guard import reading, refuse_unfit
from resit.data.paths import short_list
from resit.data.tables import read_table
from resit.errors import InputError, Notice, UsageError
from resit.store.records import Added
from resit.store.schemas import STATUSES, table

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.store import Store

Kind = Literal["mturk", "label-studio", "csv"]
WRITERS = {"mturk": export_mturk, "label-studio": export_label_studio, "csv": export_csv}
READERS = {"mturk": read_mturk_votes, "label-studio": read_label_studio_votes, "csv": read_csv_votes}
EXPORTS, IMAGES_FOLDER = "exports", "images"


@dataclass(frozen=True)
class Sent:
    """Tasks that were written for people.

    Parameters
    ----------
    plan : Plan or None
        New tasks; None for a test.
    exported : Exported
    """

    plan: Plan | None
    exported: Exported

    def __str__(self) -> str:
        notices = (*(self.plan.notices if self.plan else ()), *self.exported.notices)
        head = [str(self.plan)] if self.plan else []
        return "\n".join([*head, *(f"wrote {path}" for path in self.exported.files), *map(str, notices)])


@dataclass(frozen=True)
class Returned:
    """Votes that were read and stored."""

    answers: Answers
    votes: Added
    statuses: Added
    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        lines = [str(self.answers), f"{self.votes.new:,} votes are new, {self.votes.known:,} were known"]
        return "\n".join([*lines, *map(str, self.notices)])


def export_tasks(
    build: Build,
    to: Kind,
    *,
    folder: str | Path | None = None,
    images_at: str = "",
    similar: str | Path | None = None,
    texts: str | Path | None = None,
    tell: Tell = silent,
) -> Sent:
    """Plan tasks for candidates that are in none, and write all tasks that still need people.

    Parameters
    ----------
    build : Build
    to : {'mturk', 'label-studio', 'csv'}
    folder : path, optional
        Where the files go. Default: ``exports/<to>`` in the build.
    images_at : str, optional
        Address under which the folder ``images`` of the build is served. Default: its path on this machine.
    similar, texts : path, optional
        Tables of the similar classes of each, and of what people look for in each (class_id, text).
    tell : callable, optional
        Told what is being done.

    Returns
    -------
    Sent

    Raises
    ------
    InputError
        If a table does not fit, or the addresses are none that the tool can show.
    OutputError
        If a file cannot be written.
    """
    if to != "csv":
        refuse_local(images_at, where=to)
    plan, people = planned_tasks(build, similar, tell=tell)
    pages = pages_of(build, build.store.tasks(), people, images_at=images_at, texts=texts, tell=tell)
    plan = replace(plan, notices=(*plan.notices, *few_originals(build)))
    tell("Writing tasks")
    return Sent(plan, WRITERS[to](pages, Path(folder) if folder else build.path / EXPORTS / to))


def export_test(
    build: Build,
    to: Kind,
    *,
    classes: list[str] | None = None,
    people: int = 1,
    folder: str | Path | None = None,
    images_at: str = "",
    similar: str | Path | None = None,
    texts: str | Path | None = None,
    tell: Tell = silent,
) -> Sent:
    """Write a test of originals alone, whose answers are known, for people to take before the work.

    Parameters
    ----------
    build, to, folder, images_at, similar, texts, tell
        As :func:`export_tasks`; by default the files go to ``exports/test-<to>``.
    classes : list of str, optional
        Ids of the classes to ask about. Default: the first three.
    people : int, optional
        How many people are to take it.

    Returns
    -------
    Sent
    """
    if to != "csv":
        refuse_local(images_at, where=to)
    like = similar_classes(build, similar, tell=tell)
    asked = classes or [info.id for info in build.classes[:3]]
    test = plan_test(build.store.images("original"), like, asked, build.config.seed)
    build.store.add_tasks(test)
    wanted = dict.fromkeys(test["task"].to_pylist(), people)
    pages = pages_of(build, test, wanted, images_at=images_at, texts=texts, tell=tell)
    return Sent(None, WRITERS[to](pages, Path(folder) if folder else build.path / EXPORTS / f"test-{to}"))


def planned_tasks(build: Build, similar: str | Path | None = None, *, tell: Tell = silent) -> tuple[Plan, dict[str, int]]:
    """Plan tasks for candidates that are in none, store them, and say how many more people each task needs."""
    store, config = build.store, build.config
    tell("Planning tasks")
    like = similar_classes(build, similar, tell=tell)
    plan = plan_tasks(
        store.images(), store.counts(), store.images("original"), like, config.votes, config.seed, tasks=store.tasks()
    )
    store.add_tasks(plan.tasks)
    return plan, still_to_ask(store.tasks(), store.counts(), config.votes.people)


def refuse_local(images_at: str, where: str) -> None:
    """Refuse images that a browser cannot get, before anything is planned.

    Raises
    ------
    UsageError
        If the address is neither one of the web nor of Label Studio's own files.
    """
    if not images_at.lower().startswith(("http://", "https://", "/data/local-files/")):
        what = f"no address of the web: {images_at}" if images_at else "no address that people's browsers could get images from"
        raise UsageError(what, where=where, fix="Put the build's images/ on a web server, and give its address: --images-at.")


def few_originals(build: Build) -> list[Notice]:
    """A notice where these tasks will not give votes to as many originals of each class as matching needs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sampling, store = build.config.sampling, build.store
    if sampling.strategy not in ("matched-frequency", "corrected-frequency"):
        return []
    originals, tasks, counts = store.images("original"), store.tasks(), store.counts()
    voted = counts.filter(pc.greater_equal(counts["shown"], sampling.minimum_votes))
    shown = tasks.filter(pc.equal(tasks["role"], "positive"))
    reached = Counter(originals.filter(pa.array(among(originals, voted) | among(originals, shown)))["class_id"].to_pylist())
    need = sampling.minimum_originals
    few = [info.id for info in build.classes if reached[info.id] < need]
    if not few:
        return []
    message = (
        f"Fewer than {need} originals get votes in {len(few):,} classes ({short_list(few)}), and {sampling.strategy} needs "
        "so many: collect more candidates, raise votes.positive in build.yaml before the first export, or begin with --counts."
    )
    return [Notice("few-originals", "tasks", message)]


def pages_of(
    build: Build,
    tasks: pa.Table,
    people: dict[str, int],
    *,
    images_at: str = "",
    texts: str | Path | None = None,
    tell: Tell = silent,
) -> Pages:
    """Tasks as people get to see them; the images are put into the build's folder."""
    shown = tasks.filter(_is_in(tasks["task"], people))
    paths = _paths(build, shown, tell)
    base = images_at.rstrip("/") or str(build.path.absolute() / IMAGES_FOLDER)
    urls = {image: f"{base}/{path.removeprefix(f'{IMAGES_FOLDER}/')}" for image, path in paths.items()}
    return make_pages(tasks, urls, _texts(build, texts), people)


def _paths(build: Build, shown: pa.Table, tell: Tell) -> dict[str, str]:
    """Path of every image on the pages, in the build's folder; originals are put there, so that they look like the others."""
    images = build.store.images()
    wanted = set(shown["image"].to_pylist())
    rows = images.filter(_is_in(images["image"], wanted)).select(["image", "role", "path", "attributes"]).to_pylist()
    found = {row["image"]: row["path"] for row in rows if row["role"] == "candidate"}
    _refuse_lost(build, found)
    originals = {row["image"]: row_of(row["attributes"]) for row in rows if row["image"] not in found}
    if originals:
        tell("Copying originals that are controls")
        benchmark = build.load_original()
    for image, row in originals.items():
        data = image_bytes(benchmark, row)
        digest = build.folder.put_image(data)
        if digest != image:
            fix = "Give back the files that the build was begun with, or begin another build."
            raise InputError(f"original {row} is not the image that it was", where=build.config.original.source, fix=fix)
        found[image] = path_in_build(digest, data)
    return found


def _refuse_lost(build: Build, paths: dict[str, str]) -> None:
    """Refuse to show people images that are not in the build's folder any more."""
    if lost := sorted(image for image, path in paths.items() if not (build.path / path).exists()):
        what = f"{len(lost):,} candidates whose files are missing: {short_list(lost, 3)}"
        raise InputError(what, where=build.path / "images", fix="Collect them again, or put the files back.")


def _texts(build: Build, path: str | Path | None) -> dict[str, str]:
    names = build.class_names
    if path is None:
        return names
    table = read_table(Path(path))
    named = {plain(name): name for name in table.columns}
    if not {"class_id", "text"} <= named.keys():
        what = f"no columns class_id and text among {', '.join(table.columns)}"
        raise InputError(what, where=path, fix="It says what people look for in each class.")
    given = dict(zip(table.texts(named["class_id"]).tolist(), table.texts(named["text"]).tolist(), strict=True))
    if strange := sorted(given.keys() - names.keys()):
        raise InputError(f"ids of no class: {', '.join(strange[:5])}", where=path, fix="Write them as in the class list.")
    return {**names, **given}


def import_votes(build: Build, path: str | Path, kind: Kind | None = None) -> Returned:
    """Read votes from a file and store them; reading the same file again changes nothing.

    Parameters
    ----------
    build : Build
    path : path
    kind : {'mturk', 'label-studio', 'csv'}, optional
        Default: JSON is of Label Studio, a table with a column AssignmentId of Mechanical Turk, any other plain.

    Returns
    -------
    Returned

    Raises
    ------
    InputError
        If the file cannot be read or contradicts itself or what is stored. Nothing of it is stored then.
    """
    path = Path(path)
    refuse_unfit(path)
    return take_answers(build, partial(READERS[kind or _kind_of(path)], path))


def take_answers(build: Build, read: Callable[..., Answers]) -> Returned:
    """Store what a reader of answers gives.

    Parameters
    ----------
    build : Build
    read : callable
        Given the tasks, and as keywords time, rejected_people and earlier votes, returns Answers.
    """
    store = build.store
    assignments = store.assignments()
    answers = read(store.tasks(), time=now(), rejected_people=rejected_people(assignments), earlier=store.votes())
    statuses, notices = _undecided(answers, assignments)
    votes, decisions = _stored(store, answers.votes, statuses)
    return Returned(answers, votes, decisions, (*answers.notices, *notices))


def _stored(store: Store, votes: pa.Table, statuses: pa.Table) -> tuple[Added, Added]:
    """Store votes and decisions together: with votes alone somebody who was rejected would be no more."""
    from resit.store.votes import add_statuses, add_votes

    with store.writing() as connection:
        return add_votes(connection, votes, store.where), add_statuses(connection, statuses, store.where)


def rejected_people(assignments: pa.Table) -> set[str]:
    """People all of whose assignments were rejected."""
    people, states = assignments["person"].to_pylist(), assignments["status"].to_pylist()
    kept = {person for person, state in zip(people, states, strict=True) if state != REJECTED}
    return set(people) - kept


def _undecided(answers: Answers, assignments: pa.Table) -> tuple[pa.Table, list[Notice]]:
    """Statuses of assignments that nobody decided on before: a file that is read later overrules nobody."""
    import pyarrow as pa

    rows = assignments.filter(pa.array([bool(time) for time in assignments["time"].to_pylist()], pa.bool_()))
    decided = dict(zip(rows["assignment"].to_pylist(), rows["status"].to_pylist(), strict=True))
    told = answers.statuses.select(["assignment", "status"]).to_pylist()
    new = [row["assignment"] not in decided for row in told]
    other = [row["assignment"] for row in told if decided.get(row["assignment"], row["status"]) != row["status"]]
    notices = []
    if other:
        message = (
            f"{len(other):,} assignments were decided on here otherwise than in the file; that stays: {short_list(other, 3)}."
        )
        notices.append(Notice("decided-before", "votes", message))
    return answers.statuses.filter(pa.array(new, pa.bool_())), notices


def _kind_of(path: Path) -> Kind:
    if path.suffix.lower() == ".json":
        return "label-studio"
    with reading(path), path.open(encoding="utf-8-sig", errors="replace") as file:
        head = file.readline(2**16)
    return "mturk" if "AssignmentId" in head else "csv"


def decide(build: Build, assignments: list[str], status: Literal["accepted", "rejected"], *, by: str, reason: str) -> Added:
    """Take the votes of assignments out, or back in.

    Raises
    ------
    UsageError
        If there is no such assignment.
    """
    known = set(build.store.assignments()["assignment"].to_pylist())
    if strange := sorted(set(assignments) - known):
        raise UsageError(f"no assignment {', '.join(strange[:3])}", where=build.path, fix="Import its votes first.")
    same = {"status": status, "person": by, "reason": reason, "time": now()}
    rows: dict[str, object] = {name: [value] * len(assignments) for name, value in same.items()}
    return build.store.set_assignments(table(STATUSES, {"assignment": assignments, **rows}))


def _is_in(column: pa.ChunkedArray, values: Iterable[str]) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(column, value_set=pa.array(sorted(values), pa.string()))
