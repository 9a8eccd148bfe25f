"""Groups against plain loops, and the cases that users met."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made import accuracies, predictions
from scipy import stats

import resit
from resit import Benchmark, Groups, InputError, ModelId, Predictions, UsageError
from resit.study.groupings import MISSING
from resit.study.groups_result import GroupScore, GroupStudy
from resit.study.groups_verdict import trend_sentence

REGIONS = {"Africa": 0.55, "Asia": 0.65, "Europe": 0.8}


def answers(
    columns: dict[str, list[str]], chance: np.ndarray, models: int = 1, name: str = "set", depth: int = 1, seed: int = 0
) -> Predictions:
    """Models that are right with a chance for each example; every class but the first of an answer is wrong."""
    rng, n = np.random.default_rng(seed), len(chance)
    labels = np.arange(n) % 10
    right = rng.random((models, n)) < chance + 0.02 * np.arange(models)[:, None]
    first = np.where(right, labels, (labels + 1) % 10)
    given = np.stack([first, *((labels + 2 + at) % 10 + 0 * first for at in range(depth - 1))], axis=2)
    groups = {column: np.array(values, str) for column, values in columns.items()}
    benchmark = Benchmark(name, labels[:, None].astype(np.int32), groups=groups)
    return Predictions(benchmark, tuple(ModelId(f"m{at}") for at in range(models)), given.astype(np.int16))


def by_region(sizes: tuple[int, int, int] = (300, 400, 350), **more) -> Predictions:
    regions = np.repeat(list(REGIONS), sizes).tolist()
    return answers({"region": regions}, np.array([REGIONS[one] for one in regions]), **more)


def study(found: Groups, by: str = "region", metric: str = "top1") -> GroupStudy:
    (one,) = [one for one in found.studies if one.by == by and one.metric == metric]
    return one


def score(one: GroupStudy, group: str, model: int = 0) -> GroupScore:
    (found,) = [score for score in one.models[model].groups if score.group == group]
    return found


def codes(found: Groups) -> set[str]:
    return {warning.code for warning in found.warnings}


@pytest.fixture(scope="module")
def data() -> Predictions:
    return by_region(models=3)


@pytest.fixture(scope="module")
def result(data: Predictions) -> Groups:
    return resit.groups(data, by="region", pair=("Europe", "Africa"), resamples=2_000)


def test_groups_are_those_of_a_loop(data: Predictions, result: Groups):
    right, regions = data.correct(), data.benchmark.groups["region"]
    for at, one in enumerate(study(result).models):
        for group in one.groups:
            mine = right[at][regions == group.group]
            exact = stats.binomtest(int(mine.sum()), len(mine)).proportion_ci(method="exact")
            assert (group.n, group.correct) == (len(mine), mine.sum())
            assert group.accuracy.estimate == pytest.approx(mine.mean())
            assert (group.accuracy.low, group.accuracy.high) == (pytest.approx(exact.low), pytest.approx(exact.high))
            by_class = [right[at][(regions == group.group) & (data.benchmark.labels[:, 0] == c)].mean() for c in range(10)]
            assert group.class_macro.estimate == pytest.approx(np.mean(by_class))
            assert group.class_macro.low < group.class_macro.estimate < group.class_macro.high
            assert group.standardised.low < group.standardised.estimate < group.standardised.high


def test_disparity_and_pair_are_differences_with_the_right_signs(result: Groups):
    for one in study(result).models:
        values = {group.group: group.accuracy.estimate for group in one.groups}
        found = one.disparity
        assert (found.best, found.worst) == (max(values, key=values.get), min(values, key=values.get))
        gap = max(values.values()) - min(values.values())
        assert found.difference.estimate == pytest.approx(gap)
        assert found.normalised.estimate == pytest.approx(gap / max(values.values()))
        assert one.pair.difference.estimate == pytest.approx(values["Europe"] - values["Africa"])
        assert one.pair.difference.high - one.pair.difference.low < found.difference.high - found.difference.low
        assert found.null.p_value == pytest.approx(1 / 2_001)
        assert 0 < found.null.mean < found.null.upper < found.difference.estimate
    turned = resit.groups(by_region(models=3), by="region", pair=("Africa", "Europe"), resamples=50)
    was, now = (study(each).models[0].pair.difference for each in (result, turned))
    assert (now.estimate, now.low, now.high) == (-was.estimate, pytest.approx(-was.high), pytest.approx(-was.low))


def test_verdict_says_no_more_than_the_intervals():
    told = resit.groups(by_region(), by="region", pair=("Europe", "Africa"), resamples=500).verdict
    assert "points apart" in told[0]
    assert "Europe is ahead" in told[1]
    regions = np.repeat(list(REGIONS), 100).tolist()
    alike = resit.groups(answers({"region": regions}, np.full(300, 0.7)), by="region", pair=("Europe", "Africa"), resamples=500)
    assert "no two groups are shown to differ" in alike.verdict[0]
    assert "neither is shown to be ahead" in alike.verdict[1]


def test_columns_are_crossed():
    columns = {"region": ["A", "A", "B", "B"] * 100, "sex": ["f", "m"] * 200}
    found = resit.groups(answers(columns, np.full(400, 0.7)), by=["region", "sex"], resamples=50)
    assert [one.by for one in found.studies] == ["region", "sex", "region × sex"]
    assert [one.group for one in study(found, "region × sex").models[0].groups] == ["A × f", "A × m", "B × f", "B × m"]
    assert {one.n for one in study(found, "region × sex").models[0].groups} == {100}


def test_numbers_are_cut_into_quantiles():
    income = np.random.default_rng(0).permutation(np.arange(400)).astype(str).tolist()
    found = resit.groups(answers({"income": income}, np.full(400, 0.7)), by="income", quantiles={"income": 4}, resamples=50)
    groups = study(found, "income").models[0].groups
    assert [one.n for one in groups] == [100] * 4
    assert groups[0].group == "income 1 of 4: 0 to 99"


def test_many_groups_have_percentile_gaps_with_a_null():
    country = np.repeat([f"c{at:02}" for at in range(20)], 60)
    chance = np.repeat(np.linspace(0.4, 0.9, 20), 60)
    found = resit.groups(answers({"country": country.tolist()}, chance), by="country", resamples=1_000)
    gaps = study(found, "country").models[0].percentile_gaps
    values = sorted(one.accuracy.estimate for one in study(found, "country").models[0].groups)
    assert [(gap.percent, gap.n_each) for gap in gaps] == [(5, 1), (10, 2), (25, 5)]
    for gap in gaps:
        assert gap.difference == pytest.approx(np.mean(values[-gap.n_each :]) - np.mean(values[: gap.n_each]))
        assert gap.null.p_value < 0.01
    assert gaps[0].difference == pytest.approx(study(found, "country").models[0].disparity.difference.estimate)


def test_clusters_widen_intervals_and_are_permuted_whole():
    rng = np.random.default_rng(1)
    home = np.repeat(np.arange(90), 10)
    chance = (0.6 + 0.3 * (2 * rng.integers(2, size=90) - 1))[home]
    columns = {"region": np.array(["A", "B", "C"])[home % 3].tolist(), "home": home.astype(str).tolist()}
    plain, wide = (
        resit.groups(answers(columns, chance), by="region", cluster=cluster, resamples=1_000) for cluster in (None, "home")
    )
    narrow, broad = (study(found).models[0].disparity for found in (plain, wide))
    assert broad.difference.estimate == narrow.difference.estimate
    assert broad.difference.high > narrow.difference.high
    assert broad.null.upper > 1.3 * narrow.null.upper
    assert (broad.null.unit, narrow.null.unit) == ("clusters", "examples")
    assert score(study(wide), "A").n_clusters == 30
    assert "redraws them one by one" in score(study(wide), "A").class_macro.reason


def test_clusters_in_several_groups_are_split_where_few_and_told():
    home = np.repeat(np.arange(100), 6)
    region = np.array(["A", "B"])[home % 2]
    region[0] = "B"
    columns = {"region": region.tolist(), "home": home.astype(str).tolist(), "half": (["x", "y"] * 300)}
    found = resit.groups(answers(columns, np.full(600, 0.7)), by=["region", "half"], cluster="home", resamples=200)
    assert study(found).n_split_clusters == 1
    assert study(found).models[0].disparity.null.mean is not None
    assert study(found, "half").models[0].disparity.null.mean is None
    assert study(found, "half").models[0].disparity.difference.low is not None
    assert codes(found) == {"split-clusters", "no-null"}


def test_disparity_against_the_original_is_a_slope():
    shown = by_region(models=6, name="new")
    original = accuracies("old", [0.5, 0.55, 0.62, 0.7, 0.78, 0.8], 500)
    found = resit.groups(shown, by="region", pair=("Europe", "Africa"), original=original, resamples=500)
    x = [0.5, 0.55, 0.62, 0.7, 0.78, 0.8]
    trends = {trend.measure: trend for trend in found.trends}
    assert set(trends) == {
        f"{name}{end}" for name in ("best minus worst", "Europe minus Africa") for end in ("", ", normalised")
    }
    y = [one.pair.difference.estimate for one in study(found).models]
    plain = stats.linregress(x, y)
    trend = trends["Europe minus Africa"]
    assert (trend.slope.estimate, trend.r2) == (pytest.approx(plain.slope), pytest.approx(plain.rvalue**2))
    assert trend.slope.low < trend.slope.estimate < trend.slope.high
    assert trend_sentence(trend, "old") in found.verdict
    two = resit.groups(by_region(models=2, name="new"), by="region", original=original, resamples=50)
    assert two.trends[0].slope.estimate is None
    assert "no line" in two.verdict[-1]


def test_case_17_a_group_called_na_is_a_string(tmp_path: Path):
    (tmp_path / "set.csv").write_text(
        "id,label,country\n" + "".join(f"{at:03},{at % 10},{'NA' if at % 2 else 'DE'}\n" for at in range(200))
    )
    (tmp_path / "set").mkdir()
    np.save(tmp_path / "set" / "m.npy", np.arange(200) % 10)
    data = resit.load_predictions(tmp_path / "set")
    found = resit.groups(data, by="country", resamples=50)
    assert [one.group for one in study(found, "country").models[0].groups] == ["DE", "NA"]
    assert data.benchmark.ids[7] == "007"
    assert study(found, "country").n_missing == 0


def test_case_18_missing_groups_are_a_group_and_can_be_refused():
    columns = {"region": (["A", "B", ""] * 60), "sex": (["f", "m"] * 90)}
    data = answers(columns, np.full(180, 0.7))
    found = resit.groups(data, by=["region", "sex"], resamples=50)
    assert score(study(found), MISSING).n == 60
    assert study(found).n_missing == study(found, "region × sex").n_missing == 60
    assert score(study(found, "region × sex"), f"{MISSING} × f").n == 30
    assert "missing-groups" in codes(found)
    with pytest.raises(UsageError, match="60 of 180 examples of set have no region"):
        resit.groups(data, by="region", refuse_missing=True)
    with pytest.raises(UsageError, match="both missing and called"):
        resit.groups(answers({"region": ["", MISSING] * 50}, np.full(100, 0.5)), by="region")


def test_case_22_top_5_of_few_answers_is_not_available(data: Predictions):
    assert {one.metric for one in resit.groups(data, by="region", resamples=10).studies} == {"top1"}
    deep = resit.groups(by_region(depth=5), by="region", resamples=10)
    assert {one.metric for one in deep.studies} == {"top1", "top5"}


def test_case_23_groups_and_classes_of_one_name_are_told_apart():
    groups = np.array(["x"] * 60 + ["y"] * 60)
    classes = tuple(resit.data.ClassInfo(f"n{at}", "crane" if at < 2 else f"c{at}") for at in range(4))
    labels = (np.arange(120) % 2)[:, None].astype(np.int32)
    benchmark = Benchmark("set", labels, classes=classes, groups={"g": groups})
    data = Predictions(benchmark, (ModelId("m"),), np.where(labels == 0, 0, 2)[None].astype(np.int16))
    found = study(resit.groups(data, by="g", resamples=10), "g")
    assert found.n_classes == 2
    assert score(found, "x").class_macro.estimate == 0.5


def test_case_27_none_and_all_right_have_outer_bounds_of_0_and_1():
    columns = {"region": ["A"] * 40 + ["B"] * 50, "home": [str(at // 2) for at in range(90)]}
    data = answers(columns, np.repeat([-1.0, 2.0], [40, 50]))
    for cluster in (None, "home"):
        found = study(resit.groups(data, by="region", cluster=cluster, resamples=200))
        low, high = score(found, "A").accuracy, score(found, "B").accuracy
        assert (low.estimate, low.low, high.estimate, high.high) == (0, 0, 1, 1)
        assert 0 < low.high < 0.2
        assert 0.8 < high.low < 1
        assert found.models[0].disparity.difference.high == 1
        assert found.models[0].disparity.difference.low < 1
        assert found.models[0].disparity.normalised.estimate == 1
    nothing = resit.groups(answers({"region": ["A", "B"] * 40}, np.full(80, -1.0)), by="region", resamples=50)
    assert study(nothing).models[0].disparity.normalised.reason == "both accuracies are 0"
    assert Groups.from_json(nothing.to_json()) == nothing


def test_case_30_resamples_that_lose_a_group_are_counted_and_too_many_make_no_interval():
    home = np.repeat(np.arange(40), 10)
    half = np.where(np.arange(400) % 2 == 0, "x", "y").astype(object)
    half[[0, 10]] = "rare"
    columns = {"half": half.tolist(), "home": home.astype(str).tolist()}
    found = study(
        resit.groups(answers(columns, np.full(400, 0.7)), by="half", cluster="home", min_size=1, resamples=500), "half"
    )
    assert score(found, "rare").accuracy.low is None
    assert "resamples of clusters lose a group" in found.models[0].disparity_all.difference.reason
    assert found.models[0].disparity.difference.low is not None


def test_case_31_a_group_of_one_is_exact_flagged_and_not_the_headline():
    regions = ["Africa"] * 100 + ["Europe"] * 100 + ["Island"]
    found = resit.groups(answers({"region": regions}, np.append(np.full(200, 0.7), -1.0)), by="region", resamples=50)
    island, one = score(study(found), "Island"), study(found).models[0]
    assert (island.small, island.n, island.accuracy.low) == (True, 1, 0)
    assert island.accuracy.high == pytest.approx(0.975)
    assert one.disparity.worst != "Island"
    assert one.disparity_all.worst == "Island"
    assert study(found).small == ("Island",)
    assert "small-groups" in codes(found)
    assert "with them the worst is Island" in " ".join(found.verdict)
    assert "under 30 examples" in island.standardised.reason
    alone = resit.groups(answers({"region": ["A"] * 99 + ["B"]}, np.full(100, 0.7)), by="region", resamples=50)
    assert "fewer than two groups" in alone.verdict[0]


def test_right_and_wrong_alone_have_groups_but_no_classes():
    benchmark = Benchmark("set", np.ones((90, 1), np.int32), label_space="correctness", groups={"g": np.array(["a", "b"] * 45)})
    data = Predictions(benchmark, (ModelId("m"),), (np.arange(90) % 3 > 0).astype(np.int16)[None, :, None])
    found = study(resit.groups(data, by="g", resamples=50), "g")
    assert found.models[0].disparity.difference.estimate is not None
    assert "only right or wrong is known" in score(found, "a").class_macro.reason


def test_classes_of_one_example_have_no_bootstrap():
    data = answers({"g": ["a", "b"] * 60, "topic": [f"t{at // 2}" for at in range(120)]}, np.full(120, 0.6))
    found = score(study(resit.groups(data, by="g", class_column="topic", resamples=50), "g"), "a")
    assert found.class_macro.low is None
    assert "100%" in found.class_macro.reason


def test_same_seed_same_figures_and_a_figure_does_not_depend_on_other_models(data: Predictions):
    one, again, other = (resit.groups(data, by="region", seed=seed, resamples=200) for seed in (1, 1, 2))
    assert one == again
    assert one.studies != other.studies
    alone = resit.groups(data, by="region", models=["m1"], seed=1, resamples=200)
    assert study(alone).models[0] == study(one).models[1]


def test_json_round_trip_and_schema(result: Groups):
    assert Groups.from_json(result.to_json()) == result
    assert json.loads(result.to_json())["schema"] == "resit.groups/1"
    with pytest.raises(InputError, match="not a result of schema"):
        resit.Result.from_json(result.to_json())


def test_summaries_say_what_was_found_and_escape_names(result: Groups):
    assert "best − worst, points" in str(result)
    hostile = resit.groups(answers({"g": ["<b>", "c"] * 50}, np.full(100, 0.7)), by="g", resamples=10)._repr_html_()
    assert "<b></td>" not in hostile
    assert "&lt;b&gt;" in hostile


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": "regoin"}, "no group column 'regoin'"),
        ({"by": ()}, "a set and a group column"),
        ({"by": ["region", "region"]}, "twice"),
        ({"pair": ("Europe", "Mars")}, "no column has both 'Europe' and 'Mars'"),
        ({"pair": ("Europe", "Europe")}, "two different groups"),
        ({"cluster": "home"}, "no group column 'home'"),
        ({"class_column": "topic"}, "no group column 'topic'"),
        ({"quantiles": {"income": 4}}, "income is no column of --by"),
        ({"quantiles": {"region": 4}}, "is no number"),
        ({"level": 95}, "between 0 and 1"),
        ({"seed": -1}, "not negative"),
        ({"resamples": -1}, "not negative"),
        ({"min_size": -1}, "not negative"),
        ({"models": ["x*"]}, "no model of any set fits"),
        ({"original": "old"}, "the original is"),
    ],
)
def test_what_cannot_be_done_is_refused(data: Predictions, settings, message: str):
    with pytest.raises(UsageError, match=message):
        resit.groups(data, **{"by": "region", "resamples": 10, **settings})


def test_figures_without_answers_and_too_many_groups_are_refused():
    with pytest.raises(UsageError, match="has figures only"):
        resit.groups(accuracies("old", [0.5, 0.6]), by="region")
    with pytest.raises(UsageError, match="at most 1,000 groups"):
        resit.groups(answers({"id": [str(at) for at in range(1_200)]}, np.full(1_200, 0.5)), by="id")
    with pytest.raises(UsageError, match="two sets are called set"):
        resit.groups(by_region(), by_region(), by="region")


def test_no_resamples_leave_exact_figures():
    found = study(resit.groups(by_region(), by="region", resamples=0))
    assert found.models[0].disparity.difference.low is not None
    assert found.models[0].disparity.null.reason == "no permutations were asked for"
    assert score(found, "Asia").class_macro.low is None


def test_several_columns_written_as_one_say_how_to_write_them():
    given = predictions("geo", [0.9, 0.8], groups={"region": np.array(["a", "b"] * 200), "income": np.array(["x"] * 400)})
    with pytest.raises(UsageError, match=r"is several columns\. Write --by region --by income"):
        resit.groups(given, by="region,income")
