"""Comparisons of small made sets: what is available, what is not and why, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made import FEW, accuracies, codes, only, predictions
from scipy import stats

import resit
from resit import ModelId, ModelTable, UsageError
from resit.study.result import SCALES

OLD = [0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90, 0.95]
NEW = [0.50, 0.57, 0.61, 0.70, 0.74, 0.81, 0.87, 0.93]


@pytest.fixture(scope="module")
def small() -> resit.Result:
    return resit.compare(predictions("old", OLD), predictions("new", NEW, seed=1), **FEW)


def test_figures_of_a_model_are_its_counts(small):
    data = predictions("old", OLD)
    for at, row in enumerate(only(small).models):
        right = int(data.correct(1)[at].sum())
        exact = stats.binomtest(right, 400).proportion_ci(0.95, "exact")
        assert (row.original.correct, row.original.n, row.original.accuracy) == (right, 400, right / 400)
        assert (row.original.low, row.original.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_line_is_least_squares(small):
    found = only(small)
    x, y = (np.array([getattr(row, side).accuracy for row in found.models]) for side in ("original", "new"))
    for scale, transform in (("linear", lambda p: p), ("probit", stats.norm.ppf), ("logit", lambda p: np.log(p / (1 - p)))):
        fit, plain = found.fits[scale], stats.linregress(transform(x), transform(y))
        assert fit.slope.estimate == pytest.approx(plain.slope)
        assert fit.intercept.estimate == pytest.approx(plain.intercept)
        assert fit.r2 == pytest.approx(plain.rvalue**2)
    linear = found.fits["linear"]
    residual = y - (linear.intercept.estimate + linear.slope.estimate * x)
    assert linear.rmse == pytest.approx(np.sqrt(np.mean(residual**2)))


def test_effective_robustness_leaves_the_model_out(small):
    found = only(small)
    x, y = (np.array([getattr(row, side).accuracy for row in found.models]) for side in ("original", "new"))
    logit = stats.logistic.ppf
    for at, row in enumerate(found.models):
        rest = np.arange(len(x)) != at
        line = stats.linregress(logit(x[rest]), logit(y[rest]))
        expected = y[at] - stats.logistic.cdf(line.intercept + line.slope * logit(x[at]))
        assert row.effective_robustness == pytest.approx(expected)


def test_examples_bootstrap_agrees_with_a_plain_loop():
    old, new = predictions("old", OLD), predictions("new", NEW, seed=1)
    found = only(resit.compare(old, new, bootstrap="examples", example_resamples=4_000, model_resamples=0))
    rng, slopes = np.random.default_rng(5), []
    labels, right = [data.benchmark.labels[:, 0] for data in (old, new)], [data.correct(1) for data in (old, new)]
    for _ in range(2_000):
        means = []
        for of, answers in zip(labels, right, strict=True):
            drawn = np.concatenate([rng.choice(np.flatnonzero(of == label), np.sum(of == label)) for label in np.unique(of)])
            means.append(answers[:, drawn].mean(axis=1))
        slopes.append(np.polyfit(*means, 1)[0])
    fit = found.fits["linear"]
    assert (fit.slope.low, fit.slope.high) == pytest.approx(np.quantile(slopes, [0.025, 0.975]), abs=0.02)
    assert found.bootstrap.stratified


def test_families_are_resampled_whole():
    table = ModelTable({ModelId(f"m{at}"): {"family": "ab"[at % 2] if at < 4 else f"own{at}"} for at in range(8)})
    found = only(
        resit.compare(
            accuracies("old", OLD, 500),
            accuracies("new", NEW, 500),
            bootstrap="families",
            model_table=table,
            model_resamples=20_000,
        )
    )
    families = [[0, 2], [1, 3], [4], [5], [6], [7]]
    rng, slopes = np.random.default_rng(3), []
    for _ in range(4_000):
        rows = np.concatenate([families[at] for at in rng.integers(6, size=6)])
        x, y = np.array(OLD)[rows], np.array(NEW)[rows]
        if np.ptp(x) > 0:
            slopes.append(np.polyfit(x, y, 1)[0])
    fit = found.fits["linear"]
    assert (fit.slope.low, fit.slope.high) == pytest.approx(np.quantile(slopes, [0.025, 0.975]), abs=0.02)


def test_seed_and_other_sets_do_not_move_figures(small):
    sets = predictions("old", OLD), predictions("new", NEW, seed=1)
    again = resit.compare(*sets, **FEW)
    assert again == small
    with_another = resit.compare(*sets, predictions("other", NEW, seed=2), **FEW)
    assert only(with_another, new="new") == only(small)
    other_seed = only(resit.compare(*sets, seed=7, **FEW))
    assert other_seed.fits["linear"].slope.estimate == only(small).fits["linear"].slope.estimate
    assert other_seed.fits["linear"].slope.low != only(small).fits["linear"].slope.low


def test_class_macro_is_the_mean_over_classes():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [300, 60, 40])
    sets = []
    for name in ("old", "new"):
        data = predictions(name, OLD)
        answers = np.where(rng.random((8, 400)) < np.array([0.9, 0.5, 0.2])[labels], labels, 9)[:, :, None].astype(np.int16)
        sets.append(replace(data, benchmark=resit.Benchmark(name, labels[:, None].astype(np.int32)), answers=answers))
    row = only(resit.compare(*sets, weighting="class-macro", **FEW)).models[0]
    right = sets[0].correct(1)[0]
    assert row.original.accuracy == pytest.approx(np.mean([right[labels == label].mean() for label in range(3)]))
    assert (row.original.method, row.original.correct) == ("stratified bootstrap", None)
    assert row.original.low < row.original.accuracy < row.original.high


def test_a_real_swap_is_found_with_its_exact_p_values():
    old, new = predictions("old", [0.5, 0.6, 0.9, 0.8]), predictions("new", [0.5, 0.6, 0.7, 0.8], seed=1)
    (swap,) = only(resit.compare(old, new, **FEW)).real_swaps
    assert (swap.first, swap.second) == ("m2", "m3")
    for side, data in ((swap.original, old), (swap.new, new)):
        a, b = data.correct(1)[[2, 3]]
        only_first, only_second = int((a & ~b).sum()), int((b & ~a).sum())
        assert (side.only_first, side.only_second) == (only_first, only_second)
        assert side.p_value == pytest.approx(stats.binomtest(only_first, only_first + only_second).pvalue)
    assert swap.original.difference.low > 0 > swap.new.difference.high
    assert swap.p_adjusted >= max(swap.original.p_value, swap.new.p_value)


def test_right_or_wrong_alone_is_enough_for_pairs_but_not_for_classes():
    def marks(name: str, values: list[float], seed: int) -> resit.Predictions:
        right = predictions(name, values, seed=seed).correct(1)
        ones = resit.Benchmark(name, np.ones((400, 1), np.int32), label_space="correctness")
        return resit.Predictions(ones, tuple(ModelId(f"m{at}") for at in range(8)), right[:, :, None].astype(np.int16))

    found = only(resit.compare(marks("old", OLD, 0), marks("new", NEW, 1), **FEW))
    assert found.real_swaps == ()
    assert found.classes is None
    assert "not known" in found.reason["classes"]
    assert found.aline.mae_s is None
    assert found.aline.reason


def test_standard_errors_make_normal_intervals():
    found = only(resit.compare(accuracies("old", OLD, error=0.01), accuracies("new", NEW, error=0.02), **FEW))
    row = found.models[0]
    assert (row.original.low, row.original.high) == pytest.approx(stats.norm.interval(0.95, 0.60, 0.01))
    assert (row.change.low, row.change.high) == pytest.approx(stats.norm.interval(0.95, -0.10, np.hypot(0.01, 0.02)))


def test_accuracies_without_counts_have_no_interval_and_say_why():
    row = only(resit.compare(accuracies("old", OLD), accuracies("new", NEW), **FEW)).models[0]
    assert (row.original.low, row.change.low) == (None, None)
    assert "number of examples" in row.original.reason
    assert "number of examples" in row.change.reason


def test_case_4_label_spaces_that_differ_are_recorded_and_told():
    sets = accuracies("old", OLD, label_space="imagenet"), accuracies("new", NEW, label_space="imagenet-a (200 classes)")
    result = resit.compare(*sets, **FEW)
    assert (only(result).label_space.original, only(result).label_space.new) == ("imagenet", "imagenet-a (200 classes)")
    (told,) = [one for one in result.warnings if one.code == "label-spaces-differ"]
    assert "imagenet-a (200 classes)" in told.message


def made_by(data: resit.Predictions, transform: str) -> resit.Predictions:
    return replace(data, provenance={model: {"transform_fingerprint": transform} for model in data.models})


def test_case_5_other_preprocessing_is_refused_unless_the_user_says_so():
    sets = made_by(predictions("old", OLD), "resize-256"), made_by(predictions("new", NEW), "resize-224")
    with pytest.raises(UsageError, match=r"new: 8 models were preprocessed otherwise.*--allow-different-transforms"):
        resit.compare(*sets, **FEW)
    allowed = resit.compare(*sets, allow_different_transforms=True, **FEW)
    assert "different-transforms" in codes(allowed)
    assert allowed.settings["different_transforms"] == "allowed"


def test_case_7_top1_off_the_line_and_top5_on_it_is_a_bad_order():
    def top5(name: str, values: list[float], worst_first: int | None = None) -> resit.Predictions:
        data = predictions(name, values, n=2_000)
        label = data.benchmark.labels[:, 0]
        others = (label[:, None] + np.arange(1, 5)) % 10
        answers = np.concatenate([data.answers, np.broadcast_to(others, (len(values), 2_000, 4))], axis=2).astype(np.int16)
        answers[:, ::3, 4] = np.where(data.correct(1)[:, ::3], answers[:, ::3, 4], label[::3])
        if worst_first is not None:
            answers[worst_first] = answers[worst_first, :, ::-1]
        return replace(data, answers=answers, depth=np.full(len(values), 5))

    result = resit.compare(top5("old", [*OLD, 0.78]), top5("new", [*NEW, 0.72], worst_first=8), **FEW)
    (told,) = [one for one in result.warnings if one.code == "off-the-line"]
    assert told.where == "m8@new"
    assert "Their top-5 is on the line" in told.message
    assert "worst-first" in codes(result)


def test_case_25_and_26_models_on_one_set_only_are_left_out_and_listed():
    old, new = predictions("old", OLD), predictions("new", NEW, seed=1)
    renamed = replace(new, models=(*new.models[:7], ModelId("M7_model")))
    found = only(resit.compare(old, renamed, **FEW))
    assert found.n_models == 7
    assert (found.unmatched.original_only, found.unmatched.new_only) == (("m7",), ("M7_model",))
    assert found.unmatched.suggested_aliases == ("M7_model=m7",)
    mended = only(resit.compare(old, renamed, alias={"M7_model": "m7"}, **FEW))
    assert mended.n_models == 8


def test_case_27_none_and_all_right_have_exact_bounds():
    rows = only(
        resit.compare(accuracies("old", [0.0, 0.4, 0.6, 1.0], 50), accuracies("new", [0.0, 0.3, 0.5, 1.0], 50), **FEW)
    ).models
    assert rows[0].original.low == 0.0
    assert rows[0].original.high == pytest.approx(1 - 0.025 ** (1 / 50))
    assert rows[3].new.high == 1.0
    assert rows[3].new.low == pytest.approx(0.025 ** (1 / 50))


def test_case_28_accuracies_of_0_and_1_are_moved_inward_and_counted():
    result = resit.compare(accuracies("old", [0.0, 0.4, 0.6, 1.0], 50), accuracies("new", [0.1, 0.3, 0.5, 0.9], 50), **FEW)
    fits = only(result).fits
    assert [fits[scale].adjusted for scale in SCALES] == [0, 2, 2]
    x, y = np.array([0.5 / 50, 0.4, 0.6, 49.5 / 50]), np.array([0.1, 0.3, 0.5, 0.9])
    plain = stats.linregress(stats.norm.ppf(x), stats.norm.ppf(y))
    assert fits["probit"].slope.estimate == pytest.approx(plain.slope)
    assert "accuracy-0-or-1" in codes(result)


def test_case_28_without_a_count_they_are_left_out_of_those_scales_and_named():
    result = resit.compare(accuracies("old", [0.2, 0.4, 0.6, 1.0]), accuracies("new", [0.1, 0.3, 0.5, 0.9]), **FEW)
    fits = only(result).fits
    assert [fits[scale].n_models for scale in SCALES] == [4, 3, 3]
    assert fits["logit"].left_out == ("m3",)
    (told,) = [one for one in result.warnings if one.code == "left-out-of-fit"]
    assert "m3" in told.message
    assert "--n" in told.message


@pytest.mark.parametrize(("old", "new"), [([0.7, 0.8], [0.6, 0.7]), ([0.7, 0.7, 0.7, 0.7], [0.5, 0.6, 0.6, 0.7])])
def test_case_29_no_line_and_why(old: list[float], new: list[float]):
    found = only(resit.compare(accuracies("old", old, 100), accuracies("new", new, 100), **FEW))
    assert found.fits["linear"].slope.estimate is None
    assert "three models" in found.fits["linear"].reason
    assert any("No line is fitted" in sentence for sentence in found.verdict)


def test_case_29_one_model_still_has_its_change():
    found = only(resit.compare(accuracies("old", [0.7], 100), accuracies("new", [0.6], 100), **FEW))
    assert found.mean_change == pytest.approx(-0.1)
    assert (found.spearman, found.kendall) == (None, None)
    assert "two models" in found.reason["spearman"]


@pytest.mark.parametrize(("models", "few"), [(3, True), (9, True), (10, False)])
def test_a_line_over_a_few_models_is_told_once(models: int, few: bool):
    old = np.linspace(0.5, 0.9, models)
    sets = [accuracies(name, old - drop, 400) for name, drop in (("old", 0), ("new", 0.1), ("newer", 0.2))]
    told = [warning for warning in resit.compare(*sets, **FEW).warnings if warning.code == "few-models"]
    assert [warning.where for warning in told] == (["new, top-1; newer, top-1"] if few else [])
    assert all(f"over {models} models" in warning.message for warning in told)


def test_models_near_chance_in_the_line_are_told_and_those_beside_it_are_not():
    old = predictions("old", [0.1, 0.1, *np.linspace(0.5, 0.9, 9)])
    new = predictions("new", [0.1, 0.11, *np.linspace(0.4, 0.8, 9)], seed=1)
    (told,) = [warning for warning in resit.compare(old, new, **FEW).warnings if warning.code == "line-at-chance"]
    assert told.where == "new, top-1"
    assert told.message.startswith("2 of the 11 models of the line guess")
    assert "m0, m1" in told.message
    beside = resit.compare(old, new, baseline=[f"m{at}" for at in range(2, 11)], **FEW)
    assert "line-at-chance" not in codes(beside)


def test_case_30_lost_replicates_are_counted_and_too_many_make_it_not_available():
    few = only(
        resit.compare(accuracies("old", [0.6, 0.7, 0.8], 99), accuracies("new", [0.5, 0.6, 0.7], 99), model_resamples=9_000)
    )
    (interval,) = few.fits["linear"].intervals
    assert interval.failed == pytest.approx(9_000 * 3 / 27, rel=0.1)  # all three the same: 3 of 27 draws
    assert few.fits["linear"].slope.low is None
    assert "have no spread" in few.fits["linear"].slope.reason
    assert any("have no spread" in sentence for sentence in few.verdict)
    six = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75]
    more = resit.compare(accuracies("old", six, 99), accuracies("new", six, 99), model_resamples=50_000)
    (interval,) = only(more).fits["linear"].intervals
    assert 0 < interval.failed < 50
    assert only(more).fits["linear"].slope.low is not None
    assert "no-interval" not in codes(more)


def test_no_resamples_no_intervals():
    found = only(resit.compare(predictions("old", OLD), predictions("new", NEW), model_resamples=0, example_resamples=0))
    assert found.fits["linear"].slope.low is None
    assert found.fits["linear"].slope.reason
    assert found.mean_change_interval.low is None
    assert found.models[0].original.low is not None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 1.0}, "between 0 and 1"),
        ({"seed": -1}, "not negative"),
        ({"bootstrap": "images"}, "none of models, examples, crossed, families"),
        ({"weighting": "macro"}, "none of micro, class-macro"),
        ({"bootstrap": "families"}, "model table"),
        ({"model_resamples": -1}, "not negative"),
        ({"baseline": "kind=convnet"}, "model table"),
        ({"baseline": "resnet*"}, "no model on both sets fits"),
        ({"models": ["resnet*"]}, "no model of any set fits"),
        ({"exclude": ["nobody"]}, "no model of any set fits"),
        ({"alias": {"nobody": "m1"}}, "no set has a model 'nobody'"),
        ({"alias": {"m1": "m2"}}, "two models m2"),
        ({"worst_first": ["m1"]}, "the set is missing"),
        ({"worst_first": ["m1@never"]}, "no set is called 'never'"),
        ({"worst_first": ["m1@new"]}, "one answer an example"),
        ({"overlap": {("new", "never"): 3}}, "no two new sets are called"),
        ({"exclude": ["*"]}, "no model is left"),
    ],
)
def test_what_cannot_be_done_is_refused(settings, message: str):
    with pytest.raises(UsageError, match=message):
        resit.compare(predictions("old", OLD), predictions("new", NEW), **{**FEW, **settings})


def test_examples_of_figures_cannot_be_resampled():
    with pytest.raises(UsageError, match="new has figures only"):
        resit.compare(predictions("old", OLD), accuracies("new", NEW, 400), bootstrap="crossed", **FEW)


def test_sets_are_told_apart_by_name():
    with pytest.raises(UsageError, match="two sets are called old"):
        resit.compare(predictions("old", OLD), predictions("old", NEW))
    with pytest.raises(UsageError, match="at least one new test set"):
        resit.compare(predictions("old", OLD))
    with pytest.raises(UsageError, match="not str"):
        resit.compare("old/", "new/")


def test_nothing_in_common_is_refused_with_both_sides():
    new = predictions("new", NEW)
    strangers = replace(new, models=tuple(ModelId(f"other{at}") for at in range(8)))
    with pytest.raises(UsageError, match=r"no model is on both old and new.*--alias"):
        resit.compare(predictions("old", OLD), strangers)


def test_class_macro_has_no_tests_of_pairs_and_says_why():
    """McNemar's test is of the examples, each counted the same: it is no test of class-macro accuracies."""
    found = only(resit.compare(predictions("old", OLD), predictions("new", NEW, seed=1), weighting="class-macro", **FEW))
    assert found.real_swaps is None
    assert "micro accuracy only" in found.reason["real_swaps"]
    assert {row.original.rank_interval for row in found.models} == {None}
    assert all("rank interval" in row.original.reason for row in found.models)


