"""Which countries groups are made of, where a column of the set tells."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import resit
from resit import Benchmark, Groups, ModelId, Predictions
from resit.study.groups_result import Countries, CountryGroup

HOME = {"Kenya": "Africa", "Ghana": "Africa", "Peru": "Americas", "Chile": "Americas"}


def answers(columns: dict[str, list[str]]) -> Predictions:
    n = len(next(iter(columns.values())))
    benchmark = Benchmark("set", np.zeros((n, 1), np.int32), groups={name: np.array(v, str) for name, v in columns.items()})
    return Predictions(benchmark, (ModelId("m"),), (np.arange(n) % 3 == 0).astype(np.int16)[None, :, None])


def countries_by(columns: dict[str, list[str]], by: str) -> Countries | None:
    return resit.groups(answers(columns), by=by, resamples=0).studies[0].countries


def of_home(each: int = 40) -> dict[str, list[str]]:
    country = [name for name in HOME for _ in range(each)]
    return {"ip_country": country, "region": [HOME[name] for name in country]}


def test_regions_know_their_countries():
    found = countries_by(of_home(), "region")
    assert found == Countries("ip_country", tuple(CountryGroup(name, HOME[name], 40, 0) for name in sorted(HOME)))


def test_a_few_examples_in_another_region_are_counted_and_many_mean_that_it_is_none():
    columns = of_home()
    columns["region"][:4] = ["Americas"] * 4
    found = countries_by(columns, "region")
    assert found is not None
    assert CountryGroup("Kenya", "Africa", 36, 4) in found.of_groups
    columns["region"][:12] = ["Americas"] * 12
    assert countries_by(columns, "region") is None


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("sex", ["f", "m"] * 80),
        ("indoors", ["no"] * 157 + ["yes"] * 3),
        ("one", ["all"] * 160),
        ("household", [f"h{at // 2}" for at in range(160)]),
    ],
)
def test_groups_that_are_not_made_of_countries_have_none(column: str, values: list[str]):
    assert countries_by(of_home() | {column: values}, column) is None


def test_no_column_of_countries_the_column_itself_and_crossed_groups_have_none():
    columns = of_home()
    assert countries_by({"region": columns["region"]}, "region") is None
    assert countries_by(columns, "ip_country") is None
    assert countries_by({"region": columns["region"], "country": [""] * 160}, "region") is None
    found = resit.groups(answers(columns | {"sex": ["f", "m"] * 80}), by=["region", "sex"], resamples=0)
    assert [one.countries is not None for one in found.studies] == [True, False, False]


def test_missing_countries_and_missing_regions_are_let_be():
    columns = of_home()
    columns["ip_country"][0] = ""
    columns["region"][1] = ""
    found = countries_by(columns, "region")
    assert found is not None
    assert CountryGroup("Kenya", "Africa", 38, 1) in found.of_groups


def test_it_goes_through_json_and_an_older_result_without_it_is_read():
    found = resit.groups(answers(of_home()), by="region", resamples=0)
    text = found.to_json()
    assert Groups.from_json(text) == found
    older = json.loads(text)
    for study in older["studies"]:
        del study["countries"]
    assert Groups.from_json(json.dumps(older)).studies[0].countries is None


def test_regions_of_both_real_sets_are_made_of_countries(shared_data: Path, tmp_path: Path):
    for file, column, label, regions, countries in (
        ("geode", "ip_country", "1k_index", 6, 37),
        ("dollarstreet", "country", "sin21k_targets", 4, 54),
    ):
        path = shared_data / "geography" / f"{file}_metadata.csv"
        (tmp_path / file).mkdir()
        np.save(tmp_path / file / "m.npy", np.zeros({"geode": 10_333, "dollarstreet": 13_565}[file], np.int16))
        data = resit.load_predictions(tmp_path / file, labels=f"{path}::{label}")
        (study,) = resit.groups(data, by="region", resamples=0).studies
        assert study.countries is not None
        assert study.countries.column == column
        assert len(study.countries.of_groups) == countries
        assert len({one.group for one in study.countries.of_groups}) == regions
        assert sum(one.n + one.n_elsewhere for one in study.countries.of_groups) == data.benchmark.n
