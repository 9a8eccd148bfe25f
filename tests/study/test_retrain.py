"""Retraining: what is known of made sets, what scikit-learn finds by hand, and what must be told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import resit
from extras import needs
from featured import FEATURES, PixelModel, classes, exam
from resit import Benchmark, InputError, Retrained, UsageError, retrain_last_layer
from resit.data.benchmark import ClassInfo
from resit.evaluate.features import extract
from resit.evaluate.settings import EvaluateSettings
from resit.models.head_file import WithHead, load_head
from resit.stats.intervals import newcombe_paired
from resit.study.retrain_folds import Recipe, cross_fit
from resit.study.retrain_result import Outcome
from resit.study.retrain_sets import Columns, pose

linear_model = needs("sklearn.linear_model")
needs("safetensors")
GRID = (1e-3, 1e-2, 1e-1)
FEW = {"by": "region", "grid": GRID, "resamples": 200, "workers": 2, "batch_size": 64}


def outcome(result: Retrained, metric: str = "top1", name: str = "homes") -> Outcome:
    (found,) = [one for one in result.outcomes if (one.metric, one.set.name) == (metric, name)]
    return found


def codes(result: Retrained) -> set[str]:
    return {warning.code for warning in result.warnings}


@pytest.fixture(scope="module")
def homes() -> tuple[Benchmark, PixelModel]:
    return exam(1_200, 8)


@pytest.fixture(scope="module")
def found(homes: tuple[Benchmark, PixelModel], tmp_path_factory: pytest.TempPathFactory) -> Retrained:
    benchmark, model = homes
    other, _ = exam(900, 8, seed=1, name="others")
    folder = tmp_path_factory.mktemp("retrained")
    return retrain_last_layer(model, benchmark, folder, transfer=other, pair=("north", "south"), cluster="home", **FEW)


def test_disparity_falls_where_the_model_left_a_region_behind(found: Retrained):
    for name in ("homes", "others"):
        one = outcome(found, name=name)
        assert one.before is not None
        assert one.change is not None
        before, after = one.before.disparity.difference.estimate, one.after.disparity.difference.estimate
        assert before > 0.6
        assert after < 0.12
        assert one.change.disparity.estimate == pytest.approx(after - before)
        assert one.change.disparity.high < -0.4
        assert one.change.pair.high < -0.4
        assert one.change.overall.difference.estimate > 0.05
    assert outcome(found).change.overall.difference.low > 0
    assert "a change of −" in found.verdict[1]
    assert outcome(found).trained == "cross-fitted"
    assert outcome(found, name="others").trained == "elsewhere"


def test_before_is_the_models_own_answer(found: Retrained, homes: tuple[Benchmark, PixelModel]):
    benchmark, model = homes
    features = benchmark.images.pixels.reshape(benchmark.n, -1).astype(np.float32) / np.float32(127.5) - 1
    right = model.scores(features).argmax(axis=1) == benchmark.labels[:, 0]
    one = outcome(found)
    assert one.before.accuracy.estimate == pytest.approx(right.mean())
    south = benchmark.groups["region"] == "south"
    scores = {score.group: score for score in one.before.groups}
    assert scores["south"].correct == right[south].sum()
    assert scores["north"].n_clusters == 200


def test_paired_figures_agree_with_each_other(found: Retrained):
    for one in found.outcomes:
        whole = one.change.overall
        n = whole.both + whole.only_before + whole.only_after + whole.neither
        assert n == one.set.n
        assert (whole.both + whole.only_after) / n == pytest.approx(one.after.accuracy.estimate)
        assert (whole.both + whole.only_before) / n == pytest.approx(one.before.accuracy.estimate)
        assert sum(group.change.both for group in one.change.groups) == whole.both
        for group, old, new in zip(one.change.groups, one.before.groups, one.after.groups, strict=True):
            assert group.group == old.group == new.group
            value = group.change.difference
            assert value.estimate == pytest.approx(new.accuracy.estimate - old.accuracy.estimate)
            assert value.low < value.estimate < value.high


def test_it_is_the_same_as_a_plain_loop_with_scikit_learn(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    """An own loop over folds, strengths and refits, on scaled features, with none of our code but the folds themselves."""
    benchmark, model = homes
    features = extract(model, benchmark, tmp_path, EvaluateSettings(workers=2))
    posed = pose(benchmark, features, Columns("region", {}, None))
    got = cross_fit(posed, Recipe(GRID, 4, False, 10, 30, 0), lambda _: None)
    fold_of = folds_by_hand(posed.strata(), 4, 0)
    x, y = np.load(features.path), benchmark.labels[:, 0]
    answers = np.empty(len(y), int)
    for fold in range(4):
        test, validation = fold_of == fold, fold_of == (fold + 1) % 4
        scores = [fit_by_hand(x, y, ~test & ~validation, c)(x[validation]) == y[validation] for c in GRID]
        best = GRID[int(np.argmax([right.mean() for right in scores]))]
        assert got.folds[fold].c == best
        assert [one.accuracy for one in got.folds[fold].tried] == pytest.approx([right.mean() for right in scores], abs=0.004)
        answers[test] = fit_by_hand(x, y, ~test, best)(x[test])
    assert np.mean(got.answers[:, 0] == answers) > 0.997
    alone = fit_by_hand(x, y, np.ones(len(y), bool), got.head.c)(x)
    assert np.mean(got.head.head.scores(x).argmax(axis=1) == alone) > 0.997


def folds_by_hand(strata: np.ndarray, k: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(20,)))
    shuffled = rng.permutation(len(strata))
    order = sorted(range(len(strata)), key=lambda at: (strata[at], shuffled[at]))
    found = np.empty(len(strata), int)
    for place, at in enumerate(order):
        found[at] = place % k
    return found


def fit_by_hand(x: np.ndarray, y: np.ndarray, rows: np.ndarray, c: float):
    pipeline = needs("sklearn.pipeline").make_pipeline(
        needs("sklearn.preprocessing").StandardScaler(), linear_model.LogisticRegression(C=c, max_iter=5_000, tol=1e-6)
    )
    return pipeline.fit(x[rows].astype(np.float64), y[rows]).predict


def test_without_clusters_intervals_are_the_papers(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    benchmark, model = homes
    found = retrain_last_layer(model, benchmark, tmp_path, **FEW)
    one = outcome(found)
    whole = one.change.overall
    own = newcombe_paired(whole.both, whole.only_after, whole.only_before, whole.neither)
    assert (whole.difference.low, whole.difference.high) == pytest.approx((float(own.low), float(own.high)))
    assert whole.p_value is not None
    assert one.n_clusters is None


def test_the_same_call_gives_the_same_result_and_computes_no_features_again(
    homes: tuple[Benchmark, PixelModel], tmp_path: Path
):
    benchmark, model = homes
    first = retrain_last_layer(model, benchmark, tmp_path, balanced=True, refits=2, **FEW)
    count = model.asked
    again = retrain_last_layer(model, benchmark, tmp_path, balanced=True, refits=2, **FEW)
    assert model.asked == count
    assert again == first
    other = retrain_last_layer(model, benchmark, tmp_path, balanced=True, refits=2, seed=1, **FEW)
    assert other.folds != first.folds


def test_the_number_of_cores_changes_nothing(
    homes: tuple[Benchmark, PixelModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    benchmark, model = homes
    found = []
    for cores in (1, 3):
        monkeypatch.setattr("resit.study.retrain_folds._cores", lambda cores=cores: cores)
        found.append(retrain_last_layer(model, benchmark, tmp_path, **FEW))
    assert found[0] == found[1]


def test_homes_of_two_regions_are_told(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    benchmark, model = homes
    home = benchmark.groups["home"].copy()
    home[3] = home[0]
    moved = replace(benchmark, groups=benchmark.groups | {"home": home})
    found = retrain_last_layer(model, moved, tmp_path, cluster="home", **FEW)
    assert "split-clusters" in codes(found)


def test_balanced_helps_a_region_that_few_examples_come_from(tmp_path: Path):
    """A nineteenth from the south. Its classes show in other pixels, and the prior of pixels is the north's."""
    benchmark, model = exam(3_000, 8, noise=0.45)
    south = np.flatnonzero(benchmark.groups["region"] == "south")
    keep = np.sort(np.concatenate([np.flatnonzero(benchmark.groups["region"] == "north"), south[:100]]))
    from resit.data.relabel import take

    few = take(benchmark, keep)
    plain, balanced = (
        retrain_last_layer(model, few, tmp_path, balanced=how, refits=5, **FEW).outcomes[0].after for how in (False, True)
    )
    by = [{score.group: score.accuracy.estimate for score in one.groups} for one in (plain, balanced)]
    assert by[1]["south"] > by[0]["south"] + 0.05
    assert balanced.disparity.difference.estimate < plain.disparity.difference.estimate


