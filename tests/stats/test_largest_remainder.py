"""Whole numbers in given proportions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resit.errors import UsageError
from resit.stats.largest_remainder import apportion

WEIGHTS = st.lists(st.integers(0, 60), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("weights", "total", "shares"),
    [
        # Histograms of originals as in ImageNetV2, scaled to ten images.
        ([1, 2, 3, 4, 10], 10, [0, 1, 2, 2, 5]),
        ([5, 5, 5, 5, 5], 10, [2, 2, 2, 2, 2]),
        ([1, 1, 1], 10, [3, 3, 4]),
        ([1, 1, 1], 2, [0, 1, 1]),
        ([0, 0, 50], 10, [0, 0, 10]),
        ([3, 0, 3], 3, [1, 0, 2]),
        ([0, 0], 10, [0, 0]),
        ([], 10, []),
        ([4, 6], 0, [0, 0]),
        # Balinski and Young's example of five states and 26 seats.
        ([9061, 7179, 5259, 3319, 1182], 26, [9, 7, 5, 4, 1]),
    ],
)
def test_known_shares(weights: list[int], total: int, shares: list[int]):
    assert apportion(weights, total).tolist() == shares


@given(weights=WEIGHTS, total=st.integers(0, 50))
def test_shares_are_the_integer_parts_and_one_more_for_the_largest_remainders(weights: list[int], total: int):
    found = apportion(weights, total).tolist()
    if not sum(weights):
        assert found == [0] * len(weights)
        return
    quotas = [Fraction(weight * total, sum(weights)) for weight in weights]
    assert sum(found) == total
    more = [share - int(quota) for share, quota in zip(found, quotas, strict=True)]
    assert set(more) <= {0, 1}
    remainders = [(quota - int(quota), place) for place, quota in enumerate(quotas)]
    winners = [one for one, extra in zip(remainders, more, strict=True) if extra]
    losers = [one for one, extra in zip(remainders, more, strict=True) if not extra]
    assert not winners or not losers or min(winners) > max(losers)


@given(weights=WEIGHTS, total=st.integers(0, 50), floor=st.integers(0, 5))
def test_a_floor_is_kept_and_the_others_share_the_rest(weights: list[int], total: int, floor: int):
    there = [weight for weight in weights if weight]
    if floor * len(there) > total:
        with pytest.raises(UsageError, match="do not go into"):
            apportion(weights, total, floor)
        return
    found = apportion(weights, total, floor).tolist()
    assert sum(found) == (total if there else 0)
    assert all(share >= floor if weight else share == 0 for weight, share in zip(weights, found, strict=True))
    above = [place for place, share in enumerate(found) if share > floor]
    # Among those above the floor, more weight never gets less.
    assert all(found[a] <= found[b] for a in above for b in above if weights[a] < weights[b])


def test_a_floor_takes_from_the_others_in_proportion():
    assert apportion([80, 15, 5], 20, 2).tolist() == [15, 3, 2]
    assert apportion([8, 1, 1], 10, 3).tolist() == [4, 3, 3]
    # With 5 for the last, 15 are left for the first two, and the second would have 1.4 of them: it gets the floor too.
    assert apportion([96, 10, 1], 20, 5).tolist() == [10, 5, 5]


@pytest.mark.parametrize(("weights", "total", "floor"), [([-1, 2], 3, 0), ([1, 2], -1, 0), ([1], 1, -1)])
def test_numbers_below_zero_are_refused(weights: list[int], total: int, floor: int):
    with pytest.raises(UsageError, match="below 0"):
        apportion(weights, total, floor)


def test_large_weights_do_not_overflow():
    assert apportion([2**60, 2**60], 1_000_001).tolist() == [500_000, 500_001]
