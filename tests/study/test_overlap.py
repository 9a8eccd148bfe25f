"""What two new sets share, and how their difference takes it into account."""

from __future__ import annotations

import numpy as np
import pytest
from made import FEW, accuracies, predictions

import resit
from resit import UsageError
from resit.study.overlap import Shared, shared_variance

OLD = [0.6, 0.7, 0.8, 0.9]


def ids(start: int, n: int = 400) -> np.ndarray:
    return np.array([f"e{at:04}" for at in range(start, start + n)])


def compare(*new: resit.Predictions, **more) -> resit.Result:
    return resit.compare(predictions("old", OLD), *new, **FEW, **more)


def test_case_33_overlap_from_real_ids():
    first, second = predictions("a", OLD, ids=ids(0)), predictions("b", OLD, seed=1, ids=ids(300))
    (found,) = compare(first, second).overlaps
    assert (found.shared, found.source) == (100, "example ids")
    assert found.difference.low is not None


def test_case_33_never_from_positions():
    (found,) = compare(predictions("a", OLD), predictions("b", OLD)).overlaps
    assert (found.shared, found.source, found.difference.low) == (None, "not known", None)
    assert "--overlap" in found.difference.reason


def test_case_33_overlap_that_the_user_knows_makes_the_interval_narrower():
    first, second = predictions("a", OLD), predictions("b", OLD, seed=1)
    apart, close = (compare(first, second, overlap={("b", "a"): m}).overlaps[0] for m in (0, 360))
    assert close.source == "told by the user"
    widths = [one.difference.high - one.difference.low for one in (apart, close)]
    assert widths[1] == pytest.approx(widths[0] * np.sqrt(1 - 360 / 400), rel=0.05)


def test_case_33_original_against_new_is_not_touched_by_it():
    first, second = predictions("a", OLD), predictions("b", OLD, seed=1)
    apart, close = (compare(first, second, overlap={("a", "b"): m}) for m in (0, 360))
    assert apart.comparisons == close.comparisons


def test_more_shared_examples_than_there_are_is_refused():
    with pytest.raises(UsageError, match="401 shared examples do not fit"):
        compare(predictions("a", OLD), predictions("b", OLD), overlap={("a", "b"): 401})


def test_figures_alone_have_a_difference_without_interval():
    result = resit.compare(*(accuracies(name, OLD, 100) for name in ("old", "a", "b")), overlap={("a", "b"): 5}, **FEW)
    assert result.overlaps[0].difference.estimate == 0
    assert "answers" in result.overlaps[0].difference.reason


def test_variance_of_the_difference_agrees_with_simulation():
    """Sets of 300 and 200 that share 150 examples, drawn anew many times."""
    rng = np.random.default_rng(0)
    differences, told, exact = [], [], []
    for _ in range(4_000):
        pool = rng.beta(4, 1, 350)
        a, b = pool[:300], pool[150:]
        differences.append(a.mean() - b.mean())
        rows = np.arange(150, 300), np.arange(150)
        exact.append(shared_variance(a, b, Shared(150, "example ids", rows)))
        told.append(shared_variance(a, b, Shared(150, "told by the user")))
    assert np.mean(exact) == pytest.approx(np.var(differences), rel=0.07)
    assert np.mean(told) == pytest.approx(np.var(differences), rel=0.07)


def test_case_33_ids_that_number_rows_are_positions():
    rows = np.arange(400).astype(str)
    (found,) = compare(predictions("a", OLD, ids=rows), predictions("b", OLD, seed=1, ids=rows)).overlaps
    assert (found.shared, found.source) == (None, "not known")


def test_case_33_ids_and_the_user_may_not_contradict_each_other():
    first, second = predictions("a", OLD, ids=ids(0)), predictions("b", OLD, seed=1, ids=ids(300))
    with pytest.raises(UsageError, match="5 shared examples are told, but by their ids they share 100"):
        compare(first, second, overlap={("a", "b"): 5})


def test_case_33_a_part_of_a_known_set_is_not_that_set():
    (found,) = compare(predictions("cifar10.1-v4", OLD), predictions("cifar10.1-v6", OLD, seed=1)).overlaps
    assert found.shared is None


def test_case_33_files_that_are_only_numbered_are_no_identity():
    numbered = np.array([f"dog/{i}.jpg" for i in range(400)])
    named = np.array([f"dog/rex-{i}.jpg" for i in range(400)])
    found = [compare(predictions("a", OLD, ids=ids), predictions("b", OLD, ids=ids)).overlaps[0] for ids in (numbered, named)]
    assert [one.shared for one in found] == [None, 400]