def test_class_macro_of_a_model_that_is_always_right_has_no_bootstrap_interval():
    old, new = predictions("old", OLD), predictions("new", NEW, seed=1)
    perfect = old.answers.copy()
    perfect[7, :, 0] = old.benchmark.labels[:, 0]
    found = only(resit.compare(replace(old, answers=perfect), new, weighting="class-macro", **FEW))
    assert (found.models[7].original.accuracy, found.models[7].original.low) == (1.0, None)
    assert "all resamples are alike" in found.models[7].original.reason
    assert found.models[7].change.low is not None


def test_effective_robustness_at_the_edge_is_of_the_accuracy_itself():
    old, new = [0.3, 0.4, 0.5, 0.6, 0.7], [0.0, 0.3, 0.45, 0.5, 0.6]
    row = only(resit.compare(accuracies("old", old, 50), accuracies("new", new, 50), **FEW)).models[0]
    logit = stats.logistic.ppf
    line = stats.linregress(logit(old[1:]), logit(new[1:]))
    assert row.effective_robustness == pytest.approx(0.0 - stats.logistic.cdf(line.intercept + line.slope * logit(0.3)))


def test_noise_is_corrected_as_far_as_it_is_known():
    known, unknown = accuracies("old", OLD, 500), accuracies("new", NEW)
    correction = only(resit.compare(known, unknown, **FEW)).fits["linear"].correction
    assert correction.moment_slope is not None
    assert correction.deming_slope is None
    assert "new accuracies" in correction.reason
    nothing = only(resit.compare(accuracies("old", OLD), unknown, **FEW)).fits["linear"].correction
    assert nothing.moment_slope is None
    assert "not known" in nothing.reason


