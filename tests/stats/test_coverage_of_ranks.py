"""How often rank intervals miss a true rank, and how often a swap is claimed that is none, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from resit.stats.pairs import compare_pairs, mcnemar_exact, rank_interval, swapped_pairs
from resit.stats.power import mcnemar_power, paired_sample_size

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _one_blas_thread():
    with threadpool_limits(1, user_api="blas"):
        yield


def draw_answers(rng: np.random.Generator, accuracy: np.ndarray, n: int, alike: float) -> np.ndarray:
    shared = rng.normal(size=n) * np.sqrt(alike) + rng.normal(size=(len(accuracy), n)) * np.sqrt(1 - alike)
    return ndtr(shared) < accuracy[:, None]


def all_covered(accuracy: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether every interval holds all ranks its model may claim: tied models may take any rank of their tie."""
    best = 1 + (accuracy[:, None] < accuracy - 1e-12).sum(axis=1)
    worst = len(accuracy) - (accuracy[:, None] > accuracy + 1e-12).sum(axis=1)
    return bool(((low <= best) & (worst <= high)).all())


@pytest.mark.parametrize("alike", [0.0, 0.7])
@pytest.mark.parametrize("name", ["equal", "pairs", "ladder"])
def test_rank_intervals_cover_all_ranks_at_once(name, alike):
    accuracy = {
        "equal": np.full(10, 0.75),
        "pairs": np.repeat(np.linspace(0.6, 0.8, 5), 2),
        "ladder": np.linspace(0.7, 0.79, 10),
    }
    rng, trials, level = np.random.default_rng(0), 1500, 0.9
    missed = 0
    for _ in range(trials):
        tests = compare_pairs(draw_answers(rng, accuracy[name], 1000, alike))
        missed += not all_covered(accuracy[name], *rank_interval(tests, level))
    assert missed / trials <= 1 - level + 3 * np.sqrt(0.09 / trials)


def test_rank_intervals_are_of_use():
    rng, accuracy = np.random.default_rng(1), np.linspace(0.6, 0.8, 5)
    low, high = rank_interval(compare_pairs(draw_answers(rng, accuracy, 10_000, 0.7)), 0.95)
    assert low.tolist() == high.tolist() == [5, 4, 3, 2, 1]


@pytest.mark.parametrize("spread", [0.0, 0.05])
def test_false_swaps_are_rarer_than_the_level_allows(spread):
    """The new set keeps the order of the original: no swap is real."""
    rng, trials, false = np.random.default_rng(2), 1500, 0
    old = 0.75 + np.linspace(-spread, spread, 8)
    for _ in range(trials):
        tests = [compare_pairs(draw_answers(rng, old - drop, n, 0.6)) for drop, n in ((0.0, 2000), (0.1, 1000))]
        false += len(swapped_pairs(*tests, 0.9)[0]) > 0
    assert false / trials <= 0.1


def test_a_pair_tied_on_one_set_is_called_swapped_at_most_as_often_as_the_level_allows():
    """The hardest case of an intersection-union test: clearly apart on one set, equal on the other."""
    rng, trials, false = np.random.default_rng(3), 3000, 0
    for _ in range(trials):
        original = compare_pairs(draw_answers(rng, np.array([0.8, 0.6]), 1000, 0.6))
        new = compare_pairs(draw_answers(rng, np.array([0.7, 0.7]), 1000, 0.6))
        false += len(swapped_pairs(original, new, 0.9)[0]) > 0
    assert false / trials == pytest.approx(0.045, abs=0.02)  # half the level: only one direction is a swap


def test_mcnemar_power_is_what_simulation_finds():
    rng = np.random.default_rng(4)
    difference, discordance = 0.03, 0.12
    n = paired_sample_size(difference, discordance)
    counts = rng.multinomial(n, [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance], 100_000)
    share = (mcnemar_exact(counts[:, 0], counts[:, 1]) <= 0.05).mean()
    assert mcnemar_power(n, difference, discordance) == pytest.approx(share, abs=0.005)
