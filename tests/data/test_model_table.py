"""What is known of models, and the published figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from exam_files import refusal, write_csv

from resit.data import ModelId, load_model_table, published, published_names
from resit.errors import InputError, UsageError


def test_a_table_of_models(tmp_path: Path):
    rows = ["vgg,,VGG,2014-09,no", "resnet,224,ResNet,2015,", "resnet,,ResNets,,yes"]
    table = load_model_table(write_csv(tmp_path / "models.csv", "Model,Variant,Family,Release Date,Extra Data", rows))
    assert table.columns == ("family", "date", "extra_data")
    assert table.get(ModelId("vgg", "288"), "date") == "2014-09"
    assert table.get(ModelId("resnet", "224"), "family") == "ResNet"
    assert table.get(ModelId("resnet", "288"), "family") == "ResNets"
    assert table.get(ModelId("resnet", "224"), "extra_data") is None
    assert table.get(ModelId("bert"), "family") is None


def test_a_year_stands_for_the_date_only_where_there_is_none(tmp_path: Path):
    year = load_model_table(write_csv(tmp_path / "a.csv", "model,year", ["a,2014"]))
    assert year.get(ModelId("a"), "date") == "2014"
    both = load_model_table(write_csv(tmp_path / "b.csv", "model,year,date", ["a,2014,2014-09-04"]))
    assert both.get(ModelId("a"), "date") == "2014-09-04"
    assert both.get(ModelId("a"), "year") == "2014"


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("who,family", ["a,x"], r"no column of models among who, family\. Call it model"),
        ("model,family", ["a,x", "a,y"], "models there twice: a"),
        ("model,date", ["a,last year"], "dates that are none: a: last year. Write 2019, 2019-06 or 2019-06-11"),
        ("model,date", ["a,2019-13"], "dates that are none: a: 2019-13"),
        ("model,year,released", ["a,2019,2019"], "two columns mean date"),
        ("model,family,Family", ["a,x,y"], "two columns mean"),
    ],
)
def test_tables_that_contradict_themselves_are_refused(tmp_path: Path, header: str, rows: list[str], message: str):
    path = write_csv(tmp_path / "models.csv", header, rows)
    assert message.split("\\")[0] in str(refusal(lambda: load_model_table(path), InputError))


def test_a_row_that_says_the_same_twice_is_one(tmp_path: Path):
    assert len(load_model_table(write_csv(tmp_path / "models.csv", "model,family", ["a,x", "a,x"])).rows) == 1


def test_no_such_table(tmp_path: Path):
    assert "no such file" in str(refusal(lambda: load_model_table(tmp_path / "models.csv"), InputError))


@pytest.mark.parametrize(
    ("name", "models", "sizes"), [("imagenetv2", 67, [50_000, 10_000, 10_000]), ("cifar10.1", 30, [10_000, 2021, 2000])]
)
def test_published_figures(name: str, models: int, sizes: list[int]):
    assert name in published_names()
    found = published(name)
    sets = [found.original, *found.new]
    assert [len(figures.models) for figures in sets] == [models] * 3
    assert [int(figures.metrics["top1"].n.max()) for figures in sets] == sizes
    assert len({figures.name for figures in sets}) == 3
    assert all(figures.provenance and "arXiv" in figures.provenance["source"] for figures in sets)
    kinds = [found.table.get(model, "kind") for model in found.original.models]
    assert None not in kinds
    assert load_model_table(name) is found.table
    if name == "imagenetv2":
        assert kinds.count("convnet") == 64


def test_no_such_published_figures():
    assert "There are imagenetv2, cifar10.1" in str(refusal(lambda: published("mnist"), UsageError))
