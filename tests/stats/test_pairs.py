from __future__ import annotations

from itertools import combinations, pairwise

import by_definition
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from resit.stats.pairs import PairTests, compare_pairs, holm, mcnemar_exact, rank_interval, swapped_pairs
from resit.stats.ranks import mean_ranks

quick = settings(deadline=None, max_examples=80)
LEVELS = (0.5, 0.8, 0.95)
p_values = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), min_size=0, max_size=7)
seeds = st.integers(0, 2**32 - 1)


def answers(seed: int, models: int = 5, n: int = 40) -> np.ndarray:
    """Right answers of models of which some differ clearly and some are near-copies."""
    rng = np.random.default_rng(seed)
    skill = rng.choice([0.15, 0.5, 0.5, 0.85], models)
    return rng.uniform(size=(models, n)) < skill[:, None]


def test_mcnemar_agrees_with_the_binomial_test():
    b, c = np.divmod(np.arange(31 * 31), 31)
    theirs = [1.0 if x + y == 0 else stats.binomtest(int(x), int(x + y)).pvalue for x, y in zip(b, c, strict=True)]
    assert mcnemar_exact(b, c) == pytest.approx(theirs, rel=1e-9)


def test_mcnemar_agrees_with_its_definition_in_fractions():
    for b in range(9):
        for c in range(9):
            assert mcnemar_exact(b, c) == pytest.approx(float(by_definition.mcnemar(b, c)), rel=1e-12)


def test_mcnemar_of_no_discordant_example_or_a_tie_is_1():
    assert mcnemar_exact([0, 1, 7, 5000], [0, 1, 7, 5000]).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("only_1", "only_2", "p"),
    [
        (12, 2, 212 / 2**14),
        (2011, 1835, 0.0048),
        (515, 517, 0.975),
    ],  # by hand; pnasnet against nasnet on ImageNet and ImageNetV2
)
def test_mcnemar_of_known_tables(only_1, only_2, p):
    assert mcnemar_exact(only_1, only_2) == pytest.approx(p, abs=6e-4 if p > 0.9 else 5e-5)


@quick
@given(p_values)
def test_holm_is_the_closure_of_bonferroni(p):
    assert holm(np.array(p)).tolist() == pytest.approx(by_definition.holm(p), abs=1e-15)


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), seeds)
def test_holm_lies_between_no_correction_and_bonferroni_and_keeps_order(p, seed):
    p = np.array(p)
    adjusted = holm(p)
    assert (p <= adjusted).all()
    assert (adjusted <= np.minimum(1, len(p) * p)).all()
    order = np.argsort(p)
    assert (np.diff(adjusted[order]) >= 0).all()
    shuffle = np.random.default_rng(seed).permutation(len(p))
    assert (holm(p[shuffle]) == adjusted[shuffle]).all()


@quick
@given(seeds, st.integers(1, 6), st.integers(1, 30))
def test_pairs_agree_with_counting(seed, models, n):
    right = answers(seed, models, n)
    tests = compare_pairs(right)
    plain = by_definition.pair_p_values(right.tolist())
    assert tests.n == n
    assert tests.p.tolist() == pytest.approx([p for p, _ in plain.values()], rel=1e-12)
    for i in range(models):
        for j in range(models):
            cells = [0, 0, 0, 0]
            for a, b in zip(right[i], right[j], strict=True):
                cells[0 if a and b else 1 if a else 2 if b else 3] += 1
            assert tests.table(i, j) == tuple(cells)
            assert tests.only[i, j] == cells[1]


@pytest.mark.parametrize("level", LEVELS)
@quick
@given(seed=seeds)
def test_rank_intervals_agree_with_counting_and_hold_the_rank(level, seed):
    right = answers(seed)
    low, high = rank_interval(compare_pairs(right), level)
    plain = by_definition.pair_p_values(right.tolist())
    sure = by_definition.holm_by_steps({pair: p for pair, (p, _) in plain.items()}, 1 - level)
    for model in range(len(right)):
        signs = [plain[pair][1] * (1 if pair[0] == model else -1) for pair in sure if model in pair]
        assert low[model] == 1 + signs.count(-1)
        assert high[model] == len(right) - signs.count(1)
    rank = mean_ranks(right.mean(axis=1))
    assert (low <= rank).all()
    assert (rank <= high).all()


