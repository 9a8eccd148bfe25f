"""Groups against fairlearn's MetricFrame: accuracies, counts, intersections, best minus worst, and bootstrap intervals."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, count
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

import resit
from resit import Benchmark, Groups, ModelId, Predictions
from resit.stats.groups import bootstrap_groups
from resit.stats.intervals import percentile
from resit.study.groups_result import GroupStudy, ModelGroups

SMALL = 30


def one_model(labels: np.ndarray, answers: np.ndarray, columns: dict[str, np.ndarray]) -> Predictions:
    groups = {name: values.astype(str) for name, values in columns.items()}
    benchmark = Benchmark("set", labels[:, None].astype(np.int32), groups=groups)
    return Predictions(benchmark, (ModelId("m"),), answers[None, :, None].astype(np.int16))


def metric_frame(labels: np.ndarray, answers: np.ndarray, columns: dict[str, np.ndarray], **more: object) -> MetricFrame:
    features = pd.DataFrame({name: values.astype(str) for name, values in columns.items()})
    metrics = {"accuracy": accuracy_score, "n": count}
    return MetricFrame(metrics=metrics, y_true=labels, y_pred=answers, sensitive_features=features, **more)


def studied(found: Groups, by: str) -> tuple[GroupStudy, ModelGroups]:
    (study,) = [study for study in found.studies if study.by == by]
    (one,) = study.models
    return study, one


def assert_same(found: Groups, by: str, theirs: MetricFrame) -> None:
    """Every figure that both have; MetricFrame lists crossed groups that no example is in, as NaN."""
    study, one = studied(found, by)
    table = theirs.by_group.dropna()
    names = [" × ".join(key) if isinstance(key, tuple) else key for key in table.index]
    by_name = {score.group: score for score in one.groups}
    assert sorted(by_name) == sorted(names)
    assert study.n_groups == len(names)
    assert one.accuracy.estimate == pytest.approx(theirs.overall["accuracy"], abs=1e-12)
    for name, accuracy, n in zip(names, table["accuracy"], table["n"], strict=True):
        assert by_name[name].n == n
        assert by_name[name].correct == round(accuracy * n)
        assert by_name[name].accuracy.estimate == pytest.approx(accuracy, abs=1e-12)
    if len(names) < 2:
        return
    gap, best = one.disparity_all, table["accuracy"].max()
    assert gap.difference.estimate == pytest.approx(theirs.difference()["accuracy"], abs=1e-12)
    assert by_name[gap.best].accuracy.estimate == pytest.approx(theirs.group_max()["accuracy"], abs=1e-12)
    assert by_name[gap.worst].accuracy.estimate == pytest.approx(theirs.group_min()["accuracy"], abs=1e-12)
    if best > 0:  # theirs is worst / best, ours (best - worst) / best; where nothing is right neither is a number
        assert 1 - gap.normalised.estimate == pytest.approx(theirs.ratio()["accuracy"], abs=1e-12)
    else:
        assert gap.normalised.estimate is None
        assert np.isnan(theirs.ratio()["accuracy"])


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 300),
    groups=st.tuples(st.integers(1, 8), st.integers(1, 5)),
    ease=st.floats(0, 1),
)
@settings(max_examples=40, deadline=None)
def test_random_groups_and_their_intersections_are_those_of_metric_frame(
    seed: int, n: int, groups: tuple[int, int], ease: float
):
    rng = np.random.default_rng(seed)
    labels = rng.integers(10, size=n)
    columns = {name: rng.integers(size, size=n) for name, size in zip(("region", "sex"), groups, strict=True)}
    answers = np.where(rng.random(n) < ease, labels, (labels + 1) % 10)
    found = resit.groups(one_model(labels, answers, columns), by=["region", "sex"], resamples=0)
    for by in ("region", "sex"):
        assert_same(found, by, metric_frame(labels, answers, {by: columns[by]}))
    assert_same(found, "region × sex", metric_frame(labels, answers, columns))


def test_small_groups_are_left_out_of_the_headline_as_if_metric_frame_had_not_seen_them():
    rng = np.random.default_rng(0)
    region = rng.permutation(np.repeat(["a", "b", "c", "d"], [200, 150, 100, SMALL - 1]))
    labels = rng.integers(10, size=len(region))
    answers = np.where(rng.random(len(region)) < np.where(region == "d", 0.2, 0.7), labels, (labels + 1) % 10)
    found = resit.groups(one_model(labels, answers, {"region": region}), by="region", min_size=SMALL, resamples=0)
    kept = region != "d"
    everything = metric_frame(labels, answers, {"region": region})
    large = metric_frame(labels[kept], answers[kept], {"region": region[kept]})
    _, one = studied(found, "region")
    assert one.disparity_all.difference.estimate == pytest.approx(everything.difference()["accuracy"])
    assert one.disparity.difference.estimate == pytest.approx(large.difference()["accuracy"])
    assert 1 - one.disparity.normalised.estimate == pytest.approx(large.ratio()["accuracy"])
    assert one.disparity.difference.estimate < one.disparity_all.difference.estimate


@pytest.fixture(scope="module")
def geode(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Predictions, pd.DataFrame, np.ndarray]:
    """Made-up answers on the real metadata as resit reads them, the metadata as pandas does, and which answers are right."""
    path = shared_data / "geography" / "geode_metadata.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    accepted = [ast.literal_eval(text) for text in table["1k_index"]]
    rng = np.random.default_rng(3)
    ease = np.where(table["region"].isin(["Africa", "Americas"]), 0.55, 0.7)
    answers = np.array(
        [
            rng.choice(fine) if lucky else rng.integers(1000)
            for fine, lucky in zip(accepted, rng.random(len(table)) < ease, strict=True)
        ]
    )
    folder = tmp_path_factory.mktemp("geode") / "geode"
    folder.mkdir()
    np.save(folder / "m.npy", answers)
    right = np.array([answer in fine for answer, fine in zip(answers, accepted, strict=True)])
    return resit.load_predictions(folder, labels=path), table, right


@pytest.mark.parametrize("columns", [("region",), ("ip_country",), ("region", "object"), ("ip_country", "region")])
def test_geode_is_as_metric_frame_has_it(geode: tuple[Predictions, pd.DataFrame, np.ndarray], columns: tuple[str, ...]):
    data, table, right = geode
    found = resit.groups(data, by=columns, resamples=0)
    features = {name: table[name].to_numpy() for name in columns}
    theirs = metric_frame(np.ones(len(table), int), right.astype(int), features)
    assert_same(found, " × ".join(columns), theirs)
    assert studied(found, " × ".join(columns))[0].n_groups == len(table[list(columns)].drop_duplicates())


def test_redrawn_counts_have_the_intervals_of_metric_frame_that_redraws_images():
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(6), [400, 300, 200, 100, 60, 40])
    labels = np.ones(len(codes), int)
    right = rng.random(len(codes)) < np.linspace(0.5, 0.9, 6)[codes]
    ends = [0.025, 0.975]
    theirs = metric_frame(labels, right.astype(int), {"g": codes}, n_boot=250, ci_quantiles=ends, random_state=0)
    low, high = (np.array(one["accuracy"]) for one in theirs.by_group_ci)
    n = np.bincount(codes)
    drawn = bootstrap_groups(np.random.default_rng(0), np.bincount(codes[right], minlength=6), n, 10_000)
    own = np.array([percentile(drawn[:, at], 0.95) for at in range(6)])
    error = np.sqrt(0.25 / n)  # a percentile of 250 resamples is off by about a sixth of the standard error
    assert (np.abs(own[:, 0] - low) < 0.5 * error).all()
    assert (np.abs(own[:, 1] - high) < 0.5 * error).all()
