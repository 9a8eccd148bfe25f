"""The metadata of GeoDE and Dollar Street, as they are published, are labels with groups."""

from __future__ import annotations

import csv
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest

from resit.data.addresses import households
from resit.data.labels import read_labels
from resit.data.load import load_predictions
from resit.errors import InputError

HEAD = "url,income,region,label,targets\n"
ROW = "https://static.dollarstreet.org/media/{}/image/{}/x.jpg,12.5,{},\"['cups', 'pans']\",\"[3, 4]\"\n"


def published(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def accepted(values: np.ndarray) -> list[list]:
    return [[item for item in row if item not in (-1, "")] for row in values.tolist()]


def test_geode_loads_as_published(shared_data: Path, tmp_path: Path):
    path = shared_data / "geography" / "geode_metadata.csv"
    rows, sheet = published(path), read_labels(path)
    assert accepted(sheet.entries.values) == [literal_eval(row["1k_index"]) for row in rows]
    for column in ("region", "ip_country", "object", "gps_position", "gps_altitude"):
        assert sheet.groups[column].tolist() == [row[column].strip() for row in rows]
    folder = tmp_path / "geode"
    folder.mkdir()
    np.save(folder / "second.npy", np.stack([sheet.entries.values[:, 1 % 8], sheet.entries.values[:, 0]], axis=1))
    found = load_predictions(folder, labels=path)
    assert found.n == 10_333
    assert found.correct(2).all()
    regions, counts = np.unique(found.benchmark.groups["region"], return_counts=True)
    assert regions.tolist() == ["Africa", "Americas", "EastAsia", "Europe", "SouthEastAsia", "WestAsia"]
    assert counts.tolist() == [2049, 1611, 1586, 1885, 1743, 1459]


@pytest.mark.parametrize("column", ["sin21k_targets", "sin21k_labels", "label", "sin21k_targets_alibaba"])
def test_dollar_street_loads_as_published_by_any_of_its_label_columns(shared_data: Path, column: str):
    path = shared_data / "geography" / "dollarstreet_metadata.csv"
    rows, sheet = published(path), read_labels(f"{path}::{column}")
    assert accepted(sheet.entries.values) == [literal_eval(row[column]) for row in rows]
    assert sheet.ids is not None
    assert sheet.ids.tolist() == [row["url"] for row in rows]
    for name in ("region", "country", "income", "lat", "lng"):
        assert sheet.groups[name].tolist() == [row[name] for row in rows]
    assert len(set(sheet.groups["household"])) == 290
    assert sheet.groups["household"][0] == "Bangladesh 10"


def test_a_column_of_labels_is_chosen(tmp_path: Path):
    path = tmp_path / "set.csv"
    path.write_text(HEAD + ROW.format("Peru%201", "a", "NA") + ROW.format("Peru%202", "b", ""))
    sheet = read_labels(f"{path}::targets")
    assert accepted(sheet.entries.values) == [[3, 4], [3, 4]]
    assert sheet.groups["region"].tolist() == ["NA", ""]
    assert sheet.groups["household"].tolist() == ["Peru 1", "Peru 2"]
    assert accepted(read_labels(path).entries.values) == [["cups", "pans"], ["cups", "pans"]]
    with pytest.raises(InputError, match="no column 'target'"):
        read_labels(f"{path}::target")


def test_only_tables_have_columns_of_labels(tmp_path: Path):
    np.save(tmp_path / "labels.npy", np.arange(3))
    with pytest.raises(InputError, match="Only tables have columns"):
        read_labels(f"{tmp_path / 'labels.npy'}::label")


def test_addresses_are_ids_only_where_each_is_another_and_homes_only_where_all_tell(tmp_path: Path):
    path = tmp_path / "set.csv"
    path.write_text("url,label\nhttps://example.org/a,1\nhttps://example.org/a,2\n")
    sheet = read_labels(path)
    assert sheet.ids is None
    assert list(sheet.groups) == ["url"]
    known = "http://static.dollarstreet.org/media/Peru%201/image/a/b.jpg"
    assert households(np.array([known, "http://example.org/media/Peru/image/b.jpg"])) is None
    assert households(np.array([known])).tolist() == ["Peru 1"]
    path.write_text(f"url,label,household\n{known},1,mine\n")
    assert read_labels(path).groups["household"].tolist() == ["mine"]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("['pot', 'pan, cooking_pan']", ["pot", "pan, cooking_pan"]),
        ("[\"potter's wheel\", 'cup']", ["potter's wheel", "cup"]),
        ("[potter's wheel, cup]", ["potter's wheel", "cup"]),
        ("['414', '748']", [414, 748]),
        ("[414, 748]", [414, 748]),
    ],
)
def test_lists_in_text_are_split_as_they_were_written(tmp_path: Path, text: str, items: list):
    quoted = text.replace('"', '""')
    path = tmp_path / "labels.csv"
    path.write_text(f'id,label\na,"{quoted}"\nb,"{quoted}"\n')
    assert accepted(read_labels(path).entries.values) == [items, items]