def test_variants_are_chosen_by_name_or_by_name_and_variant():
    def sizes(data: resit.Accuracies) -> resit.Accuracies:
        return replace(data, models=tuple(ModelId("resnet", str(32 * at)) for at in range(8)))

    sets = sizes(accuracies("old", OLD, 500)), sizes(accuracies("new", NEW, 500))
    assert only(resit.compare(*sets, models=["resnet"], **FEW)).n_models == 8
    found = only(resit.compare(*sets, exclude=["resnet (32)", "resnet (1?8)"], baseline="* (*0)", **FEW))
    assert {row.variant for row in found.models} == {"0", "64", "96", "160", "192", "224"}
    assert {row.variant for row in found.models if row.baseline} == {"0", "160"}


def test_right_or_wrong_and_ids_seen_are_no_other_label_space():
    named = accuracies("old", OLD, 400, label_space="imagenet-1k")
    marks = accuracies("new", NEW, 400, label_space="correctness")
    assert "label-spaces-differ" not in codes(resit.compare(named, marks, **FEW))


def one_a_class(name: str, values: list[float], seed: int) -> resit.Predictions:
    return predictions(name, values, n=300, classes=300, seed=seed)


def test_case_31_classes_too_small_to_resample_within_are_not_strata():
    """Redrawing the only example of each class changes nothing: its interval would have no width."""
    sets = one_a_class("old", OLD, 0), one_a_class("new", NEW, 1)
    found = only(resit.compare(*sets, bootstrap="examples", model_resamples=50, example_resamples=2_000))
    assert not found.bootstrap.stratified
    rng, changes = np.random.default_rng(2), []
    right = [data.correct(1) for data in sets]
    for _ in range(2_000):
        drawn = [answers[:, rng.integers(300, size=300)].mean() for answers in right]
        changes.append(drawn[1] - drawn[0])
    interval = found.mean_change_interval
    assert (interval.low, interval.high) == pytest.approx(np.quantile(changes, [0.025, 0.975]), abs=0.006)
    assert found.fits["linear"].slope.high - found.fits["linear"].slope.low > 0.05


