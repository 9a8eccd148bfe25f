"""Power for a swap, against drawing answers and applying the rule for swaps itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made import accuracies, predictions

import resit
from resit import UsageError
from resit.data.repairs import pick
from resit.stats.pairs import PairTests, compare_pairs, mcnemar_exact, swapped_pairs


def drawn_tests(rng: np.random.Generator, n: int, difference: float, discordance: float) -> PairTests:
    """Two models on n examples."""
    win, lose = (discordance + difference) / 2, (discordance - difference) / 2
    both, first, second, _ = rng.multinomial(n, [0.6, win, lose, 0.4 - discordance])
    counts = np.array([[both + first, both], [both, both + second]])
    return PairTests(counts, n, mcnemar_exact([first], [second]))


def test_the_chance_is_that_of_the_rule_for_swaps():
    found = resit.plan_swap(0.04, new_difference=0.06, discordance=0.2, new_discordance=0.3, n=1_000, new_n=500)
    rng, swaps = np.random.default_rng(1), 0
    for _ in range(4_000):
        pairs, _ = swapped_pairs(drawn_tests(rng, 1_000, 0.04, 0.2), drawn_tests(rng, 500, -0.06, 0.3), 0.95)
        swaps += pairs.tolist() == [[0, 1]]
    assert found.chance.both == pytest.approx(swaps / 4_000, abs=4 * np.sqrt(0.25 / 4_000))
    assert found.chance.both == pytest.approx(found.chance.original * found.chance.new)


def many(rng: np.random.Generator, n: int, swapped: bool) -> PairTests:
    """Two near models that change places, and three that are clearly worse on both sets."""
    ease, better = rng.random(n), 0.1 * (rng.random((2, n)) - 0.5)
    level = [0.75, 0.70] if not swapped else [0.70, 0.75]
    right = [ease + noise < one for one, noise in zip(level, better, strict=True)]
    return compare_pairs(np.array([*right, *(ease < one for one in (0.5, 0.35, 0.2))]))


def test_clear_pairs_go_first_so_holm_asks_for_less():
    """Nine of ten pairs are clear on both sets; the rule then asks of the tenth what it would ask of one pair alone."""
    rng = np.random.default_rng(2)
    wins = {"one": 0, "all": 0}
    for _ in range(400):
        one, two = many(rng, 180, False), many(rng, 180, True)
        wins["all"] += [0, 1] in swapped_pairs(one, two, 0.95)[0].tolist()
        alone = [PairTests(tests.both[:2, :2], 180, tests.p[:1]) for tests in (one, two)]
        wins["one"] += [0, 1] in swapped_pairs(*alone, 0.95)[0].tolist()
    assert 0.2 < wins["one"] / 400 < 0.95
    assert wins["all"] == wins["one"]


def test_pairs_that_are_clear_in_runs_are_counted():
    runs = [predictions(name, [0.2, 0.4, 0.6, 0.61], n=600, seed=at) for at, name in enumerate(("old", "new"))]
    found = resit.plan_swap(0.02, runs=runs)
    assert (found.models, found.pairs, found.clear) == (4, 6, 5)
    assert found.threshold == pytest.approx(0.05)
    assert (found.n, found.new_n) == (600, 600)
    more = resit.plan_swap(0.02, runs=runs, count=5)
    assert (more.pairs, more.clear) == (10, 8)


def test_discordance_of_near_pairs_on_imagenet(shared_data: Path):
    sets = [resit.load_predictions(shared_data / "imagenetv2" / name) for name in ("val", "matched-frequency")]
    found = resit.plan_swap(0.01, runs=[pick(one, exclude=["fv_*"]) for one in sets])
    assert found.discordance == pytest.approx(0.115, abs=0.001)
    assert (found.models, found.pairs) == (64, 2_016)
    assert resit.plan(0.76, 0.01, discordance=sets[0]).n == pytest.approx(9_024, rel=0.01)


def test_the_needed_numbers_are_the_smallest_that_give_the_power():
    found = resit.plan_swap(0.03, discordance=0.2, n=3_000, count=3)
    assert found.n_both is not None
    assert found.new_n_needed is not None
    at = resit.plan_swap(0.03, discordance=0.2, n=found.n_both, new_n=found.n_both, count=3).chance
    below = resit.plan_swap(0.03, discordance=0.2, n=found.n_both - 1, new_n=found.n_both - 1, count=3).chance
    assert below.both < 0.8 <= at.both
    at = resit.plan_swap(0.03, discordance=0.2, n=3_000, new_n=found.new_n_needed, count=3).chance
    assert at.both == pytest.approx(0.8, abs=0.005)


def test_where_the_original_is_too_small_no_new_set_helps():
    found = resit.plan_swap(0.01, discordance=0.115, n=500, new_n=10_000)
    assert found.new_n_needed is None
    assert "no number of new examples beside 500 original ones" in str(found)


def test_independent_errors_need_the_most():
    default, given = resit.plan_swap(0.01, accuracy=0.76), resit.plan_swap(0.01, discordance=0.115)
    assert default.n_both > given.n_both > 9_024
    assert "upper bound" in default.discordance_source


def test_text_and_json_say_the_same():
    found = resit.plan_swap(0.01, discordance=0.115, n=50_000, new_n=10_000)
    told = json.loads(found.to_json())
    assert f"the chance is {told['chance']['both']:.3f}" in str(found)
    assert f"{told['n_both']:,} examples on each set" in str(found)
    assert "new examples show it" in str(resit.plan_swap(0.01, discordance=0.115, n=50_000))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"difference": 0, "discordance": 0.1}, "--difference"),
        ({"difference": 0.1, "new_difference": 2, "discordance": 0.1}, "--new-difference"),
        ({"difference": 0.1}, "errors are taken for independent"),
        ({"difference": 0.1, "discordance": 0.01}, "discordance lies between"),
        ({"difference": 0.1, "discordance": 0.2, "new_discordance": 2}, "--new-discordance"),
        ({"difference": 0.1, "discordance": 0.2, "count": 1}, "no pair of 1 models"),
        ({"difference": 0.1, "discordance": 0.2, "n": 0}, "Give 1 or more"),
        ({"difference": 0.1, "discordance": 0.2, "power": 1}, "power lies between"),
        ({"difference": 0.1, "runs": [accuracies("old", [0.5, 0.6])]}, "two sets, not on 1"),
        ({"difference": 0.1, "runs": [accuracies("old", [0.5, 0.6])] * 2}, "figures only"),
        ({"difference": 0.1, "runs": [predictions("old", [0.5])] * 2}, "no pair to compare"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments, message: str):
    with pytest.raises(UsageError, match=message):
        resit.plan_swap(**arguments)
