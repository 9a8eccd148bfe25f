"""A configuration says what it means, and a fault in it is told with its key and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from resit.build.config import BuildConfig, config_text, read_config, schema_text
from resit.errors import InputError

SMALLEST = {"name": "mytest", "per_class": 200, "original": {"source": "cifar10/test.parquet"}}
FULL = """\
# by hand
name: mytest
version: "1.0"
seed: 7
database: postgresql+psycopg://ann@db/build
per_class: 10
original:
  source: "hf:cifar10@test"
  classes: cifar10
sampling:
  strategy: threshold
  threshold: 0.7
  exceptions:
    "007": 0.5
    n01440764: 1
  edges: [1, 3]
votes: {task: 20, positive: 2}
duplicates:
  neighbours: 10
  metrics:
    dssim: {target: 0.1}
    pixels: {}
references:
  - train.parquet
  - train-1.parquet
"""


def read(text: str, folder: Path) -> BuildConfig:
    path = folder / "build.yaml"
    path.write_text(text, encoding="utf-8")
    return read_config(path)


def test_what_people_write_is_read(tmp_path: Path):
    config = read(FULL, tmp_path)
    assert (config.name, config.version, config.seed, config.per_class) == ("mytest", "1.0", 7, 10)
    assert config.database == "postgresql+psycopg://ann@db/build"
    assert (config.original.source, config.original.classes, config.original.counts) == ("hf:cifar10@test", "cifar10", None)
    assert (config.sampling.strategy, config.sampling.threshold, config.sampling.edges) == ("threshold", 0.7, (1, 3))
    assert config.sampling.exceptions == {"007": 0.5, "n01440764": 1.0}
    assert (config.votes.task, config.votes.positive, config.votes.negative, config.votes.people) == (20, 2, 3, 10)
    assert {name: metric.target for name, metric in config.duplicates.metrics.items()} == {"dssim": 0.1, "pixels": None}
    assert config.references == ("train.parquet", "train-1.parquet")


def test_the_defaults_are_those_of_the_papers():
    config = BuildConfig.model_validate(SMALLEST)
    assert (config.sampling.strategy, config.sampling.threshold, config.sampling.edges) == (
        "matched-frequency",
        0.7,
        (1, 2, 3, 4),
    )
    assert (config.sampling.minimum_votes, config.sampling.minimum_originals) == (10, 20)
    assert (config.votes.task, config.votes.positive, config.votes.negative, config.votes.people) == (48, 3, 3, 10)
    assert config.duplicates.neighbours == 30
    assert (config.seed, config.database, config.references) == (0, None, ())


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("seed: 7", "sead: 7", 4, "unknown key sead. The keys here are name, version, seed"),
        ("per_class: 10", "per_clas: 10", 6, "unknown key per_clas (and 1 more)"),
        ("  threshold: 0.7", "  treshold: 0.7", 12, "unknown key sampling.treshold. The keys here are strategy, threshold"),
        (
            "dssim: {target: 0.1}",
            "dssim: {goal: 0.1}",
            21,
            "unknown key duplicates.metrics.dssim.goal. The keys here are",
        ),
        ('  source: "hf:cifar10@test"\n', "", 7, "the key original.source is missing. Add it"),
        ("name: mytest\n", "", 1, "the key name is missing. Add it"),
        ("mytest", "my/test", 2, "name: string should match pattern"),
        ('"1.0"', "1.0", 3, "version: input should be a valid string. Put it in quotes: YAML reads it as a number"),
        ('"007"', "7", 14, "sampling.exceptions.7: input should be a valid string. Put it in quotes"),
        ('"007": 0.5', '"007": 1.5', 14, "sampling.exceptions.007: input should be less than or equal to 1"),
        ("threshold: 0.7", "threshold: .nan", 12, "sampling.threshold: input should be"),
        ("per_class: 10", "per_class: 0", 6, "per_class: input should be greater than or equal to 1"),
        ("per_class: 10", "per_class: ten", 6, "per_class: input should be a valid integer"),
        ("strategy: threshold", "strategy: best", 11, "sampling.strategy: input should be 'matched-frequency', 'threshold'"),
        ("strategy: threshold", "strategy: keyword", 10, "sampling: the strategy keyword needs an attribute"),
        ("[1, 3]", "[3, 1]", 10, "sampling: edges are whole numbers from 1 to 4"),
        ("[1, 3]", "[1, 5]", 10, "sampling: edges are whole numbers from 1 to 4"),
        ("[1, 3]", "[0.2]", 16, "sampling.edges.0: input should be a valid integer"),
        ("positive: 2", "positive: 17", 17, "votes: a task must have room for candidates beside its controls"),
        ("positive: 2", "people: 9", 17, "votes: people is 9, too few for sampling.minimum_votes, 10"),
        ("- train-1.parquet", "- 1", 25, "references.1: input should be a valid string"),
        ("votes: {task: 20, positive: 2}", "votes: 20", 17, "votes: input should be a valid dictionary"),
    ],
)
def test_a_fault_is_told_with_its_key_and_line(tmp_path: Path, old: str, new: str, line: int, message: str):
    assert old in FULL
    with pytest.raises(InputError) as caught:
        read(FULL.replace(old, new, 1), tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'build.yaml'}, line {line}: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file"),
        ("# nothing\n", "no mapping of keys to values"),
        ("- name\n", "no mapping of keys to values"),
        ("name: [\n", "not valid YAML at line 2"),
        ("name: a\nname: b\n", "'name' is there twice"),
        ("!!python/object/apply:os.getcwd []\n", "not valid YAML"),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str, message: str):
    with pytest.raises(InputError, match=message):
        read(text, tmp_path)


def test_a_missing_file_is_told(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        read_config(tmp_path / "build.yaml")


def test_the_written_file_explains_each_key_and_names_its_schema():
    text = config_text(BuildConfig.model_validate(SMALLEST))
    assert text.startswith("# yaml-language-server: $schema=build.schema.json\n")
    lines = text.splitlines()
    for at, line in enumerate(lines):
        # Deeper are names that people choose, such as those of metrics.
        is_key = line and not line.lstrip().startswith(("#", "-")) and not line.startswith("    ")
        assert not is_key or lines[at - 1].lstrip().startswith("# "), line
    assert yaml.safe_load(text) == BuildConfig.model_validate(SMALLEST).model_dump(mode="json")


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\x85\u2028\u2029\ufeff"), min_size=1, max_size=20)


@given(
    name=st.from_regex(r"[A-Za-zäß :#'\"-]{1,12}", fullmatch=True),
    source=TEXT,
    class_id=TEXT,
    references=st.lists(TEXT, max_size=3),
    metrics=st.dictionaries(TEXT, st.none() | st.floats(0, 1e6), max_size=3),
    seed=st.integers(0, 2**40),
    fraction=st.floats(0, 1),
)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, **drawn: Any):
    config = BuildConfig.model_validate(
        {
            **SMALLEST,
            "name": drawn["name"],
            "seed": drawn["seed"],
            "original": {"source": drawn["source"]},
            "sampling": {"exceptions": {drawn["class_id"]: drawn["fraction"]}},
            "duplicates": {"metrics": {name: {"target": target} for name, target in drawn["metrics"].items()}},
            "references": drawn["references"],
        }
    )
    assert read(config_text(config), tmp_path_factory.getbasetemp()) == config


def test_the_schema_for_editors_knows_every_key_and_refuses_others():
    schema = json.loads(schema_text())
    assert set(schema["properties"]) == set(BuildConfig.model_fields)
    assert schema["additionalProperties"] is False
    assert all(section["additionalProperties"] is False for section in schema["$defs"].values())
    assert set(schema["required"]) == {"name", "per_class", "original"}
    assert all("description" in value for value in schema["properties"].values())