def test_case_31_one_example_has_no_interval_of_its_mean_change():
    sets = predictions("old", OLD, n=1), predictions("new", NEW, n=1)
    interval = only(resit.compare(*sets, **FEW)).mean_change_interval
    assert interval.low is None
    assert "alike" in interval.reason


def test_examples_of_a_set_are_redrawn_alike_whatever_sets_stand_beside():
    old, a, b = predictions("old", OLD), predictions("a", NEW, seed=1), predictions("b", NEW, seed=2)
    first, second = resit.compare(old, a, b, **FEW), resit.compare(old, b, a, **FEW)
    assert only(first, new="a") == only(second, new="a")
    assert only(first, new="b") == only(second, new="b")


def test_the_verdict_asks_whether_the_baseline_models_lose():
    old, new = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75], [0.45, 0.5, 0.54, 0.6, 0.64, 0.99]
    risen = only(resit.compare(accuracies("old", old, 900), accuracies("new", new, 900), baseline=["m[0-4]"], **FEW))
    assert risen.mean_change > -0.01
    assert not any("do not lose" in sentence for sentence in risen.verdict)
    fallen = only(resit.compare(accuracies("old", new, 900), accuracies("new", old, 900), baseline=["m[0-4]"], **FEW))
    assert any("do not lose on the new set" in sentence for sentence in fallen.verdict)


def test_a_new_set_with_examples_of_the_original_is_told():
    def named(name: str, start: int) -> resit.Predictions:
        return predictions(name, OLD, ids=np.array([f"e{at}" for at in range(start, start + 400)]))

    (told,) = [one for one in resit.compare(named("old", 0), named("new", 300), **FEW).warnings if one.where == "new"]
    assert told.code == "shares-with-original"
    assert "100 of its examples" in told.message
    assert "shares-with-original" not in codes(resit.compare(named("old", 0), named("new", 400), **FEW))
    again = resit.compare(predictions("old", OLD), predictions("again", OLD), **FEW)
    assert any("it may be the same set" in one.message for one in again.warnings)


def test_two_resamples_are_no_interval():
    with pytest.raises(UsageError, match="at least 50 resamples"):
        resit.compare(predictions("old", OLD), predictions("new", NEW), model_resamples=2)
