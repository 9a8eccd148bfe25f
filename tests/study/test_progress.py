"""Rates and gaps against scipy, plain loops, and an independent computation from the leaderboards."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from made import FEW, accuracies, predictions
from scipy import stats

import resit
from resit import InputError, Progress, UsageError
from resit.study.progress_result import Gap, Rate

OLD = [0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90, 0.95]
FAST = [0.50, 0.57, 0.61, 0.70, 0.74, 0.81, 0.87, 0.93]
SLOW = [0.40, 0.41, 0.44, 0.44, 0.47, 0.50, 0.52, 0.52]


def sets() -> list[resit.Accuracies]:
    return [accuracies("old", OLD, 500), accuracies("fast", FAST, 500), accuracies("slow", SLOW, 500)]


def rate(result: Progress, name: str) -> Rate:
    (found,) = [one for one in result.rates if one.new.name == name]
    return found


def gap(result: Progress, scale: str = "linear") -> Gap:
    (found,) = [one for one in result.gaps if one.scale == scale]
    return found


@pytest.fixture(scope="module")
def result() -> Progress:
    return resit.progress(*sets(), model_resamples=40_000)


@pytest.mark.parametrize(("name", "values"), [("fast", FAST), ("slow", SLOW)])
def test_rates_are_slopes(result: Progress, name: str, values: list[float]):
    logit = stats.logistic.ppf
    for scale, transform in (("linear", np.asarray), ("logit", logit)):
        plain = stats.linregress(transform(OLD), transform(values))
        fit = rate(result, name).fits[scale]
        assert fit.slope.estimate == pytest.approx(plain.slope)
        assert fit.r2 == pytest.approx(plain.rvalue**2)
    assert rate(result, name).net_improvement.difference == pytest.approx(max(values) - min(values))


@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_gap_is_a_ratio_of_slopes_from_one_resample(result: Progress, scale: str):
    transform = stats.logistic.ppf if scale == "logit" else np.asarray
    x, fast, slow = (transform(np.array(values)) for values in (OLD, FAST, SLOW))
    rng, ratios = np.random.default_rng(3), []
    for _ in range(6_000):
        rows = rng.integers(8, size=8)
        if np.ptp(x[rows]) > 0:
            ratios.append(np.polyfit(x[rows], fast[rows], 1)[0] / np.polyfit(x[rows], slow[rows], 1)[0])
    found = gap(result, scale).ratio
    assert found.estimate == pytest.approx(np.polyfit(x, fast, 1)[0] / np.polyfit(x, slow, 1)[0])
    low, high = np.quantile(ratios, [0.025, 0.975])
    assert (found.low, found.high) == (pytest.approx(low, rel=0.03), pytest.approx(high, rel=0.03))
    assert (gap(result, scale).standard, gap(result, scale).other) == ("fast", "slow")


def test_verdict_says_where_a_point_buys_less(result: Progress):
    assert "a point gained on old buys less on slow than on fast" in result.verdict[0]
    turned = resit.progress(*sets(), standard="slow", **FEW)
    assert "a point gained on old buys more on fast than on slow" in turned.verdict[0]
    assert gap(turned).ratio.estimate == pytest.approx(1 / gap(result).ratio.estimate)


def test_the_gap_carries_the_r2_of_a_weak_line():
    rng = np.random.default_rng(0)
    old = np.linspace(0.3, 0.8, 60)
    noisy = 0.3 * old + 0.2 + rng.normal(0, 0.1, 60)
    found = resit.progress(
        accuracies("old", old, 900), accuracies("even", old - 0.1, 900), accuracies("noisy", noisy, 900), model_resamples=300
    )
    r2 = np.corrcoef(old, np.round(noisy * 900) / 900)[0, 1] ** 2
    assert 0.1 < r2 < 0.5
    assert f"; R² {r2:.2f} on noisy: progress on old explains little of accuracy there." in found.verdict[0]
    assert "on even: progress" not in found.verdict[0]
    flat = resit.progress(
        accuracies("old", old, 900),
        accuracies("even", old, 900),
        accuracies("flat", noisy - 0.3 * old, 900),
        model_resamples=300,
    )
    assert flat.gaps[0].ratio.estimate is None
    assert "; R² 0.0" in flat.verdict[0]


def test_a_rate_that_may_be_0_makes_the_gap_unbounded():
    flat = accuracies("flat", [0.5, 0.52, 0.49, 0.51, 0.5, 0.52, 0.49, 0.51], 500)
    found = resit.progress(*sets()[:2], flat, model_resamples=2_000)
    assert gap(found).ratio.estimate is None
    assert gap(found).ratio.reason == "unbounded: the interval of the slope on flat holds 0"
    assert "is not available: unbounded" in found.verdict[0]
    assert any("weak description of flat" in sentence for sentence in found.verdict)


def test_only_models_that_are_on_all_sets_count():
    short = sets()[2]
    found = resit.progress(*sets()[:2], short.select(short.models[2:]), **FEW)
    assert {one.n_models for one in found.rates} == {6}
    assert found.left_out == ("m0", "m1")
    assert "2 models are not on all sets" in str(found)


def test_a_model_at_0_without_a_count_leaves_the_logit_scale_of_every_set():
    new = [accuracies("fast", FAST), accuracies("slow", [0.0, *SLOW[1:]])]
    found = resit.progress(accuracies("old", OLD), *new, **FEW)
    assert {one.fits["logit"].n_models for one in found.rates} == {7}
    assert {one.fits["linear"].n_models for one in found.rates} == {8}


def test_answers_allow_other_bootstraps_and_shared_examples_are_told():
    answers = [predictions(name, values, seed=at) for at, (name, values) in enumerate((("old", OLD), ("a", FAST), ("b", FAST)))]
    found = resit.progress(*answers, bootstrap="crossed", **FEW)
    assert gap(found).ratio.method.startswith("percentile bootstrap over crossed")
    assert [one.code for one in found.warnings] == ["overlap-not-counted"]
    assert resit.progress(*answers, **FEW).warnings == ()


def test_json_round_trip_and_schema(result: Progress):
    text = result.to_json()
    assert Progress.from_json(text) == result
    assert json.loads(text)["schema"] == "resit.progress/1"
    with pytest.raises(InputError, match="not a result of schema"):
        resit.Result.from_json(text)


def test_names_are_escaped_in_notebooks():
    page = resit.progress(*sets()[:2], accuracies("<b>", SLOW, 500), **FEW)._repr_html_()
    assert "<b></td>" not in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"standard": "nowhere"}, "no new set is called 'nowhere'"),
        ({"bootstrap": "examples"}, "figures only"),
        ({"bootstrap": "families"}, "model table"),
        ({"models": ["x*"]}, "no model of any set fits"),
    ],
)
def test_what_cannot_be_done_is_refused(settings, message: str):
    with pytest.raises(UsageError, match=message):
        resit.progress(*sets(), **settings)


def test_leaderboards_agree_with_an_independent_computation(shared_data: Path):
    names = ("imagenet", "imagenetv2-matched-frequency", "imagenet-a")
    paths = [shared_data / "leaderboards" / f"timm-results-{name}.csv" for name in names]
    found = resit.progress(*map(resit.load_accuracies, paths), model_resamples=500)
    tables = []
    for path in paths:
        with path.open(encoding="utf-8-sig", newline="") as file:
            tables.append({(line["model"], line["img_size"]): float(line["top1"]) / 100 for line in csv.DictReader(file)})
    keys = sorted(set.intersection(*(set(table) for table in tables)))
    x, v2, a = ([table[key] for key in keys] for table in tables)
    top1 = next(one for one in found.gaps if (one.metric, one.scale) == ("top1", "linear"))
    assert found.rates[0].n_models == len(keys)
    assert top1.ratio.estimate == pytest.approx(np.polyfit(x, v2, 1)[0] / np.polyfit(x, a, 1)[0], rel=1e-9)
