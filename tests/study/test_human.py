"""People's accuracy against an independent computation, the binomial by hand, and simulated people."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made import FEW, predictions
from scipy import stats

from resit.build.exam.record import ExamAnswers, ModelRight, Question, Sheet
from resit.errors import InputError, UsageError
from resit.stats.crossed import crossed_means
from resit.study.compare import compare
from resit.study.human import human_accuracy
from resit.study.human_result import HumanAccuracy
from resit.study.result import Result

TIME = "2026-02-01T12:00:00Z"
RIGHT, WRONG = "a", "b"


def exam(marks: dict[str, tuple[list[int], list[int]]], *, handed_in: bool = True, **more: object) -> ExamAnswers:
    """An exam in which people are right (1) or wrong (0) on original and new images; None: no answer, -1: do not know."""
    sizes = [len(part) for part in next(iter(marks.values()))]
    origins = ["original"] * sizes[0] + ["new"] * sizes[1]
    questions = tuple(Question(f"{origin} {at}", (RIGHT,), origin) for at, origin in enumerate(origins))  # type: ignore[arg-type]
    word = {1: RIGHT, 0: WRONG, None: None, -1: ""}
    sheets = [
        Sheet(person, tuple(word[one] for one in (*old, *new)), TIME if handed_in else None)
        for person, (old, new) in marks.items()
    ]
    return dataclasses.replace(ExamAnswers("Exam 1", "pets 1.0", "At random.", questions, tuple(sheets), 2), **more)


def ones(k: int, n: int) -> list[int]:
    return [1] * k + [0] * (n - k)


def wilson(k: int, n: int, z: float = stats.norm.ppf(0.975)) -> tuple[float, float]:
    """By the roots of |p - k/n| = z sqrt(p (1 - p) / n)."""
    low, high = sorted(np.roots([n + z**2, -(2 * k + z**2), k**2 / n]).real)
    return low, high


@given(st.integers(1, 30), st.integers(1, 30), st.data())
@settings(deadline=None, max_examples=40)
def test_one_person_against_definitions(n: int, m: int, data: st.DataObject):
    k, j = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    found = human_accuracy(exam({"Ann": (ones(k, n), ones(j, m))}))
    (row,) = found.people
    for marks, right, size in ((row.original, k, n), (row.new, j, m)):
        assert (marks.correct, marks.n) == (right, size)
        exact = stats.binomtest(right, size).proportion_ci(0.95, "exact")
        assert (marks.accuracy.low, marks.accuracy.high) == pytest.approx((exact.low, exact.high))
    p, q = k / n, j / m
    (l1, u1), (l2, u2) = wilson(k, n), wilson(j, m)
    low, high = q - p - math.hypot(q - l2, u1 - p), q - p + math.hypot(u2 - q, p - l1)
    assert (row.change.estimate, row.change.low, row.change.high) == pytest.approx((q - p, low, high), abs=1e-9)
    assert found.pooled is not None
    assert (found.pooled.n_people, found.pooled.change) == (1, row.change)
    assert "one-person" in {warning.code for warning in found.warnings}


def test_pooled_against_a_plain_loop():
    rng = np.random.default_rng(4)
    old, new = rng.random((4, 25)) < 0.8, rng.random((4, 30)) < 0.6
    marks = {f"p{at}": (old[at].astype(int).tolist(), new[at].astype(int).tolist()) for at in range(4)}
    found = human_accuracy(exam(marks), resamples=20_000).pooled
    assert found is not None
    means = np.mean([new[at].mean() - old[at].mean() for at in range(4)])
    assert found.change.estimate == pytest.approx(means)
    loop = []
    for _ in range(6_000):
        people, some, others = rng.integers(4, size=4), rng.integers(25, size=25), rng.integers(30, size=30)
        loop.append(new[np.ix_(people, others)].mean() - old[np.ix_(people, some)].mean())
    assert (found.change.low, found.change.high) == pytest.approx(tuple(np.quantile(loop, [0.025, 0.975])), abs=0.012)
    assert found.change.method == "crossed percentile bootstrap over persons and images"


def test_people_share_images_so_more_people_do_not_make_images_more():
    """Everybody right on the same images: the interval is that of the images, however many people there are."""
    few, many = (
        human_accuracy(exam({f"p{at}": (ones(30, 40), ones(20, 40)) for at in range(count)})).pooled for count in (2, 40)
    )
    assert few is not None
    assert many is not None
    widths = [one.change.high - one.change.low for one in (few, many)]
    by_hand = 2 * 1.96 * math.sqrt((0.75 * 0.25 + 0.25) / 40)
    assert widths == pytest.approx([by_hand, by_hand], rel=0.08)


@given(st.permutations(range(6)), st.permutations(range(3)))
@settings(deadline=None, max_examples=15)
def test_no_order_matters(order: list[int], people: list[int]):
    marks = {"Ann": ([1, 0, 1], [0, 0, 1]), "Bo": ([1, 1, 1], [None, 0, 1]), "Cy": ([0, 0, 1], [-1, 1, 1])}
    first = exam(marks)
    sheets = [dataclasses.replace(sheet, answers=tuple(sheet.answers[at] for at in order)) for sheet in first.sheets]
    mixed = dataclasses.replace(
        first, questions=tuple(first.questions[at] for at in order), sheets=tuple(sheets[at] for at in people)
    )
    assert human_accuracy(mixed, resamples=500) == human_accuracy(first, resamples=500)


def test_no_answer_and_do_not_know_are_wrong_and_told():
    found = human_accuracy(exam({"Ann": ([1, None, -1, 0], [None, 1])}))
    old, new = found.people[0].original, found.people[0].new
    assert (old.correct, old.n, old.unanswered, old.unknown) == (1, 4, 1, 1)
    assert (new.correct, new.n, new.unanswered, new.unknown) == (1, 2, 1, 0)
    (told,) = [warning for warning in found.warnings if warning.code == "unanswered"]
    assert (told.where, told.message) == ("Ann", "2 images of 6 without an answer, counted as wrong.")


def test_any_accepted_label_is_right_and_an_empty_answer_never_is():
    questions = (Question("x", ("a", "b"), "original"), Question("y", ("b",), "new"))
    sheets = tuple(Sheet(name, pair, TIME) for name, pair in (("Ann", ("b", "b")), ("Bo", ("a", "a")), ("Cy", ("", ""))))
    found = human_accuracy(ExamAnswers("E", "p", "r", questions, sheets, 2))
    assert [(row.original.correct, row.new.correct) for row in found.people] == [(1, 1), (1, 0), (0, 0)]


def test_only_what_was_handed_in_counts_and_the_rest_is_named():
    both = exam({"Ann": ([1, 1], [0, 0]), "Bo": ([0, 0], [1, None])})
    sheets = (both.sheets[0], dataclasses.replace(both.sheets[1], handed_in=None))
    found = human_accuracy(dataclasses.replace(both, sheets=sheets))
    assert [row.person for row in found.people] == ["Ann"]
    assert [(one.person, one.answered, one.n) for one in found.partial] == [("Bo", 3, 4)]
    assert "Bo (3 of 4)" in str(found)
    nobody = human_accuracy(exam({"Ann": ([1], [1])}, handed_in=False))
    assert (nobody.people, nobody.pooled, nobody.verdict) == ((), None, ())
    assert nobody.reason == "nobody has handed the exam in"
    assert nobody.reason in str(nobody)


def test_models_stand_beside_on_the_same_images():
    models = (ModelRight("m1", 3, 1), ModelRight("m2", 1, 1), ModelRight("m3", 2, None))
    found = human_accuracy(exam({"Ann": (ones(4, 4), ones(2, 4))}, models=models, chosen_by_models=True)).models
    assert found is not None
    assert (found.mean_original, found.mean_new, found.mean_change) == (0.5, 0.25, -0.25)
    assert (found.left_out, found.chose_the_images) == (("m3",), True)
    told = {
        warning.code for warning in human_accuracy(exam({"Ann": ([1], [1])}, models=models, chosen_by_models=True)).warnings
    }
    assert {"chosen-by-models", "models-on-one-set"} <= told
    assert human_accuracy(exam({"Ann": ([1], [1])})).models is None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (ones(95, 100), ones(50, 100), "people find the new images harder"),
        (ones(50, 100), ones(95, 100), "people find the new images easier"),
        (ones(80, 100), ones(78, 100), "do not tell the two apart"),
    ],
)
def test_the_verdict_says_what_the_interval_says(old: list[int], new: list[int], told: str):
    found = human_accuracy(exam({f"p{at}": (old, new) for at in range(3)}))
    assert any(told in sentence for sentence in found.verdict), found.verdict
    assert "few-people" in {warning.code for warning in found.warnings}


def test_all_alike_has_no_interval_and_says_why():
    found = human_accuracy(exam({name: ([1] * 9, [1] * 9) for name in ("Ann", "Bo")}))
    assert found.pooled is not None
    assert (found.pooled.change.estimate, found.pooled.change.low) == (0.0, None)
    assert "all alike" in (found.pooled.change.reason or "") or "are alike" in (found.pooled.change.reason or "")
    assert any("not decided" in sentence for sentence in found.verdict)


def test_seen_before_is_told():
    found = exam({"Ann": ([1], [1])})
    found = dataclasses.replace(found, sheets=(dataclasses.replace(found.sheets[0], seen=2),))
    (told,) = [warning for warning in human_accuracy(found).warnings if warning.code == "seen-before"]
    assert "2 of the 2 images" in told.message


def test_what_does_not_fit_is_refused():
    fine = exam({"Ann": ([1], [1])})
    with pytest.raises(UsageError, match="confidence level"):
        human_accuracy(fine, level=1.0)
    with pytest.raises(UsageError, match="50 resamples"):
        human_accuracy(fine, resamples=10)
    with pytest.raises(UsageError, match="both kinds"):
        human_accuracy(exam({"Ann": ([1], [])}))


def test_it_is_written_and_read_back():
    models = (ModelRight("m1", 3, 1),)
    found = human_accuracy(exam({"Ann": (ones(4, 4), ones(2, 4)), "Bo": (ones(3, 4), [None, 1, -1, 0])}, models=models))
    assert HumanAccuracy.from_json(found.to_json()) == found
    assert "<table>" in found._repr_html_()
    with pytest.raises(InputError, match="not a result of schema"):
        HumanAccuracy.from_json("{}")


def test_a_comparison_carries_it_and_older_results_are_read_without():
    human = human_accuracy(exam({"Ann": (ones(4, 4), ones(2, 4)), "Bo": (ones(3, 4), ones(1, 4))}))
    sets = [predictions(name, [0.6, 0.7, 0.8, 0.9], seed=at) for at, name in enumerate(("old", "new"))]
    result = compare(*sets, human=human, **FEW)
    assert Result.from_json(result.to_json()) == result
    assert result.human == human
    assert human.verdict[0] in str(result)
    bare = compare(*sets, **FEW)
    import json

    older = json.loads(bare.to_json())
    assert older.pop("human") is None
    assert Result.from_json(json.dumps(older)) == bare


@given(st.integers(2, 5), st.integers(1, 12), st.integers(1, 12), st.integers(0, 3))
@settings(deadline=None, max_examples=20)
def test_replicates_lie_where_means_can(people: int, n: int, m: int, seed: int):
    rng = np.random.default_rng(seed)
    old, new = rng.random((people, n)) < 0.5, rng.random((people, m)) < 0.5
    drawn = crossed_means(rng, old, new, 200)
    assert drawn.shape == (200, 2)
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    assert np.all(np.isclose(drawn[:, 0] * people * n, np.round(drawn[:, 0] * people * n)))


@pytest.mark.slow
@pytest.mark.parametrize("people", [3, 5, 10])
@pytest.mark.parametrize("spread", [0.3, 1.0])  # of images, beside that of persons, on the probit scale
def test_the_pooled_interval_covers(people: int, spread: float):
    """Persons and images are drawn anew each time; what must be covered is the difference over all of both."""
    rng = np.random.default_rng(people)
    middle, shift, own, apart = 0.8, 0.3, 0.3, 0.1
    scale = math.sqrt(1 + spread**2 + own**2 + apart**2)
    truth = stats.norm.cdf((middle - shift) / scale) - stats.norm.cdf(middle / scale)
    covered, runs = 0, 500
    for _ in range(runs):
        person = rng.normal(0, own, (people, 1))
        sets = []
        for mean in (middle, middle - shift):
            ease = mean + person + rng.normal(0, apart, (people, 1)) + rng.normal(0, spread, 60)
            sets.append(rng.normal(size=(people, 60)) < ease)
        drawn = crossed_means(rng, *sets, 600)
        low, high = np.quantile(drawn[:, 1] - drawn[:, 0], [0.025, 0.975])
        covered += low <= truth <= high
    assert covered / runs >= 0.93
