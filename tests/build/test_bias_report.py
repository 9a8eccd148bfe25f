"""The bias report: on the real votes of people, on a pool whose truth is known, and what it says where it cannot tell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pools_made import RealVotes, classes, real_votes, rows, shuffled

from resit.build.bias import bias_report
from resit.build.bias_record import BiasReport
from resit.build.sampling import sample
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.sampling.uniform import Uniform
from resit.errors import InputError, UsageError
from resit.store.schemas import SELECTED, table

KEYS = ("image", "class_id")


def selected_of(counts: pa.Table) -> pa.Table:
    """All of a pool, as a selection."""
    zeros = np.zeros(len(counts), np.int64)
    made = {name: counts[name] for name in (*KEYS, "selected", "shown")}
    return table(SELECTED, {**made, "bin": zeros, "fate": ["drawn"] * len(counts)})


def correctness(counts: pa.Table, correct: np.ndarray) -> pa.Table:
    return pa.table({**{name: counts[name] for name in KEYS}, "correct": correct})


@pytest.fixture(scope="module")
def votes(shared_data: Path) -> RealVotes:
    return real_votes(shared_data)


@pytest.fixture(scope="module")
def estimates(votes: RealVotes) -> dict[int, np.ndarray]:
    """By number of votes, a row a split: first half's accuracy less 0.930; then the second's, naive, jackknife and parametric.

    The test set is split at random, and of the second half all are kept with a frequency up to .97 and a quarter of the
    others, so that it is harder on purpose. The estimates are moved to a first half of 0.930.
    """
    found: dict[int, list[list[float]]] = {5: [], 10: [], 20: [], 40: []}
    for split in range(12):
        rng = np.random.default_rng(split)
        order = rng.permutation(10_000)
        first, second = order[:5_000], order[5_000:]
        second = second[((votes.selected / votes.shown)[second] <= 0.97) | (rng.random(5_000) < 0.25)]
        for number, lists in found.items():
            drawn = votes.drawn(number, rng)
            old, new = (votes.table(places, drawn, number) for places in (first, second))
            told = bias_report(
                old, selected_of(new), new, correct_new=correctness(new, votes.correct[second]),
                chosen_by_votes=False, votes=number, resamples=2,
            )  # fmt: skip
            moved = votes.correct[first].mean() - 0.930
            values = [told.mean.new.value, told.mean.naive.value, told.mean.jackknife.value, told.mean.parametric.value]
            lists.append([moved, *(value - moved for value in values if value is not None)])
    return {number: np.array(lists) for number, lists in found.items()}


@pytest.mark.parametrize(("number", "naive"), [(5, 0.911), (10, 0.916), (20, 0.921), (40, 0.927)])
def test_naive_on_real_votes(estimates: dict[int, np.ndarray], number: int, naive: float):
    assert np.abs(estimates[number][:, 0]).max() < 0.005
    assert estimates[number][:, 1].mean() == pytest.approx(0.899, abs=0.005)
    assert estimates[number][:, 2].mean() == pytest.approx(naive, abs=0.003)


@pytest.mark.parametrize(("number", "jackknife", "tolerance"), [(10, 0.923, 0.004), (20, 0.929, 0.005)])
def test_the_jackknife_on_real_votes(estimates: dict[int, np.ndarray], number: int, jackknife: float, tolerance: float):
    assert estimates[number][:, 3].mean() == pytest.approx(jackknife, abs=tolerance)


@pytest.mark.parametrize("number", [5, 10, 20, 40])
def test_mixtures_on_real_votes(estimates: dict[int, np.ndarray], number: int):
    assert 0.92 <= estimates[number][:, 4].mean() <= 0.935
    assert estimates[number][:, 4].std() < 0.01


@pytest.mark.parametrize("number", [5, 10, 20])
def test_the_parametric_estimate_is_nearer_than_the_naive_one(estimates: dict[int, np.ndarray], number: int):
    naive, parametric = (abs(estimates[number][:, column].mean() - 0.930) for column in (2, 4))
    assert parametric < naive / 2


class World:
    """Originals are easy and the pool is hard; ten votes on each. The truth is known."""

    def __init__(self, strategy: MatchedFrequency | Uniform, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.s = {"o": rng.beta(6, 2, 3_000), "n": rng.beta(3, 2, 12_000)}
        counts = {name: rng.binomial(10, s) for name, s in self.s.items()}
        self.old, self.pool = (
            rows((f"{name}{i:05}", "a", int(k), 10) for i, k in enumerate(counts[name])) for name in ("o", "n")
        )
        self.drawn = sample(strategy, self.pool, self.old, None, classes("a"), 2_000).selected
        self.chosen = np.array([int(image[1:]) for image in self.drawn["image"].to_pylist()])
        self.s_new = self.s["n"][self.chosen]
        self.fresh = rows((f"n{i:05}", "a", int(k), 20) for i, k in zip(self.chosen, rng.binomial(20, self.s_new), strict=True))
        self.right = {name: (rng.random((len(s), 30)) < self.accuracy(s)[:, None]).mean(axis=1) for name, s in self.s.items()}
        self.correct_old = correctness(self.old, self.right["o"])
        self.correct_new = correctness(self.drawn, self.right["n"][self.chosen])

    @staticmethod
    def accuracy(s: np.ndarray) -> np.ndarray:
        return 0.3 + 0.65 * s**2


@pytest.fixture(scope="module")
def world() -> World:
    return World(MatchedFrequency())


def near(figure: object, truth: float, tolerance: float) -> bool:
    value = getattr(figure, "value", None)
    return value is not None and abs(value - truth) < tolerance


def test_before_release_the_shift_is_told_and_votes_that_chose_the_images_are_not_asked(world: World):
    told = bias_report(world.old, world.drawn, world.pool, correct_original=world.correct_old, resamples=20)
    assert near(told.original.observed, world.s["o"].mean(), 0.01)
    # Bins are wide, so the means of observed frequencies are alike, not equal.
    assert near(told.new.observed, told.original.observed.value or 0, 0.015)
    assert near(told.original.true, world.s["o"].mean(), 0.01)
    assert near(told.new.true, world.s_new.mean(), 0.01)
    shift = world.s_new.mean() - world.s["o"].mean()
    assert shift < -0.03
    assert near(told.frequency_shift, shift, 0.012)
    assert near(told.accuracy_shift, world.accuracy(world.s_new).mean() - world.accuracy(world.s["o"]).mean(), 0.012)
    for figure in (told.mean.naive, told.mean.jackknife):
        assert figure.value is None
        assert "get fresh votes" in figure.reason
    assert "no model's correctness" in told.mean.parametric.reason
    assert "no fresh votes" in told.fresh_frequency.reason


def test_models_on_the_new_set_give_the_accuracy_that_matching_meant_to_measure(world: World):
    told = bias_report(world.old, world.drawn, world.pool, correct_new=world.correct_new, resamples=20)
    target = world.accuracy(world.s["o"]).mean()
    assert told.mean.new.value is not None
    assert told.mean.new.value < target - 0.025
    assert near(told.mean.parametric, target, 0.012)
    assert told.mean.naive.value is None
    assert "no model's correctness" in told.accuracy_shift.reason


def test_fresh_votes_make_all_three_estimates_possible(world: World):
    told = bias_report(world.old, world.drawn, world.pool, fresh=world.fresh, correct_new=world.correct_new, resamples=20)
    target = world.accuracy(world.s["o"]).mean()
    assert near(told.fresh_frequency, world.s_new.mean(), 0.006)
    assert near(told.new.true, world.s_new.mean(), 0.006)
    without = bias_report(world.old, world.drawn, world.pool, resamples=20)
    assert told.new.true.value != without.new.true.value
    assert told.mean.new.value is not None
    assert told.mean.naive.value is not None
    assert told.mean.new.value + 0.01 < told.mean.naive.value < target
    assert near(told.mean.jackknife, target, 0.02)
    assert near(told.mean.parametric, target, 0.012)
    assert told.left_out == {"originals without votes": 0, "originals with few votes": 0, "new images with few votes": 0}


def test_votes_that_did_not_choose_the_images_may_measure_them():
    world = World(Uniform())
    told = bias_report(
        world.old, world.drawn, world.pool, correct_new=world.correct_new, chosen_by_votes=Uniform.by_votes, resamples=2
    )
    target = world.accuracy(world.s["o"]).mean()
    assert told.mean.new.value is not None
    assert told.mean.naive.value is not None
    assert told.mean.jackknife.value is not None
    assert told.mean.new.value + 0.05 < told.mean.naive.value < told.mean.jackknife.value < target
    assert told.uncovered is not None


def test_images_with_few_votes_are_left_out_and_counted(world: World):
    old = pa.concat_tables([world.old, rows([("x1", "a", 0, 0), ("x2", "a", 3, 9)])])
    fresh = world.fresh.slice(5)
    told = bias_report(old, world.drawn, world.pool, fresh=fresh, correct_new=world.correct_new, resamples=2)
    assert told.left_out == {"originals without votes": 1, "originals with few votes": 1, "new images with few votes": 5}
    assert told.original.images == 3_001
    told = bias_report(old, world.drawn, world.pool, fresh=fresh, correct_new=world.correct_new, resamples=2, votes=50)
    assert told.mean.naive.reason == "no original or no new image has 50 votes"


def test_a_report_is_plain_values_and_readable(world: World):
    told = bias_report(world.old, world.drawn, world.pool, correct_original=world.correct_old, resamples=2)
    back = json.loads(json.dumps(told.to_record()))
    assert back["new"]["images"] == 2_000
    assert back["mean"]["naive"]["value"] is None
    assert len(back["mixtures"]["pool"]["betas"][0]) == 3
    lines = str(told).splitlines()
    assert lines[0].startswith("original: 3,000 images with votes; frequency 0.7")
    assert lines[2].startswith("true frequency, new minus original: -0.0")
    assert "naive: not available (the votes chose these images" in lines[6]


def test_the_order_of_rows_changes_nothing(world: World):
    def told(seed: int | None) -> BiasReport:
        given = [world.old, world.drawn, world.pool, world.fresh, world.correct_new]
        old, drawn, pool, fresh, correct = given if seed is None else [shuffled(one, seed) for one in given]
        return bias_report(old, drawn, pool, fresh=fresh, correct_new=correct, resamples=3)

    assert told(None) == told(1)


@pytest.mark.parametrize("empty", ["originals", "selected"])
def test_without_votes_or_images_there_are_reasons_and_no_figures(world: World, empty: str):
    none = rows([("o", "a", 0, 0)])
    told = bias_report(
        none if empty == "originals" else world.old, world.drawn.slice(0, 0) if empty == "selected" else world.drawn, world.pool
    )
    reason = "no original image has votes" if empty == "originals" else "no image is selected"
    for figure in (
        told.frequency_shift,
        told.mean.naive,
        told.mean.jackknife,
        told.mean.parametric,
        told.accuracy_shift,
        told.new.true,
    ):
        assert (figure.value, figure.reason) == (None, reason)
    assert str(told)
    assert json.dumps(told.to_record())


def test_a_fit_that_ended_at_a_bound_is_told_at_the_top(world: World):
    told = bias_report(world.old, world.drawn, world.pool, resamples=2)
    assert "ended" not in str(told)
    fit = told.mixtures["pool"]
    for change, end in (({"at_boundary": True}, "at a bound"), ({"converged": False}, "before a maximum")):
        taken = [replace(one, **change) if one.components == len(fit.betas) else one for one in fit.trials]
        other = replace(told, mixtures={**told.mixtures, "pool": replace(fit, trials=tuple(taken))})
        warned = f"The fit of the pool's true frequencies ended {end}: single peaks of its curve may be no real ones."
        assert warned in other.summary


@pytest.mark.parametrize("delete", [0, 10])
def test_votes_to_leave_out_are_refused_without_a_jackknife_too(world: World, delete: int):
    with pytest.raises(UsageError, match=f"{delete} of 10 votes to leave out"):
        bias_report(world.old, world.drawn, world.pool, resamples=2, delete=delete)
    assert bias_report(world.old, world.drawn, world.pool, resamples=2, votes=1).mean.jackknife.value is None


def test_what_does_not_fit_together_is_refused(world: World):
    with pytest.raises(InputError, match="not in the pool"):
        bias_report(world.old, world.drawn, world.pool.slice(0, 9))
    with pytest.raises(InputError, match="2,999 images without correctness"):
        bias_report(world.old, world.drawn, world.pool, correct_original=world.correct_old.slice(0, 1))
    with pytest.raises(InputError, match="an image twice"):
        bias_report(pa.concat_tables([world.old, world.old]), world.drawn, world.pool)
    twice = pa.concat_tables([world.correct_old, world.correct_old])
    with pytest.raises(InputError, match="correctness on an image twice"):
        bias_report(world.old, world.drawn, world.pool, correct_original=twice)
    wrong = correctness(world.drawn, np.full(len(world.drawn), 1.5))
    with pytest.raises(UsageError, match="not one number from 0 to 1"):
        bias_report(world.old, world.drawn, world.pool, correct_new=wrong)
