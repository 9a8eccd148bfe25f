from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from extras import needs
from resit.errors import UsageError
from resit.simulate.clarity import CIFAR_10H, clarity, confidence
from resit.stats.beta_binomial import patterns
from resit.stats.beta_mixture import fit_mixture

needs("sklearn")


def test_the_shapes_are_those_of_cifar_10h(shared_data: Path):
    votes = np.load(shared_data / "cifar10" / "cifar10h_counts.npy").astype(np.int64)
    labels = np.asarray(pq.read_table(shared_data / "cifar10" / "test.parquet", columns=["label"])["label"])
    found = fit_mixture(patterns(votes[np.arange(len(votes)), labels], votes.sum(axis=1)), components=1).mixture
    assert (found.a[0], found.b[0]) == pytest.approx(CIFAR_10H, rel=1e-3)


def test_ranks_are_mapped_to_quantiles():
    # The quantile function of beta(1, 1) is the identity, that of beta(2, 1) the square root.
    assert clarity([0.9, 0.1], "ab", shapes=(1, 1)).tolist() == pytest.approx([0.75, 0.25])
    assert clarity([5, -3, 7, 6], "abcd", shapes=(2, 1)) == pytest.approx(np.sqrt([0.375, 0.125, 0.875, 0.625]))


def test_equal_confidence_is_ranked_by_id():
    assert clarity([1, 1, 1], ["b", "c", "a"], shapes=(1, 1)) == pytest.approx([0.5, 5 / 6, 1 / 6])


def test_no_images_have_no_clarity():
    assert clarity([], []).shape == (0,)


def test_clarity_follows_the_distribution():
    rng = np.random.default_rng(0)
    found = clarity(rng.random(5_000), [str(i) for i in range(5_000)])
    drawn = rng.beta(*CIFAR_10H, 200_000)
    assert np.quantile(found, [0.01, 0.1, 0.5]) == pytest.approx(np.quantile(drawn, [0.01, 0.1, 0.5]), abs=0.02)


def test_confidence_is_low_where_the_label_does_not_fit():
    rng = np.random.default_rng(1)
    labels = np.repeat([3, 7], 60)
    pixels = (rng.normal(size=(120, 5)) + 4 * (labels == 7)[:, None]).astype(np.float32)
    given = labels.copy()
    given[[0, 100]] = [7, 3]
    sure = confidence(pixels, given)
    assert sorted(np.argsort(sure)[:2].tolist()) == [0, 100]
    assert np.delete(sure, [0, 100]).min() > 0.5
    assert np.array_equal(sure, confidence(pixels, given))


@pytest.mark.parametrize("labels", [[0, 0, 1], [2, 2, 2]])
def test_too_few_images_are_refused(labels):
    with pytest.raises(UsageError, match="fewer than two images"):
        confidence(np.zeros((3, 4), np.float32), np.array(labels))


@pytest.mark.parametrize(("ids", "shapes"), [(["a"], (1, 1)), (["a", "b"], (0, 1))])
def test_what_cannot_be_is_refused(ids, shapes):
    with pytest.raises(UsageError, match="confidences"):
        clarity([0.1, 0.2], ids, shapes=shapes)
