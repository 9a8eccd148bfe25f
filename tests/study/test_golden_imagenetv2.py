"""ImageNetV2: figures computed independently of resit on the released predictions, and those of Recht et al. (2019)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from made import only

import resit
from resit import Result
from resit.study.result import Fit, ModelRow

MATCHED, THRESHOLD = "matched-frequency", "threshold-0.7"
CASES = {
    (MATCHED, "top1"): (-11.83, 1.110, 0.968),
    (MATCHED, "top5"): (-8.21, 1.371, 1.118),
    (THRESHOLD, "top1"): (-3.20, 1.095, 1.046),
    (THRESHOLD, "top5"): (-1.24, 1.143, 1.104),
}


def row(result: Result, model: str, new: str = MATCHED) -> ModelRow:
    return next(one for one in only(result, new=new).models if one.model == model)


def bounds(fit: Fit, unit: str) -> tuple[float | None, float | None]:
    found = next(one for one in fit.intervals if one.unit == unit)
    return found.slope.low, found.slope.high


@pytest.mark.parametrize(("new", "metric"), CASES)
def test_mean_changes_and_slopes(imagenetv2: Result, new: str, metric: str):
    change, convnets, everyone = CASES[new, metric]
    found = only(imagenetv2, metric, new)
    assert (found.n_models, found.baseline.n_models) == (67, 64)
    assert 100 * found.mean_change == pytest.approx(change, abs=0.005)
    assert found.fits["linear"].slope.estimate == pytest.approx(convnets, abs=0.0005)
    assert found.fits_all["linear"].slope.estimate == pytest.approx(everyone, abs=0.0005)


@pytest.mark.parametrize(
    ("unit", "low", "high"),
    [("models", 1.078, 1.189), ("examples", 1.077, 1.143), ("crossed", 1.062, 1.192)],
)
def test_slope_intervals(imagenetv2: Result, unit: str, low: float, high: float):
    found = bounds(only(imagenetv2, new=MATCHED).fits["linear"], unit)
    assert found == (pytest.approx(low, abs=0.003), pytest.approx(high, abs=0.003))


def test_headline_interval_is_the_papers(imagenetv2: Result):
    found = only(imagenetv2, new=MATCHED)
    slope = found.fits["linear"].slope
    assert (round(slope.low - 0.005, 2), round(slope.high, 2)) == (1.07, 1.19)  # R19, section 3.3 (Appendix C.2)
    assert (found.bootstrap.unit, found.bootstrap.resamples) == ("models", 100_000)


def test_slopes_over_plain_examples(shared_data, imagenetv2: Result):
    """Images drawn without strata: the independent figure is [1.074, 1.146]."""
    from resit.stats import lines, resample

    sets = [resit.load_predictions(shared_data / "imagenetv2" / name) for name in ("val", MATCHED)]
    convnets = {one.model for one in only(imagenetv2, new=MATCHED).models if one.baseline}
    drawn = []
    for at, data in enumerate(sets):
        right = data.select([model for model in data.models if model.model in convnets]).correct(1)
        rng = resample.generator(at)
        drawn.append(resample.resample_examples(rng, right.T.astype(np.float32), 2_000) / data.n)
    low, high = np.quantile(lines.fit_rows(*drawn)[0], [0.025, 0.975])
    assert (low, high) == (pytest.approx(1.074, abs=0.004), pytest.approx(1.146, abs=0.004))


def test_probit_line_over_all_models(imagenetv2: Result):
    found = only(imagenetv2, new=MATCHED)
    probit = found.fits_all["probit"]
    assert probit.slope.estimate == pytest.approx(0.9524, abs=5e-5)
    assert probit.intercept.estimate == pytest.approx(-0.3160, abs=5e-5)
    assert probit.r2 == pytest.approx(0.9983, abs=5e-5)
    assert found.fits_all["linear"].r2 == pytest.approx(0.9907, abs=5e-5)


def test_probit_slope_of_convnets_is_below_one_and_the_verdict_says_so(imagenetv2: Result):
    found = only(imagenetv2, new=MATCHED)
    slope = found.fits["probit"].slope
    assert (slope.estimate, slope.low, slope.high) == pytest.approx((0.968, 0.955, 0.991), abs=0.003)
    assert any("scales disagree" in sentence and "0.968" in sentence for sentence in found.verdict)
    assert any("section 5.1" in sentence for sentence in found.verdict)
    assert any(sentence.startswith("Over all 67 models, baseline or not, the slope is 0.968 [") for sentence in found.verdict)


def test_order_of_models(imagenetv2: Result):
    found = only(imagenetv2, new=MATCHED)
    shifts = [one.rank_change for one in found.models]
    assert found.spearman == pytest.approx(0.9968, abs=5e-5)
    assert (min(shifts), max(shifts)) == (-4, 5)
    assert found.real_swaps == ()
    assert found.n_pairs == 67 * 66 // 2


@pytest.mark.parametrize(
    ("model", "old", "new", "ranks"),
    [
        ("pnasnet_large_tf", 82.86, 72.19, (1, 2.5)),  # R19 says 3rd, but it ties with nasnet_large_tf: both have 7,219 right
        ("nasnetalarge", 82.51, 72.21, (4, 1)),
        ("resnet152", 78.31, 67.02, None),
        ("vgg19_bn", 74.22, 61.89, None),
        ("alexnet", 56.52, 43.98, None),
    ],
)
def test_models_of_table_1(imagenetv2: Result, model: str, old: float, new: float, ranks: tuple[float, float] | None):
    found = row(imagenetv2, model)
    assert (100 * found.original.accuracy, 100 * found.new.accuracy) == pytest.approx((old, new), abs=0.005)
    assert found.original.correct / found.original.n == found.original.accuracy
    if ranks:
        assert (found.original.rank, found.new.rank) == ranks
        assert found.rank_change == ranks[0] - ranks[1]


def test_agreement_on_the_line(imagenetv2: Result):
    found = only(imagenetv2, new=MATCHED).aline
    assert (found.mae_s, found.mae_d, found.mae_uncorrected) == pytest.approx((0.0204, 0.0205, 0.1197), abs=5e-5)


def test_noise_changes_the_slope_little(imagenetv2: Result):
    fit = only(imagenetv2, new=MATCHED).fits["linear"]
    for corrected in (fit.correction.moment_slope, fit.correction.deming_slope):
        assert fit.slope.estimate < corrected < fit.slope.estimate + 0.002


def test_the_two_new_sets_share_images_and_it_is_told(imagenetv2: Result):
    (overlap,) = imagenetv2.overlaps
    assert (overlap.shared, overlap.source) == (3_186, "example ids")
    assert "share 3,186 examples" in str(imagenetv2)


def test_published_figures_say_the_same_as_the_answers(imagenetv2: Result):
    study = resit.published("imagenetv2")
    told = resit.compare(study.original, *study.new, model_table=study.table, baseline=study.baseline, model_resamples=500)
    for (new, metric), figures in zip(CASES, told.comparisons, strict=True):
        answers = only(imagenetv2, metric, new)
        ours, theirs = (
            {one.model: (one.original.correct, one.new.correct, one.change.low) for one in found.models}
            for found in (answers, figures)
        )
        assert ours == theirs
        slope = answers.fits["linear"].slope.estimate
        assert figures.fits["linear"].slope.estimate == pytest.approx(slope, abs=1e-12)
        assert figures.real_swaps is None
        assert "real_swaps" in figures.reason


def test_case_7_one_file_stored_worst_first_as_it_stands(imagenetv2_as_it_stands: Result):
    found = [warning for warning in imagenetv2_as_it_stands.warnings if warning.code == "worst-first"]
    assert {warning.where for warning in found} == {f"fv_16k@{MATCHED}", f"fv_16k@{THRESHOLD}"}
    assert all("classes stored worst first" in warning.message for warning in found)
    assert all(f"--worst-first {warning.where}" in warning.message for warning in found)
    off = [warning for warning in imagenetv2_as_it_stands.warnings if warning.code == "off-the-line"]
    assert {warning.where for warning in off} == {f"fv_16k@{MATCHED}", f"fv_16k@{THRESHOLD}"}
    assert only(imagenetv2_as_it_stands, new=MATCHED).fits["linear"].slope.estimate == pytest.approx(1.059, abs=5e-4)


def test_case_25_one_model_under_two_names_as_it_stands(imagenetv2_as_it_stands: Result):
    found = only(imagenetv2_as_it_stands, new=THRESHOLD)
    assert (found.unmatched.original_only, found.unmatched.new_only) == (("fv_64k",), ("fv_64k_model",))
    assert found.unmatched.suggested_aliases == ("fv_64k_model=fv_64k",)
    assert found.n_models == 66
    (told,) = [warning for warning in imagenetv2_as_it_stands.warnings if warning.code == "unmatched-models"]
    assert "fv_64k only on val, fv_64k_model only on threshold-0.7" in told.message
    assert "--alias fv_64k_model=fv_64k" in told.message


def test_nothing_is_warned_of_once_repaired(imagenetv2: Result):
    assert imagenetv2.warnings == ()
    assert [(one.kind, one.value) for one in imagenetv2.repairs] == [
        ("alias", "fv_64k_model=fv_64k"),
        ("worst-first", f"fv_16k@{MATCHED}"),
        ("worst-first", f"fv_16k@{THRESHOLD}"),
    ]


def test_classes_and_confusions_agree_with_a_plain_count(shared_data, imagenetv2: Result):
    found = only(imagenetv2, new=MATCHED)
    data = resit.load_predictions(shared_data / "imagenetv2" / MATCHED)
    convnets = [one.model for one in found.models if one.baseline]
    rows = [[model.model for model in data.models].index(name) for name in convnets]
    labels = data.benchmark.labels[:, 0]
    worst = min(found.classes, key=lambda one: one.new)
    index = [one.id for one in data.benchmark.classes].index(worst.id)
    asked = labels == index
    assert worst.n_new == asked.sum() == 10
    assert worst.new == pytest.approx(np.mean([np.mean(data.answers[at, asked, 0] == index) for at in rows]))
    top = found.confusions[0]
    ids = [one.id for one in data.benchmark.classes]
    true, taken = ids.index(top.true_id), ids.index(top.answered_id)
    assert top.new == pytest.approx(np.mean([np.mean(data.answers[at, labels == true, 0] == taken) for at in rows]))


def test_result_json_keeps_the_names_that_consumers_read(imagenetv2: Result):
    found = json.loads(imagenetv2.to_json())
    assert (found["schema"], found["level"], found["seed"]) == ("resit.compare/1", 0.95, 0)
    assert {"name": "val", "n": 50_000}.items() <= found["original"].items()
    first = found["comparisons"][0]
    assert {"name": MATCHED, "n": 10_000}.items() <= first["new"].items()
    assert first["metric"] == "top1"
    assert first["fits"].keys() == first["fits_all"].keys() == {"linear", "probit", "logit"}
    assert {"estimate", "low", "high"} <= first["fits"]["linear"]["slope"].keys()
    assert first["bootstrap"] == {"unit": "models", "resamples": 100_000, "interval": "percentile", "stratified": False}
    model = first["models"][0]
    assert {"model", "original", "new", "change", "rank_change", "effective_robustness"} <= model.keys()
    assert {"correct", "n", "accuracy", "low", "high", "rank", "rank_interval"} <= model["original"].keys()
    assert "NaN" not in imagenetv2.to_json()
    assert Result.from_json(imagenetv2.to_json()) == imagenetv2