def test_rank_intervals_widen_with_the_level_and_are_whole_without_evidence():
    tests = compare_pairs(answers(3, 8, 80))
    found = [np.stack(rank_interval(tests, level)) for level in LEVELS]
    for slim, wide in pairwise(found):
        assert (wide[0] <= slim[0]).all()
        assert (wide[1] >= slim[1]).all()
    same = compare_pairs(np.repeat(answers(0, 1, 50), 4, axis=0))
    assert np.stack(rank_interval(same, 0.95)).tolist() == [[1] * 4, [4] * 4]
    ordered = compare_pairs(np.arange(400) < np.array([[100], [200], [300]]))
    assert np.stack(rank_interval(ordered, 0.95)).tolist() == [[3, 2, 1], [3, 2, 1]]


@pytest.mark.parametrize("level", LEVELS)
@quick
@given(seed=seeds)
def test_swapped_pairs_agree_with_counting(level, seed):
    old, new = answers(seed), answers(seed + 1)
    found, adjusted = swapped_pairs(compare_pairs(old), compare_pairs(new), level)
    first, second = by_definition.pair_p_values(old.tolist()), by_definition.pair_p_values(new.tolist())
    both = {pair: max(first[pair][0], second[pair][0]) for pair in first}
    sure = by_definition.holm_by_steps(both, 1 - level)
    expected = {pair if first[pair][1] > 0 else pair[::-1] for pair in sure if first[pair][1] * second[pair][1] < 0}
    assert {tuple(pair) for pair in found.tolist()} == expected
    assert len(adjusted) == len(found)
    for (better, worse), p in zip(found.tolist(), adjusted, strict=True):
        assert old[better].sum() > old[worse].sum()
        assert new[better].sum() < new[worse].sum()
        assert both[min(better, worse), max(better, worse)] <= p <= 1 - level


def test_a_clear_swap_is_found_and_reads_from_the_original():
    n = np.arange(300)
    old, new = np.stack([n < 200, n < 100, n < 150]), np.stack([n < 100, n < 200, n < 150])
    found, p = swapped_pairs(compare_pairs(old), compare_pairs(new), 0.95)
    assert sorted(map(tuple, found.tolist())) == [(0, 1), (0, 2), (2, 1)]
    assert (p < 1e-9).all()
    back, _ = swapped_pairs(compare_pairs(new), compare_pairs(old), 0.95)
    assert sorted(map(tuple, back.tolist())) == [(1, 0), (1, 2), (2, 0)]


def test_no_swap_where_only_one_order_is_significant():
    n = np.arange(300)
    old, new = np.stack([n < 200, n < 100]), np.stack([n < 150, n < 152])
    found, p = swapped_pairs(compare_pairs(old), compare_pairs(new), 0.95)
    assert found.shape == (0, 2)
    assert p.shape == (0,)
    assert swapped_pairs(compare_pairs(old), compare_pairs(old), 0.95)[0].shape == (0, 2)


def test_models_in_another_order_have_the_same_results():
    right, order = answers(8, 7, 60), np.array([3, 0, 6, 1, 5, 2, 4])
    low, high = rank_interval(compare_pairs(right), 0.8)
    moved_low, moved_high = rank_interval(compare_pairs(right[order]), 0.8)
    assert (moved_low == low[order]).all()
    assert (moved_high == high[order]).all()


def test_one_model_has_no_pairs():
    tests = compare_pairs(np.ones((1, 5), bool))
    assert tests.p.tolist() == []
    assert [part.tolist() for part in rank_interval(tests, 0.95)] == [[1], [1]]
    assert swapped_pairs(tests, tests, 0.95)[0].tolist() == []


def test_more_examples_than_float32_can_count_are_all_counted():
    n = (1 << 24) + 7
    right = np.ones((2, n), bool)
    right[1, :3] = False
    assert compare_pairs(right).table(0, 1) == (n - 3, 3, 0, 0)


def test_pairs_come_in_the_order_of_triu_indices():
    right = answers(4, 5, 30)
    tests = compare_pairs(right)
    assert isinstance(tests, PairTests)
    for at, (i, j) in enumerate(combinations(range(5), 2)):
        assert tests.p[at] == mcnemar_exact(tests.only[i, j], tests.only[j, i])
