"""A build from candidates to convergence, by the steps that the commands use, with people who are made up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from extras import needs
from resit.build.config import VotesConfig
from resit.build.eligibility import eligible, voted
from resit.build.review import Review, review
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.sampling.run import sample
from resit.build.voting.plan import plan_tasks, still_to_ask
from resit.build.voting.quality import control_accuracy, reject_below
from resit.simulate.parts import Parts
from resit.simulate.people import Crowd, answer, counts_of_originals
from resit.simulate.pool import Pool
from resit.simulate.reviewers import Reviewers, judge_images, judge_pairs
from resit.store import Store, open_store
from resit.store.schemas import EXCLUDED, IMAGES, PAIRS, table

needs("sklearn")

CROWD = Crowd(60, skill=0.97, spam=0.1)
PER_CLASS, NEAREST = 15, 3


def rows_of(pool: Pool) -> pa.Table:
    blank = {name: [""] * len(pool.truth) for name in IMAGES}
    return table(
        IMAGES,
        blank | {name: pool.truth[name] for name in ("image", "class_id", "role")} | {"attributes": ["{}"] * len(pool.truth)},
    )


def pairs_of(parts: Parts, pool: Pool) -> pa.Table:
    """The nearest of references, originals and other candidates for each candidate, by plain distance."""
    import pyarrow.parquet as pq

    from resit.simulate.labelled import Labelled

    files = pq.read_table(pool.candidates)["image"].combine_chunks().field("bytes").to_pylist()
    candidates = Labelled(tuple(files), np.zeros(len(files), np.int64), pool.classes)
    everything = [candidates.digests, parts.references.digests, parts.original.digests]
    names = [name for some in everything for name in some]
    sets = [name for name, some in zip(("", "train", "original"), everything, strict=True) for _ in some]
    pixels = candidates.pixels(16)
    others = np.concatenate([pixels, parts.references.pixels(16), parts.original.pixels(16)])
    distance = (pixels**2).sum(axis=1)[:, None] - 2 * pixels @ others.T + (others**2).sum(axis=1)
    np.fill_diagonal(distance, np.inf)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :NEAREST]
    at = nearest.ravel().tolist()
    columns: dict[str, object] = {
        "metric": ["l2"] * len(at),
        "image": np.repeat(candidates.digests, NEAREST).tolist(),
        "other": [names[place] for place in at],
        "reference": [sets[place] for place in at],
        "distance": np.take_along_axis(distance, nearest, axis=1).ravel().astype(float),
        "rank": np.tile(np.arange(1, NEAREST + 1), len(pixels)),
    }
    return table(PAIRS, columns)


def duplicates_of(verdicts: pa.Table, pool: Pool) -> pa.Table:
    """Of each pair that was judged near, the candidate that goes."""
    candidates = set(pool.truth.filter(pc.equal(pool.truth["role"], "candidate"))["image"].to_pylist())
    out = set()
    for row in verdicts.to_pylist():
        if row["kind"] == "pair" and row["verdict"] in ("same", "near"):
            out.add(next(image for image in (row["image"], row["other"]) if image in candidates))
    names = sorted(out)
    return table(EXCLUDED, {"image": names, "class_id": [""] * len(names), "reason": ["near-duplicate"] * len(names)})


@dataclass
class Clock:
    second: int = 0

    def __call__(self) -> str:
        self.second += 1
        return f"2026-01-01T00:{self.second // 60:02}:{self.second % 60:02}Z"


@dataclass
class Done:
    selected: pa.Table
    verdicts: pa.Table
    votes: pa.Table
    excluded: dict[str, int]
    rounds: int
    valid: bool
    state: Review


def vote(store: Store, pool: Pool, images: pa.Table, seed: int, clock: Clock) -> None:
    """Ask until every candidate has votes enough of people who are good on controls."""
    settings = VotesConfig(task=24)
    ids = [info.id for info in pool.classes]
    similar = {name: tuple(other for other in ids if other != name) for name in ids}
    originals = images.filter(pc.equal(images["role"], "original"))
    store.add_tasks(plan_tasks(images, store.counts("candidate"), originals, similar, settings, seed).tasks)
    for _ in range(10):
        people = still_to_ask(store.tasks(), store.counts("candidate"), settings.people)
        if not people:
            return
        gone = store.assignments()
        barred = gone.filter(pc.equal(gone["status"], "rejected"))["person"].to_pylist()
        store.add_votes(
            answer(store.tasks(), pool.truth, CROWD, seed=seed, time=clock(), people=people, before=gone, barred=set(barred))
        )
        store.set_assignments(reject_below(store.votes(), 0.7, person="lead", time=clock()))
    pytest.fail("people are still to be asked after ten rounds")


def build(parts: Parts, pool: Pool, path: Path, seed: int, care: float = 1.0) -> Done:
    clock, reviewers, images = Clock(), Reviewers(2, care), rows_of(pool)
    pairs = pairs_of(parts, pool)
    with open_store(path, create=True) as store:
        store.add_images(images)
        store.add_counts(counts_of_originals(pool.truth, CROWD, seed=seed))
        vote(store, pool, images, seed, clock)
        store.add_verdicts(judge_pairs(pairs, pool.truth, reviewers, seed=seed, time=clock()))
        previous = None
        for turn in range(1, 20):
            found = eligible(images, store.counts("candidate"), store.verdicts(), duplicates_of(store.verdicts(), pool))
            originals = voted(images, store.counts(), "original")
            drawn = sample(MatchedFrequency(), found.candidates, originals, previous, pool.classes, PER_CLASS, seed=seed)
            state = review(drawn.selected, previous, store.verdicts(), pairs)
            if state.converged:
                return Done(
                    drawn.selected, store.verdicts(), store.votes(accepted=False), found.counts, turn, drawn.valid, state
                )
            store.add_verdicts(judge_images(state.images, pool.truth, reviewers, seed=seed, time=clock()))
            previous = drawn.selected
    raise AssertionError("no convergence in 19 rounds")


@pytest.fixture(scope="module")
def done(parts: Parts, pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Done:
    return build(parts, pool, tmp_path_factory.mktemp("build") / "build.sqlite", 7)


def planted(pool: Pool, kind: str) -> set[str]:
    return set(pool.truth.filter(pc.equal(pool.truth["planted"], kind))["image"].to_pylist())


def test_rounds_of_review_end_with_a_valid_selection(done: Done):
    assert done.valid
    assert len(done.selected) == 10 * PER_CLASS
    assert 2 <= done.rounds < 19
    assert (done.state.left, done.state.came, done.state.went) == (0, 0, 0)


def test_spammers_fail_the_controls(done: Done):
    people = CROWD.people(7)
    spammers = set(people.filter(people["spammer"])["person"].to_pylist())
    accuracy = {row["person"]: row["accuracy"] for row in control_accuracy(done.votes).to_pylist()}
    assert len(spammers) == 6
    assert max(accuracy[name] for name in spammers) < 0.7 < min(accuracy[name] for name in accuracy.keys() - spammers)


def test_planted_wrong_labels_disappear(done: Done, pool: Pool):
    assert not set(done.selected["image"].to_pylist()) & planted(pool, "wrong-label")
    assert done.excluded["blacklisted"] > 0


def test_planted_near_duplicates_disappear(done: Done, pool: Pool):
    truth = {row["image"]: row for row in pool.truth.to_pylist()}
    selected = set(done.selected["image"].to_pylist())
    copies = selected & planted(pool, "near-duplicate")
    twins = {truth[image]["twin"] for image in copies}
    kept_of_candidates = {image for image in twins if image in truth and truth[image]["role"] == "candidate"}
    assert twins == kept_of_candidates  # no copy of a reference or an original
    assert not selected & twins  # and of a copied candidate one at most
    assert done.excluded["near-duplicate"] == 30


def test_the_seed_decides_the_whole_build(parts: Parts, pool: Pool, done: Done, tmp_path: Path):
    again = build(parts, pool, tmp_path / "again.sqlite", 7)
    assert again.selected.equals(done.selected)
    assert again.verdicts.equals(done.verdicts)
    assert again.votes.equals(done.votes)
    other = build(parts, pool, tmp_path / "other.sqlite", 8)
    assert not other.selected.equals(done.selected)


def test_blind_reviewers_let_wrong_labels_through(parts: Parts, pool: Pool, tmp_path: Path):
    blind = build(parts, pool, tmp_path / "blind.sqlite", 7, care=0.0)
    assert set(blind.selected["image"].to_pylist()) & planted(pool, "wrong-label")
    assert blind.rounds == 2
