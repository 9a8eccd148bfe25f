"""What a build guards people against: lost lists, mixed strategies, leaks by misspelling, and advice that leads in circles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from extras import needs
from steps_made import begin, edit, fill, photos, votes

needs("sqlalchemy", "alembic", "httpx")
from resit.build.steps.dedupe import find_duplicates  # noqa: E402
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.label import export_tasks, import_votes  # noqa: E402
from resit.build.steps.look import read_lists, write_lists  # noqa: E402
from resit.build.steps.opened import open_build  # noqa: E402
from resit.build.steps.publish import release_build  # noqa: E402
from resit.build.steps.sample import draw_revision  # noqa: E402
from resit.build.steps.status import status  # noqa: E402
from resit.errors import OutputError, UsageError  # noqa: E402


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A build with votes and neighbours."""
    begin(tmp_path)
    with open_build(tmp_path / "new") as build:
        gather(build, photos(tmp_path))
        find_duplicates(build)
        import_votes(build, votes(build, tmp_path))
    return tmp_path / "new"


def test_a_list_that_was_filled_in_is_not_replaced_before_it_is_read(folder: Path, tmp_path: Path):
    with open_build(folder) as build:
        draw_revision(build)
        path = fill(write_lists(build, tmp_path / "lists")[0], {}, usual="right")
        said = path.read_bytes()
        with pytest.raises(OutputError, match=r"filled in, and that was not imported.*--import"):
            write_lists(build, tmp_path / "lists")
        path.write_bytes(said.replace(b"right", b"rihgt", 1))  # one that cannot be read is kept too
        with pytest.raises(OutputError, match="filled in"):
            write_lists(build, tmp_path / "lists")
        path.write_bytes(said)
        read_lists(build, path)
        write_lists(build, tmp_path / "lists")
        assert len(path.read_text().splitlines()) == 1  # nothing is left to look at


def test_a_selection_of_another_strategy_is_not_gone_on_from(folder: Path):
    with open_build(folder) as build:
        first = draw_revision(build)
    edit(folder, strategy="uniform")
    with open_build(folder) as build:
        with pytest.raises(UsageError, match=r"r1 was drawn by top-images, and now images are drawn by uniform.*--afresh"):
            draw_revision(build)
        with pytest.raises(UsageError, match="drawn by top-images"):
            draw_revision(build, parent=first.revision)
        assert [one.revision for one in build.store.revisions()] == [1]
        again = draw_revision(build, afresh=True)
        assert (again.parent, build.store.selection().record["strategy"]) == (None, "uniform")
        assert draw_revision(build).parent == again.revision


def test_an_attribute_that_is_misspelt_is_not_released(folder: Path, tmp_path: Path):
    with open_build(folder) as build:
        draw_revision(build)
        with pytest.raises(UsageError, match="no candidate has the attribute hom"):
            release_build(build, tmp_path / "out", leave_out=("hom",))
    assert not (tmp_path / "out").exists()


def test_a_class_that_sampling_cannot_fill_is_not_sent_to_sampling_again(tmp_path: Path):
    """All candidates are eligible, and the bins of the original are not met."""
    begin(tmp_path, per_class=3, sampling={"strategy": "matched-frequency", "minimum_originals": 24})
    with open_build(tmp_path / "new") as build:
        gather(build, photos(tmp_path))
        find_duplicates(build)
        import_votes(build, votes(build, tmp_path))
        assert status(build).next.startswith("Make a revision (sample): ")
    edit(tmp_path / "new", minimum_originals=25)
    with open_build(tmp_path / "new") as build:
        assert not draw_revision(build).drawn.valid
        told = status(build)
        assert told.next == ("Collect more candidates, or get votes on originals: 2 classes are short (cat, dog).")
        assert "25 are needed" in told.funnel.rows[0].next
        edit(tmp_path / "new", minimum_originals=24)
    with open_build(tmp_path / "new") as build:
        notices = export_tasks(build, "csv").plan
    assert notices is not None
    assert "few-originals" not in [one.code for one in notices.notices]


def test_too_few_originals_are_told_before_people_are_asked(tmp_path: Path):
    few = {"task": 8, "positive": 1, "negative": 1, "people": 2}
    matched = {"strategy": "matched-frequency", "minimum_votes": 2}
    begin(tmp_path, original={"source": str(tmp_path / "original")}, sampling=matched, votes=few)
    with open_build(tmp_path / "new") as build:
        gather(build, photos(tmp_path))
        plan = export_tasks(build, "csv").plan
        assert plan is not None
        (notice,) = [one for one in plan.notices if one.code == "few-originals"]
        assert "2 classes (cat, dog)" in notice.message


def test_metrics_and_targets_that_cannot_be_are_refused(folder: Path):
    path = folder / "build.yaml"
    given = yaml.safe_load(path.read_text())
    for metrics, said in (({"relativ": {"target": 0.6}}, "no distance 'relativ'"), ({"relative": {"target": 1.6}}, "below 1")):
        path.write_text(yaml.safe_dump({**given, "duplicates": {"metrics": metrics}}))
        with open_build(folder) as build, pytest.raises(UsageError, match=said):
            status(build)


def test_a_reference_that_is_not_there_is_told_at_once(tmp_path: Path):
    with pytest.raises(UsageError, match="no such file or folder"):
        begin(tmp_path, references=["nowhere.parquet"])
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("to", ["mturk", "label-studio"])
def test_images_that_no_browser_can_get_are_refused_before_anything_is_planned(folder: Path, to: str):
    with open_build(folder) as build:
        before = build.store.tasks()
        with pytest.raises(UsageError, match="--images-at"):
            export_tasks(build, to)  # type: ignore[arg-type]
        assert build.store.tasks().equals(before)
