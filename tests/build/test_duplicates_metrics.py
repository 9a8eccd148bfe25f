"""Distances: against other libraries, pair by pair, and the same to the last bit however they are asked for."""

from __future__ import annotations

import numpy as np
import pytest
from duplicates_made import SLOW, made

from resit import UsageError
from resit.build.duplicates.metrics import SEARCHED, metric_named, slack, squares
from resit.build.duplicates.search import NO_HITS, screen
from resit.build.duplicates.ssim import dssim

EXACT = {name: metric.exact for name, metric in SEARCHED.items()} | {
    "dssim": dssim,
    "features:x": metric_named("features:x").exact,
}


def rows_of(name: str, n: int = 40) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(n, 37)).astype(np.float32) if name.startswith("features") else made(n)


@pytest.mark.parametrize("metric", list(SLOW))
def test_distances_are_those_of_other_libraries(metric):
    one, two = made(30), np.concatenate([made(20, seed=1), made(30)[:10]])
    want = [SLOW[metric](*pair) for pair in zip(one, two, strict=True)]
    assert np.allclose(EXACT[metric](one, two), want, atol=1e-9)


def test_structural_similarity_of_extreme_pictures():
    kinds = np.random.default_rng(0).integers(0, 2, (6, 32, 32, 3)).astype(np.uint8) * 255
    kinds[0], kinds[1] = 0, 255
    for one in range(6):
        got = dssim(np.repeat(kinds[[one]], 6, axis=0), kinds)
        assert np.allclose(got, [SLOW["dssim"](kinds[one], other) for other in kinds], atol=1e-9)


def test_cosine_of_features():
    one, two = np.array([[1, 0], [1, 1], [0, 0]], np.float32), np.array([[0, 2], [2, 0], [1, 0]], np.float32)
    assert np.allclose(EXACT["features:x"](one, two), [1, 1 - np.sqrt(0.5), 1])


@pytest.mark.parametrize("metric", list(EXACT))
def test_a_distance_is_the_same_to_the_last_bit_alone_and_among_others(metric):
    rows = rows_of(metric)
    one, two = np.arange(40).repeat(40), np.tile(np.arange(40), 40)
    together = EXACT[metric](rows[one], rows[two])
    alone = np.concatenate([EXACT[metric](rows[one[[at]]], rows[two[[at]]]) for at in range(0, 1600, 7)])
    assert np.array_equal(together[::7], alone)
    assert (together >= 0).all()


@pytest.mark.parametrize("metric", ["l2", "correlation", "dssim", "features:x"])
def test_the_same_rows_are_at_exactly_zero_and_order_does_not_matter(metric):
    rows = rows_of(metric)
    turned = np.random.default_rng(0).permutation(40)
    assert (EXACT[metric](rows, rows.copy()) == 0).all()
    assert np.array_equal(EXACT[metric](rows, rows[turned]), EXACT[metric](rows[turned], rows))


def test_brightness_and_contrast_do_not_matter_to_correlation():
    picture = made(1)[0] // 3
    other = picture * 2 + 40
    assert EXACT["correlation"](picture[None], other[None])[0] < 1e-12
    assert EXACT["shifted"](picture[None], other[None])[0] < 1e-12


@pytest.mark.parametrize(("down", "right"), [(2, 0), (0, -2), (-2, 2), (2, 2)])
def test_a_shift_by_two_pixels_does_not_matter_to_shifted(down, right):
    large = np.kron(np.random.default_rng(5).integers(0, 256, (20, 20, 3)), np.ones((2, 2, 1))).astype(np.uint8)
    one, two = large[4:36, 4:36], large[4 + down : 36 + down, 4 + right : 36 + right]
    assert EXACT["shifted"](one[None], two[None])[0] < 1e-12
    assert EXACT["correlation"](one[None], two[None])[0] > 0.2


def test_a_mirrored_picture_is_near_to_mirrored_only():
    picture = np.random.default_rng(6).integers(0, 256, (1, 32, 32, 3)).astype(np.uint8)
    assert EXACT["mirrored"](picture, picture[:, :, ::-1])[0] == 0
    assert EXACT["correlation"](picture, picture[:, :, ::-1])[0] > 0.5


@pytest.mark.parametrize("metric", [*SEARCHED, "features:x"])
def test_products_are_no_further_from_the_truth_than_is_said(metric):
    """The products of prepared vectors, in float32, stand in the order of exact distances but for that error."""
    rows = rows_of(metric, 60)
    if metric in SEARCHED:
        rows[0], rows[1] = 255, 200
        rows[1, 0, 0, 0] = 201  # almost a single colour
    chosen = metric_named(metric)
    views, prepared = chosen.views(rows), chosen.row(rows)
    lengths = np.sqrt(np.max([(view.astype(float) ** 2).sum(axis=1) for view in views], axis=0))
    own = (prepared.astype(float) ** 2).sum(axis=1)
    assert np.allclose(squares(prepared), own, rtol=1e-5)
    product = np.max([view @ prepared.T for view in views], axis=0).astype(np.float64)
    exact = np.array([chosen.exact(np.repeat(rows[[at]], 60, axis=0), rows) for at in range(60)])
    if metric == "l2":
        product, want = product - own / 2, (own[:, None] - exact * 255**2) / 2
    else:
        want = 1 - exact
    assert (np.abs(product - want) <= slack(lengths, views.shape[2], np.sqrt(own.max()), chosen.biased)[:, None]).all()


def test_a_search_through_nothing():
    assert len(screen(SEARCHED["l2"], made(2), [], 3).hits) == len(NO_HITS) == 0


def test_no_such_distance():
    for name in ("colour", "features:", "dssim"):
        with pytest.raises(UsageError, match="no distance"):
            metric_named(name)
