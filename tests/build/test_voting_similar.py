from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.build.voting.similar import similar_by_features, similar_by_table
from resit.errors import InputError, UsageError


def test_rows_of_a_table_stand_most_similar_first():
    table = pa.table({"class_id": ["b", "a", "a"], "similar": ["a", "c", "b"]})
    assert similar_by_table(table) == {"a": ("c", "b"), "b": ("a",)}


def test_case_17_a_file_with_distances_is_ordered_by_them_and_ids_stay_text(tmp_path):
    path = tmp_path / "wordnet.csv"
    path.write_text("\ufeffclass_id,similar,distance\n007,NA,10\n007,7,9.5\n007,06,9.5\n", encoding="utf-8")
    assert similar_by_table(path) == {"007": ("06", "7", "NA")}


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"class_id": ["a"]}, "column similar is missing"),
        ({"class_id": ["a"], "similar": ["a"]}, "similar to itself"),
        ({"class_id": ["a", "a"], "similar": ["b", "b"]}, "to 'b' twice"),
        ({"class_id": ["a"], "similar": ["b"], "distance": ["near"]}, "no number"),
        ({"class_id": ["a"], "similar": ["b"], "distance": [float("nan")]}, "not finite"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(columns, what):
    with pytest.raises(InputError, match=what):
        similar_by_table(pa.table(columns))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 3))
def test_features_agree_with_distances_of_means_one_by_one(seed, classes, block):
    rng = np.random.default_rng(seed)
    ids = [f"c{at}" for at in range(classes)] + [f"c{at}" for at in rng.integers(0, classes, 20)]
    features = rng.normal(size=(len(ids), 3))
    means = {c: np.mean([f for f, i in zip(features, ids, strict=True) if i == c], axis=0) for c in set(ids)}
    slow = {c: tuple(sorted(set(ids) - {c}, key=lambda o: np.linalg.norm(means[c] - means[o]))) for c in set(ids)}
    assert similar_by_features(features, ids, block=block) == slow
    order = rng.permutation(len(ids))
    assert similar_by_features(features[order], [ids[at] for at in order], most=1) == {c: o[:1] for c, o in slow.items()}


def test_features_that_do_not_fit_are_refused():
    for features in (np.zeros((2, 2)), np.full((1, 2), np.nan), np.zeros(1)):
        with pytest.raises(UsageError, match="features"):
            similar_by_features(features, ["a"])
