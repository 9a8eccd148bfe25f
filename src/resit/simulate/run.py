"""The whole path with simulated people: a build from candidates to a release, then models that sit both exams."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.build.clock import now
from resit.build.release.record import Released
from resit.build.steps.dedupe import find_duplicates
from resit.build.steps.gather import gather
from resit.build.steps.init import init_build, new_config
from resit.build.steps.label import export_tasks, import_votes, rejected_people
from resit.build.steps.look import review_state
from resit.build.steps.opened import Build, Tell, open_build, silent
from resit.build.steps.people import reject_people
from resit.build.steps.publish import release_build
from resit.build.steps.sample import Sampled, draw_revision
from resit.build.voting.plan import still_to_ask
from resit.data.paths import short_list
from resit.errors import OutputError, UsageError
from resit.simulate.labelled import save
from resit.simulate.parts import Parts
from resit.simulate.people import Crowd, answer, counts_of_originals
from resit.simulate.planted import Plants
from resit.simulate.pool import CANDIDATES, Pool, make_pool
from resit.simulate.reviewers import Reviewers, judge_images, judge_pairs

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.study.result import Result

DATA, BUILD, RELEASE, MODELS, ANSWERS, REPORT = "data", "build", "release", "models", "answers", "report"
MOST_ROUNDS = 30
MOST_ASKED = 10  # times that people are asked again where others were rejected


@dataclass(frozen=True)
class People:
    """Who votes and reviews.

    Parameters
    ----------
    crowd : Crowd
    reviewers : Reviewers
    votes : int
        People who see each candidate.
    reject_below : float
        Accuracy on controls below which somebody's votes are taken out.
    """

    crowd: Crowd = field(default_factory=Crowd)
    reviewers: Reviewers = field(default_factory=Reviewers)
    votes: int = 10
    reject_below: float = 0.75


@dataclass(frozen=True)
class Simulated:
    """What came of a simulated build.

    Parameters
    ----------
    pool : Pool
        What it started from, with the truth.
    rounds : tuple of Sampled
        All revisions, first to last.
    converged : bool
        Whether the last round changed nothing.
    missed : dict of str to int
        Planted faults that are in the last selection: wrong labels, copies of originals and references, and further copies of a
        selected image.
    planted : dict of str to int
        Planted faults among the candidates.
    rejected : int
        People whose votes were taken out.
    released : Released or None
        None where the selection is not valid.
    result : Result or None
        Models on the original and the new test set; None where they were not asked.
    """

    pool: Pool
    rounds: tuple[Sampled, ...]
    converged: bool
    missed: dict[str, int]
    planted: dict[str, int]
    rejected: int
    released: Released | None
    result: Result | None

    def __str__(self) -> str:
        last = self.rounds[-1]
        lines = [str(self.pool), f"{self.rejected:,} people's votes were taken out"]
        end = "until nothing changed" if self.converged else "and it has not converged"
        lines += [f"{len(self.rounds):,} revisions, {end}", str(last.eligible), str(last.drawn)]
        lines += [f"planted {name}: {self.missed[name]:,} of {n:,} are still in it" for name, n in self.planted.items()]
        lines += [str(last.bias)] if len(last.drawn.selected) else []
        lines.append("not released: the selection is not valid" if self.released is None else str(self.released))
        if self.result is not None:
            lines += [sentence for comparison in self.result.comparisons for sentence in comparison.verdict]
        return "\n".join(lines)


def simulate(
    parts: Parts,
    folder: str | Path,
    *,
    per_class: int,
    people: People | None = None,
    plants: Plants | None = None,
    strategy: str = "matched-frequency",
    counts: str | None = None,
    models: bool = True,
    seed: int = 0,
    tell: Tell = silent,
) -> Simulated:
    """Build a test set by the steps of a real build, with people who are made up, and let models sit both exams.

    In the folder are then ``data`` (what it started from, and the truth), ``build``, ``release``, and of the models ``models``,
    ``answers`` and ``report``.

    Parameters
    ----------
    parts : Parts
        Original, candidates and training images.
    folder : path
        New or empty.
    per_class : int
        Wanted images of each class.
    people : People, optional
    plants : Plants, optional
        Faults to plant.
    strategy : str, optional
        How images are chosen.
    counts : str, optional
        File of votes on the originals. Default: 50 on each, of people in the crowd who are good enough not to be rejected.
    models : bool, optional
        Whether to train models on the training images and ask them.
    seed : int, optional
        Of all that is random.
    tell : callable, optional
        Told what is being done.

    Returns
    -------
    Simulated

    Raises
    ------
    OutputError
        If the folder holds another simulation, or cannot be written.
    UsageError
        If there are not people enough, or scikit-learn is missing.
    """
    folder, people = Path(folder), people or People()
    refuse_used(folder)
    tell("Planting faults")
    pool = make_pool(parts, folder / DATA, plants=plants, seed=seed)
    if counts is None:
        counts = str(folder / DATA / "counts.parquet")
        own = counts_of_originals(pool.truth, people.crowd, accuracy=people.reject_below, seed=seed)
        save(own, Path(counts))
    config = new_config(
        name="simulated",
        seed=seed,
        per_class=per_class,
        original={"source": pool.original, "classes": pool.class_list, "counts": counts},
        sampling={"strategy": strategy, "minimum_votes": people.votes},
        votes={"people": people.votes},
        references=(pool.original, *pool.references),
    )
    init_build(folder / BUILD, config, tell=tell)
    with open_build(folder / BUILD) as build:
        gather(build, f"parquet:{pool.candidates}")
        find_duplicates(build, tell=tell)
        _vote(build, pool, people, seed, tell)
        rounds, converged = _rounds(build, pool, people.reviewers, seed, tell)
        rejected = len(rejected_people(build.store.assignments()))
        released = release_build(build, folder / RELEASE) if rounds[-1].drawn.valid else None
    result = None
    if models and released is not None:
        result = _exam(pool, folder, seed, tell)
    candidates = _candidates(pool.truth)
    selected = rounds[-1].drawn.selected
    return Simulated(
        pool, rounds, converged, faults(selected, pool.truth), faults(candidates, pool.truth), rejected, released, result
    )


def refuse_used(folder: Path) -> None:
    """Refuse a folder with another simulation, or anything else than what :func:`resit.simulate.parts.digits_parts` writes.

    Raises
    ------
    OutputError
        If there is such a thing.
    """
    there = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
    if there - {DATA} or (folder / DATA / CANDIDATES).exists():
        raise OutputError("a folder with something in it", where=folder, fix="Name a new folder.")


def _vote(build: Build, pool: Pool, people: People, seed: int, tell: Tell) -> None:
    """Ask until every candidate has votes enough of people who are good on controls."""
    for turn in range(MOST_ASKED):
        export_tasks(build, "csv", tell=tell)
        store = build.store
        wanted = still_to_ask(store.tasks(), store.counts(), people.votes)
        if not wanted:
            return
        tell(f"People answer {len(wanted):,} tasks")
        before = store.assignments()
        votes = answer(
            store.tasks(),
            pool.truth,
            people.crowd,
            seed=seed,
            time=now(),
            people=wanted,
            before=before,
            barred=rejected_people(before),
        )
        import_votes(build, _written(votes, build.path / "exports" / f"simulated-votes-{turn + 1}.csv"))
        reject_people(build, people.reject_below, by="simulation")
    what = f"candidates still lack votes after people were asked {MOST_ASKED} times"
    raise UsageError(what, where="simulation", fix="Make the crowd better, or lower the accuracy on controls that it needs.")


def _written(votes: pa.Table, path: Path) -> Path:
    """Votes as a plain CSV file of results."""
    import pyarrow as pa
    import pyarrow.csv

    pairs = zip(votes["assignment"].to_pylist(), votes["person"].to_pylist(), strict=True)
    tasks = [assignment.removesuffix(f"-{person}") for assignment, person in pairs]
    columns = {"task": pa.array(tasks, pa.string()), "selected": votes["selected"].cast(pa.int8())}
    columns |= {name: votes[name] for name in ("person", "image", "assignment", "time")}
    pyarrow.csv.write_csv(pa.table(columns), path)
    return path


def _rounds(build: Build, pool: Pool, reviewers: Reviewers, seed: int, tell: Tell) -> tuple[tuple[Sampled, ...], bool]:
    """Review and sample until a round changes nothing."""
    rounds: list[Sampled] = []
    for turn in range(MOST_ROUNDS):
        tell(f"Review and sampling, round {turn + 1}")
        state = review_state(build)
        time = now()
        build.store.add_verdicts(judge_pairs(state.pairs, pool.truth, reviewers, seed=seed, time=time))
        build.store.add_verdicts(judge_images(state.images, pool.truth, reviewers, seed=seed, time=time))
        rounds.append(draw_revision(build))
        if review_state(build).converged:
            return tuple(rounds), True
    return tuple(rounds), False


def _exam(pool: Pool, folder: Path, seed: int, tell: Tell) -> Result:
    """Train models, ask them about the original and the release, and compare."""
    from resit.data.load import load_predictions
    from resit.evaluate.run import evaluate
    from resit.report import report
    from resit.simulate.models import train_models
    from resit.study.compare import compare

    tell("Training models")
    specs = train_models(pool.references, folder / MODELS, classes=pool.class_list, seed=seed)
    done = evaluate(specs, [pool.original, str(folder / RELEASE)], folder / ANSWERS, classes=pool.class_list, progress=tell)
    result = compare(*map(load_predictions, done.folders), seed=seed, progress=tell)
    report(result, folder / REPORT)
    return result


def _candidates(truth: pa.Table) -> pa.Table:
    import pyarrow.compute as pc

    return truth.filter(pc.equal(truth["role"], "candidate"))


def faults(rows: pa.Table, truth: pa.Table) -> dict[str, int]:
    """Planted faults among some images.

    Parameters
    ----------
    rows : pyarrow.Table
        Columns image and class_id.
    truth : pyarrow.Table
        TRUTH.

    Returns
    -------
    dict of str to int
        Wrong labels; copies of images that are no candidates; and copies beyond the first of each candidate.
    """
    there = list(zip(rows["image"].to_pylist(), rows["class_id"].to_pylist(), strict=True))
    known: dict[tuple[str, str], dict[str, Any]] = {
        (row["image"], row["class_id"]): row for row in truth.to_pylist() if row["role"] == "candidate"
    }
    if strange := [image for image, key in there if (image, key) not in known]:
        what = f"images of which nothing is known: {short_list(strange, 3)}"
        raise UsageError(what, where="simulation", fix="Is it the truth of another build?")
    found = [known[key] for key in there]
    own = {image for image, _ in known}
    copies = [row for row in found if row["twin"]]
    roots = [row["twin"] or row["image"] for row in found if not row["twin"] or row["twin"] in own]
    return {
        "wrong labels": sum(row["true_class"] != row["class_id"] for row in found),
        "copies of originals and training images": sum(row["twin"] not in own for row in copies),
        "second copies": len(roots) - len(set(roots)),
    }
