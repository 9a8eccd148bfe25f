"""Neighbours by the features of a model."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from duplicates_made import by_metric, made, pictures

from featured import FEATURES, PixelModel
from resit import InputError, UsageError
from resit.build.duplicates.find import find_pairs
from resit.build.duplicates.pictures import Pictures
from resit.data.benchmark import ClassInfo
from resit.models.protocol import OutOfMemory

# Not constant, so that pictures of a single colour do not all have features of one direction.
OFFSET = np.arange(FEATURES, dtype=np.float32) + 80
CLASSES = (ClassInfo("a", "a"), ClassInfo("b", "b"))


class Means(PixelModel):
    """Features are the mean colours of 16 squares, less than half, so that cosines differ."""

    def __init__(self, most: int = 1000, lost: int = -1) -> None:
        super().__init__(np.zeros((2, FEATURES)), np.zeros(2), CLASSES)
        self.transform.__class__ = Squares
        self.most, self.lost = most, lost

    def features(self, batch: np.ndarray) -> np.ndarray:
        if len(batch) > self.most:
            raise OutOfMemory("too many at once")
        found = super().features(batch).copy()
        if 0 <= self.lost < len(found):
            found[self.lost, 0] = np.nan
        return found


class Squares:
    fingerprint = "squares"

    def __call__(self, image) -> np.ndarray:
        return np.asarray(image, np.float32).reshape(4, 8, 4, 8, 3).mean(axis=(1, 3)).reshape(-1) - OFFSET


def images(n: int) -> Pictures:
    return pictures(made(30)[:n], [f"c{place:02}" for place in range(n)])


def found(n: int, model: Means, **more: object) -> pa.Table:
    metrics = ("features:m", "dssim")
    return pa.concat_tables(find_pairs(images(n), {}, metrics=metrics, neighbours=4, models={"m": model}, **more))


def test_lists_are_the_nearest_by_the_cosine_of_features():
    values = np.stack([Squares()(one) for one in made(30)]).astype(float)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    slow = 1 - values @ values.T
    np.fill_diagonal(slow, np.inf)
    got = by_metric(found(30, Means()), 4)
    for place in range(30):
        order = sorted(range(30), key=lambda at: (round(slow[place, at], 9), at))[:4]
        mine = got["features:m", f"c{place:02}"]
        assert [row[1] for row in mine] == [f"c{at:02}" for at in order]
        assert np.allclose([row[2] for row in mine], slow[place, order], atol=1e-7)
    assert ("dssim", "c00") in got


def test_a_small_device_and_later_candidates_change_nothing():
    model = Means(most=3)
    whole = by_metric(found(30, Means()), 4)
    assert by_metric(found(30, model), 4) == whole
    old = found(12, Means())
    rows = {tuple(row.values())[:4]: row for part in (old, found(30, model, stored=old)) for row in part.to_pylist()}
    assert by_metric(pa.Table.from_pylist(list(rows.values()), schema=old.schema), 4) == whole


def test_features_that_are_not_finite_name_the_image():
    with pytest.raises(InputError, match="c02 are not finite"):
        found(10, Means(lost=2))


def test_a_model_without_features_is_refused():
    with pytest.raises(UsageError, match="no features"):
        find_pairs(images(3), {}, metrics=("features:m",), models={"m": object()})
