"""What may be released, and what a release says of itself: README, datasheet, figures, notices."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from release_made import CLASSES, Build, rows, settings

from resit.build.release.croissant import semantic
from resit.build.release.figures import frequency_histogram
from resit.build.release.make import release
from resit.build.release.questions import SECTIONS
from resit.errors import InputError, UsageError
from resit.store.schemas import EXCLUDED, SELECTED, VERDICTS, VOTES, table


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return Build(tmp_path / "build")


def with_selected(build: Build, change: Any) -> Any:
    material = build.material()
    made = change(material.selection.selected.to_pylist())
    return replace(material, selection=replace(material.selection, selected=rows(SELECTED, made)))


def test_a_selection_that_is_short_is_refused_unless_allowed(build: Build, tmp_path: Path):
    material = with_selected(build, lambda made: [one for one in made if one["image"] != build.ids["n02"][0]])
    with pytest.raises(UsageError, match="1 classes are short: n02 has 3 of 4"):
        release(material, settings(), tmp_path / "r")
    done = release(material, settings(allow_short=True), tmp_path / "r")
    assert done.images == 11
    card = yaml.safe_load((tmp_path / "r" / "benchmark.yaml").read_text(encoding="utf-8"))
    assert (card["n"], card["per_class"]) == (11, {"n01": 4, "n02": 3, "n03": 4})
    assert "| crane (n02) | 6 | 0 | 5 | 1 | 1 | 0 | 0 | 0 | 4 | 4 | 3 | 1 |" in (tmp_path / "r" / "README.md").read_text()


def test_a_selection_that_says_itself_that_it_is_invalid_is_refused(build: Build, tmp_path: Path):
    material = build.material()
    material = replace(material, selection=replace(material.selection, record={"valid": False}))
    with pytest.raises(UsageError, match="an invalid selection"):
        release(material, settings(), tmp_path / "r")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: [], "a selection without images"),
        (lambda made: [*made, {**made[0], "class_id": "n02"}], "1 images are selected twice"),
        (lambda made: [{**made[0], "class_id": "n9"}, *made[1:]], "not in the class list: n9"),
        (lambda made: [{**made[0], "image": "0" * 64}, *made[1:]], "1 selected images are no candidates"),
    ],
)
def test_a_selection_that_does_not_fit_the_build_is_refused(build: Build, tmp_path: Path, change: Any, message: str):
    with pytest.raises(InputError, match=message):
        release(with_selected(build, change), settings(allow_short=True), tmp_path / "r")


def test_an_image_that_was_judged_wrong_since_is_refused(build: Build, tmp_path: Path):
    late = build.verdict("image", build.ids["n01"][0], "", "n01", "wrong", "2024-06-01T00:00:00Z")
    material = build.material()
    material = replace(material, verdicts=pa.concat_tables([material.verdicts, rows(VERDICTS, [late])]))
    with pytest.raises(InputError, match="1 selected image was judged wrong"):
        release(material, settings(allow_short=True), tmp_path / "r")


def test_what_nobody_looked_at_and_newer_votes_are_told(build: Build, tmp_path: Path):
    counts = build.material().counts.to_pylist()
    counts[0]["shown"] += 1
    material = build.material(verdicts=table(VERDICTS), counts=pa.Table.from_pylist(counts, build.material().counts.schema))
    done = release(material, settings(), tmp_path / "r")
    assert [notice.code for notice in done.notices] == ["not-reviewed", "newer-votes"]
    text = (tmp_path / "r" / "README.md").read_text(encoding="utf-8")
    assert "Nobody has looked at 12 of 12 selected images" in text
    assert "Votes on 1 images changed" in text


def test_counts_without_votes_are_enough(build: Build, tmp_path: Path):
    material = build.material(votes=table(VOTES), pairs=build.material().pairs.slice(0, 0))
    material = replace(material, selection=replace(material.selection, excluded=table(EXCLUDED)))
    folder = release(material, settings(), tmp_path / "r").folder
    assert "Counts of votes, without single votes." in (folder / "card" / "datasheet.md").read_text()


def test_the_datasheet_answers_what_is_known_and_marks_the_rest(build: Build, tmp_path: Path):
    folder = release(build.material(), settings(answers={"funding": "A grant.", "sample": "Ours."}), tmp_path / "r").folder
    text = (folder / "card" / "datasheet.md").read_text(encoding="utf-8")
    questions = {key: question for section in SECTIONS.values() for key, question in section.items()}
    assert all(f"**{question}** (`{key}`)" in text for key, question in questions.items())
    assert "A grant." in text
    assert "Ours." in text
    assert "12 images in 3 classes, 4 to 4 a class." in text
    assert "87 votes in 12 assignments by 4 people" in text
    assert "Votes are of 2024-05-01 to 2024-05-04." in text
    assert f"{text.count('**Open.**')} of {len(questions)} questions are open" in text
    assert "**Was any preprocessing, cleaning or labelling done?** (`preprocessing`)\n\nImages are as" in text
    with pytest.raises(UsageError, match="answers to questions that the datasheet does not have: fundng"):
        release(build.material(), settings(answers={"fundng": "x"}), tmp_path / "other")


def test_the_readme_tells_hugging_face_what_it_is(build: Build, tmp_path: Path):
    nasty = (CLASSES[0], CLASSES[1], replace_name("a|b <i> `x`\nnext"))
    folder = release(build.material(classes=nasty), settings(licence="Our own"), tmp_path / "r").folder
    _, front, body = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    told = yaml.safe_load(front)
    assert (told["license"], told["license_name"]) == ("other", "Our own")
    assert told["configs"][0]["data_files"] == [{"split": "test", "path": "data/test.parquet"}]
    names = told["dataset_info"]["features"][1]["dtype"]["class_label"]["names"]
    assert names["2"] == "a|b <i> `x`\nnext"
    assert r"| a\|b \<i\> \`x\` next | 6 |" in body
    assert all((folder / name).is_file() for name in told_files(body))


def replace_name(name: str) -> Any:
    return replace(CLASSES[2], name=name)


def told_files(body: str) -> list[str]:
    table = body.split("## Files")[1].split("## Licences")[0]
    figures = [part.split(")")[0] for part in body.split("](")[1:]]
    return [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")] + figures


def test_licences_are_counted(build: Build, tmp_path: Path):
    for one in build.images:
        one["licence"] = {0: "CC0", 1: ""}.get(build.ids[one["class_id"]].index(one["image"]), "CC-BY") if one["path"] else ""
    folder = release(build.material(), settings(), tmp_path / "r").folder
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "| CC-BY | 6 |\n| CC0 | 3 |\n| not stated | 3 |" in text


def test_figures_are_drawn(build: Build, tmp_path: Path):
    folder = release(build.material(), settings(), tmp_path / "r").folder
    svg = (folder / "card" / "figures" / "funnel.svg").read_text(encoding="utf-8")
    assert "Ölkanne" in svg
    assert "near-duplicates" in svg
    assert (folder / "card" / "figures" / "selection-frequency.png").read_bytes().startswith(b"\x89PNG")


def test_the_histogram_is_counted_in_whole_numbers():
    figures = [(0, 10), (3, 10), (7, 10), (69, 100), (10, 10), (0, 0), (29, 100), (1, 3)]
    made = pa.table({"selected": [right for right, _ in figures], "shown": [shown for _, shown in figures]})
    assert frequency_histogram(made).tolist() == [1, 0, 1, 2, 0, 0, 1, 1, 0, 1]
    assert np.issubdtype(frequency_histogram(made).dtype, np.integer)


def test_versions_become_three_numbers():
    assert [semantic(text) for text in ("1", "1.2", "1.2.3", "2024a")] == ["1.0.0", "1.2.0", "1.2.3", "2024a"]


def test_the_only_times_are_those_of_the_build(build: Build, tmp_path: Path):
    folder = release(build.material(), settings(), tmp_path / "r").folder
    assert json.loads((folder / "croissant.json").read_text(encoding="utf-8"))["datePublished"] == "2024-05-06"