def test_it_comes_back_from_json(found: Retrained):
    assert Retrained.from_json(found.to_json()) == found
    with pytest.raises(InputError, match="not a result of schema"):
        Retrained.from_json("{}")


def test_it_reads_well(found: Retrained):
    text = str(found)
    assert text.startswith("A new last layer for pixels")
    assert "best − worst, points" in text
    assert found._repr_html_().count("<tr>") > 12


def test_the_head_that_is_kept_answers_what_the_second_set_was_answered(found: Retrained, homes: tuple[Benchmark, PixelModel]):
    other, _ = exam(900, 8, seed=1, name="others")
    model = WithHead(homes[1], load_head(found.head.file))
    features = other.images.pixels.reshape(other.n, -1).astype(np.float32) / np.float32(127.5) - 1
    right = model.scores(features).argmax(axis=1) == other.labels[:, 0]
    assert outcome(found, name="others").after.accuracy.estimate == pytest.approx(right.mean())
    assert load_head(found.head.file).digest == found.head.digest
    assert found.head.n_features == FEATURES


def test_clusters_are_never_in_two_folds(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    benchmark, model = homes
    features = extract(model, benchmark, tmp_path, EvaluateSettings(workers=2))
    posed = pose(benchmark, features, Columns("region", {}, "home"))
    got = cross_fit(posed, Recipe((0.01,), 5, False, 10, 30, 0), lambda _: None)
    assert sum(row.n_test for row in got.folds) == benchmark.n
    assert all(row.n_test % 3 == 0 and row.n_validation % 3 == 0 for row in got.folds)


def test_unreadable_images_are_wrong_both_times_and_not_trained_on(tmp_path: Path):
    broken = frozenset({0, 5, 77})
    benchmark, model = exam(600, 8, broken=broken)
    found = retrain_last_layer(model, benchmark, tmp_path, max_errors=0.01, **FEW)
    one = outcome(found)
    assert one.set.n == 600
    assert one.n_unusable == 3
    assert found.head.n_examples == 597
    assert one.change.overall.neither >= 3
    assert "unreadable-images" in codes(found)
    assert sum(row.n_test for row in found.folds) == 600


def test_several_labels_are_told_and_any_of_them_is_right(tmp_path: Path):
    benchmark, model = exam(600, 8)
    twice = np.stack([benchmark.labels[:, 0], np.where(np.arange(600) % 2, -1, (benchmark.labels[:, 0] + 1) % 8)], axis=1)
    benchmark = replace(benchmark, labels=twice.astype(np.int32))
    found = retrain_last_layer(model, benchmark, tmp_path, **FEW)
    assert "several-labels" in codes(found)
    assert found.head.n_examples == 600
    features = benchmark.images.pixels.reshape(600, -1).astype(np.float32) / np.float32(127.5) - 1
    top = model.scores(features).argmax(axis=1)
    one = outcome(found)
    assert one.before.accuracy.estimate == pytest.approx(np.mean((top[:, None] == twice).any(axis=1)))
    assert one.after.accuracy.estimate > one.before.accuracy.estimate


def test_a_head_of_other_classes_is_not_available_and_said_why(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    benchmark, model = homes
    strange = PixelModel(model.weight, model.bias, tuple(ClassInfo(f"x{at}", f"x{at}") for at in range(8)))
    found = retrain_last_layer(strange, benchmark, tmp_path, **FEW)
    one = outcome(found)
    assert one.before is None
    assert one.change is None
    assert "classes are none of the model's 8" in one.reason
    assert "no-before" in codes(found)
    assert "before is not available" in found.verdict[0]
    assert one.after.accuracy.estimate > 0.5
    assert Retrained.from_json(found.to_json()) == found
    assert "n/a" in str(found)


def test_classes_without_examples_are_told_and_never_answered(tmp_path: Path):
    benchmark, _ = exam(600, 8)
    _, wide = exam(600, 10)
    found = retrain_last_layer(wide, replace(benchmark, classes=classes(10)), tmp_path, **FEW)
    assert outcome(found).n_classes == 8
    assert found.head.n_classes == 8
    assert "classes-without-examples" in codes(found)
    assert outcome(found).set.label_space == "8 of letters"


def test_a_class_with_one_example_counts_as_wrong_and_is_told(tmp_path: Path):
    benchmark, model = exam(600, 9)
    only = np.flatnonzero(benchmark.labels[:, 0] == 8)[0]
    labels = np.where((benchmark.labels == 8) & (np.arange(600)[:, None] != only), 0, benchmark.labels)
    found = retrain_last_layer(model, replace(benchmark, labels=labels.astype(np.int32)), tmp_path, **FEW)
    assert sum(row.n_untaught for row in found.folds) == 1
    assert "untaught-classes" in codes(found)
    assert found.head.n_classes == 9


def test_only_classes_of_both_sets_count_on_the_second(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    benchmark, model = homes
    other, _ = exam(450, 8, seed=1, name="others")
    ids = [f"c{at}" for at in (3, 2, 1, 0)] + [f"z{at}" for at in range(4)]  # other order, and four of its own
    order = np.array([3, 2, 1, 0, 4, 5, 6, 7])
    other = replace(other, classes=tuple(ClassInfo(key, key) for key in ids), labels=order[other.labels].astype(np.int32))
    found = retrain_last_layer(model, benchmark, tmp_path, transfer=other, **FEW)
    one = outcome(found, name="others")
    kept = other.labels[:, 0] < 4
    assert (one.set.n, one.n_left_out, one.n_classes) == (int(kept.sum()), int((~kept).sum()), 4)
    assert {"shared-classes", "left-out"} <= codes(found)
    features = other.images.pixels.reshape(450, -1).astype(np.float32)[kept] / np.float32(127.5) - 1
    top = order[(features @ model.weight.T)[:, :4].argmax(axis=1)]
    assert one.before.accuracy.estimate == pytest.approx(np.mean(top == other.labels[kept, 0]))


def test_sets_whose_classes_are_numbers_only_do_not_transfer(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    benchmark, model = homes
    other, _ = exam(450, 8, seed=1, name="others")
    bare = replace(other, classes=(), label_space="unnamed")
    with pytest.raises(UsageError, match="by number only"):
        retrain_last_layer(model, benchmark, tmp_path, transfer=bare, **FEW)


def test_a_second_set_without_clusters_is_told(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    benchmark, model = homes
    other, _ = exam(450, 8, seed=1, name="others")
    other = replace(other, groups={"region": other.groups["region"]})
    found = retrain_last_layer(model, benchmark, tmp_path, transfer=other, cluster="home", **FEW)
    assert "no-clusters" in codes(found)
    assert outcome(found, name="others").n_clusters is None
    assert outcome(found).n_clusters == 400


def test_shared_ids_are_told(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    benchmark, model = homes
    other, _ = exam(450, 8, seed=1, name="others")
    other = replace(other, ids=np.concatenate([benchmark.ids[:7], other.ids[7:]]))
    found = retrain_last_layer(model, benchmark, tmp_path, transfer=other, **FEW)
    (message,) = [warning.message for warning in found.warnings if warning.code == "shared-examples"]
    assert message.startswith("7 examples")


def test_a_solver_that_stops_early_and_an_edge_of_the_grid_are_told(
    homes: tuple[Benchmark, PixelModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    benchmark, model = homes
    monkeypatch.setattr("resit.models.heads.MOST_ITERATIONS", 2)
    found = retrain_last_layer(model, benchmark, tmp_path, **FEW | {"grid": (1e-7, 1e-5)})
    assert "edge-of-grid" in codes(found)
    again = retrain_last_layer(model, benchmark, tmp_path, **FEW | {"grid": (10.0,)})
    assert "not-converged" in codes(again)
    assert not again.head.converged


def test_small_groups_are_flagged_and_do_not_limit_balanced_draws(tmp_path: Path):
    benchmark, model = exam(900, 8)
    region = benchmark.groups["region"].astype("U10")
    region[:12] = "islet"
    found = retrain_last_layer(model, replace(benchmark, groups={"region": region}), tmp_path, balanced=True, refits=2, **FEW)
    one = outcome(found)
    assert [score.group for score in one.after.groups if score.small] == ["islet"]
    assert "small-groups" in codes(found)
    assert found.head.n_drawn > 800
    assert one.after.accuracy.estimate > 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"by": "colour"}, "no group column 'colour'"),
        ({"by": ""}, "one group column"),
        ({"cluster": "flat"}, "no group column 'flat'"),
        ({"pair": ("north", "east")}, "no set has both"),
        ({"pair": ("north", "north")}, "two different groups"),
        ({"folds": 2}, "2 is below 3"),
        ({"refits": 0}, "0 is below 1"),
        ({"grid": ()}, "numbers above 0"),
        ({"grid": (0.1, -1.0)}, "numbers above 0"),
        ({"grid": (0.1, 0.1)}, "twice"),
        ({"level": 1.0}, "between 0 and 1"),
        ({"seed": -1}, "-1 is below 0"),
        ({"quantiles": {"home": 3}}, "not the column of --by"),
        ({"balanced": True, "min_size": 601}, "nothing to balance"),
        ({"max_errors": 2.0}, "fraction from 0 to 1"),
    ],
)
def test_what_cannot_be_done_is_refused(
    homes: tuple[Benchmark, PixelModel], tmp_path: Path, change: dict[str, object], message: str
):
    benchmark, model = homes
    with pytest.raises(UsageError, match=message):
        retrain_last_layer(model, benchmark, tmp_path, **FEW | change)
    assert not list(tmp_path.rglob("*.safetensors"))


def test_the_same_set_twice_is_refused(homes: tuple[Benchmark, PixelModel], tmp_path: Path):
    benchmark, model = homes
    with pytest.raises(UsageError, match="two sets of one name"):
        retrain_last_layer(model, benchmark, tmp_path, transfer=benchmark, **FEW)
    with pytest.raises(UsageError, match="the same examples"):
        retrain_last_layer(model, benchmark, tmp_path, transfer=replace(benchmark, name="again"), **FEW)


def test_too_little_to_train_on_is_refused(tmp_path: Path):
    benchmark, model = exam(60, 8)
    same = replace(benchmark, labels=np.zeros((60, 1), np.int32))
    with pytest.raises(InputError, match="examples of 1 class"):
        retrain_last_layer(model, same, tmp_path, **FEW)
    with pytest.raises(UsageError, match="cannot be dealt into 70 folds"):
        retrain_last_layer(model, benchmark, tmp_path, **FEW | {"folds": 70})


def test_it_is_public():
    assert resit.retrain_last_layer is retrain_last_layer
    assert resit.Retrained is Retrained
