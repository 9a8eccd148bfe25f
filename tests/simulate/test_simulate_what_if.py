from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from resit.errors import UsageError
from resit.simulate.clarity import CIFAR_10H
from resit.simulate.people import Crowd
from resit.simulate.what_if import ACCURACIES, Sizes, expected_accuracy, what_if

GOOD = Crowd(50, skill=1)


def shifts(**given) -> list[float]:
    return what_if(crowd=GOOD, seed=1, **given)["shift"].to_pylist()


def test_accuracy_by_frequency_is_that_of_cifar_10(shared_data: Path):
    votes = np.load(shared_data / "cifar10" / "cifar10h_counts.npy").astype(np.int64)
    labels = np.load(shared_data / "cifar10.1" / "original_labels.npy").astype(np.int64)
    files = sorted((shared_data / "cifar10.1" / "original").iterdir())
    correct = np.mean([np.array(json.loads(file.read_text())) == labels for file in files], axis=0)
    frequency = votes[np.arange(len(votes)), labels] / votes.sum(axis=1)
    ends = [(0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.0), (1.0, 1.1)]
    found = [correct[(frequency >= low) & (frequency < high)].mean() for low, high in ends]
    assert found == pytest.approx(ACCURACIES, abs=0.0006)
    assert expected_accuracy([0, 0.4, 1]) == pytest.approx([0.587, (0.587 + 0.686) / 2, 0.969])


def test_more_votes_and_bins_bring_the_sets_together():
    few, many = shifts(votes=[3], edges=[(1, 2, 3, 4)])[0], shifts(votes=[200], edges=[(1, 2, 3, 4)])[0]
    assert few < many - 0.01 < 0
    one, two, five = shifts(votes=[40], edges=[(), (4,), (1, 2, 3, 4)])
    assert one < two < five < 0


def test_one_bin_leaves_votes_out():
    # What a uniform draw of the pool is off by, from a separate large draw.
    rng = np.random.default_rng(0)
    expected = expected_accuracy(rng.beta(2, 0.5, 10**6)).mean() - expected_accuracy(rng.beta(*CIFAR_10H, 10**6)).mean()
    found = shifts(votes=[2, 30], edges=[()], repeats=40)
    assert found[0] == found[1] == pytest.approx(expected, abs=0.006)


def test_sets_of_one_kind_stay_together():
    assert shifts(votes=[10], edges=[(1, 2, 3, 4)], pool=CIFAR_10H, repeats=20)[0] == pytest.approx(0, abs=0.005)


def test_the_table_tells_shortages_and_upward_draws():
    sizes = Sizes(classes=3, originals=30, candidates=10, per_class=20)
    row = what_if([10], [(1, 2, 3, 4)], sizes=sizes, seed=1).to_pylist()[0]
    assert (row["votes"], row["edges"], row["bins"]) == (10, "1 2 3 4", 5)
    assert row["short"] >= 0.5
    # Originals are of all kinds and candidates clear: lower bins that are short take from higher ones.
    up = what_if([10], [(1, 2, 3, 4)], original=(2, 2), pool=(9, 0.3), seed=1).to_pylist()[0]
    assert up["upward"] > 0.1


def test_the_seed_decides():
    one, same, other = (what_if([10], seed=seed) for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)
    assert len(what_if([])) == 0


@pytest.mark.parametrize("wrong", [{"votes": [0]}, {"repeats": 1}, {"pool": (0, 1)}])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(UsageError, match="votes"):
        what_if(**wrong)
    with pytest.raises(UsageError, match="sizes that cannot be"):
        Sizes(classes=0)
