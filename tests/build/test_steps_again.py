"""Each step of a build repeated changes nothing, and interrupted goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from databases import schema_of_its_own
from extras import needs
from steps_made import (
    CATS,
    DOGS,
    begin,
    digest,
    edit,
    fill,
    photos,
    picture,
    read_rows,
    set_target,
    votes,
    write_images,
    write_rows,
)

needs("sqlalchemy", "alembic", "httpx", "psycopg")
from resit.build.folder import BuildFolder  # noqa: E402
from resit.build.steps.dedupe import find_duplicates  # noqa: E402
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.label import decide, export_tasks, import_votes  # noqa: E402
from resit.build.steps.look import read_lists, review_state, write_lists  # noqa: E402
from resit.build.steps.opened import Build, open_build  # noqa: E402
from resit.build.steps.publish import release_build  # noqa: E402
from resit.build.steps.sample import draw_revision  # noqa: E402
from resit.build.steps.status import status  # noqa: E402
from resit.errors import InputError, OutputError  # noqa: E402


def events(build: Build) -> list[Any]:
    """All that is stored but the log of steps."""
    store = build.store
    tables = (store.images(), store.tasks(), store.votes(accepted=False), store.assignments(), store.counts(), store.pairs())
    return [*(one.to_pylist() for one in tables), store.verdicts().to_pylist(), store.revisions()]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def build(tmp_path: Path) -> Any:
    """With candidates and their votes."""
    begin(tmp_path)
    with open_build(tmp_path / "new") as opened:
        gather(opened, photos(tmp_path))
        import_votes(opened, votes(opened, tmp_path))
        yield opened


def names(build: Build) -> set[str]:
    """Names of what is selected."""
    by_id = {digest(picture(name)): name for name in CATS | DOGS}
    return {by_id[image] for image in build.store.selection().selected["image"].to_pylist()}


def test_begun_twice_is_begun_once(tmp_path: Path):
    first = begin(tmp_path)
    assert (first.images, first.classes, first.without_votes, first.again) == (48, 2, 0, False)
    before = files(tmp_path / "new")
    with open_build(tmp_path / "new") as build:
        stored, notes = events(build), build.store.notes()
    again = begin(tmp_path)
    assert (again.images, again.without_votes, again.again) == (48, 0, True)
    assert "was there already" in str(again)
    with open_build(tmp_path / "new") as build:
        assert events(build) == stored
        assert build.store.notes() == notes
    after = files(tmp_path / "new")
    assert {name: after[name] for name in ("build.yaml", "salt", "build.schema.json")} == {
        name: before[name] for name in ("build.yaml", "salt", "build.schema.json")
    }
    assert (tmp_path / "new" / "salt").stat().st_mode & 0o777 == 0o600


def test_interrupted_before_the_originals_were_stored_it_goes_on(tmp_path: Path):
    begin(tmp_path)
    config = BuildFolder.open(tmp_path / "new").config
    BuildFolder.create(tmp_path / "half", config)  # all that had come about
    with open_build(tmp_path / "half") as build, pytest.raises(InputError) as caught:
        gather(build, photos(tmp_path))
    assert str(caught.value) == (
        f"{tmp_path / 'half'}: the originals are not read yet. "
        "Run `resit build init` again with the same options: it goes on where it stopped."
    )
    done = begin(tmp_path, "half")
    assert (done.images, done.again) == (48, False)
    with open_build(tmp_path / "half") as half, open_build(tmp_path / "new") as whole:
        assert events(half) == events(whole)


@pytest.mark.parametrize("left", [".build.yaml.0a1b2c3d.part", ".build.schema.json.ffffffff.part", "build.sqlite-journal"])
def test_interrupted_while_a_file_was_written_it_goes_on(tmp_path: Path, left: str):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / left).write_bytes(b"")
    assert begin(tmp_path).images == 48


def test_a_folder_with_something_else_is_no_interrupted_build(tmp_path: Path):
    for number, name in enumerate(("notes.txt", ".build.yaml.part", "images.zip")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_bytes(b"mine")
        with pytest.raises(OutputError) as caught:
            begin(tmp_path, str(number))
        assert str(caught.value) == f"{folder}: a folder with something else in it. Name a new folder."
        assert files(folder) == {name: b"mine"}


def test_another_configuration_for_the_same_folder_is_refused(tmp_path: Path):
    begin(tmp_path)
    before = files(tmp_path / "new")
    with pytest.raises(OutputError) as caught:
        begin(tmp_path, per_class=3)
    assert str(caught.value) == f"{tmp_path / 'new'}: another build already. Edit its build.yaml, or name another folder."
    assert files(tmp_path / "new") == before


def test_another_original_under_the_same_name_is_refused_and_adds_nothing(tmp_path: Path):
    begin(tmp_path)
    with open_build(tmp_path / "new") as build:
        before = events(build)
    write_images(tmp_path / "original", {"cat/000": picture("somebody changed it")})
    with pytest.raises(InputError, match="the original test set has changed"):
        begin(tmp_path)
    with open_build(tmp_path / "new") as build:
        assert events(build) == before


def test_two_builds_in_one_database_are_refused(tmp_path: Path, postgresql: str):
    database = schema_of_its_own(postgresql)
    begin(tmp_path, database=database)
    with pytest.raises(OutputError, match="another build is in the database already"):
        begin(tmp_path, "other", database=database)
    assert not (tmp_path / "other").exists()
    assert begin(tmp_path, database=database).again


def test_collected_twice_adds_nothing(tmp_path: Path):
    begin(tmp_path)
    with open_build(tmp_path / "new") as build:
        assert (gather(build, photos(tmp_path)).new, len(build.store.images("candidate"))) == (8, 8)
        before, images = events(build), files(tmp_path / "new" / "images")
        again = gather(build, photos(tmp_path))
        assert (again.new, again.known) == (0, 8)
        assert events(build) == before
        assert files(tmp_path / "new" / "images") == images


def test_tasks_exported_twice_are_the_same_tasks(tmp_path: Path):
    begin(tmp_path)
    with open_build(tmp_path / "new") as build:
        gather(build, photos(tmp_path))
        first = export_tasks(build, "csv")
        stored, text = events(build), first.exported.files[0].read_bytes()
        again = export_tasks(build, "csv")
        assert (first.plan.candidates, again.plan.candidates, again.plan.waiting) == (8, 0, 8)
        assert events(build) == stored
        assert again.exported.files[0].read_bytes() == text


def test_tasks_that_everybody_answered_are_not_exported_again(build: Build):
    done = export_tasks(build, "csv")
    assert done.plan.enough == 8
    assert done.exported.files[0].read_text().splitlines() == ["task,class_id,text,position,url,people"]


def test_votes_imported_twice_are_known(build: Build, tmp_path: Path):
    before = events(build)
    again = import_votes(build, tmp_path / "votes.csv")
    assert (again.votes.new, again.statuses.new) == (0, 0)
    assert again.votes.known == len(again.answers.votes) > 0
    assert events(build) == before


def test_a_decision_is_not_overruled_by_reading_the_votes_again(build: Build, tmp_path: Path):
    counts = build.store.counts("candidate")
    one = build.store.assignments()["assignment"][0].as_py()
    decide(build, [one], "rejected", by="me", reason="asleep")
    fewer = build.store.counts("candidate")
    assert sum(fewer["shown"].to_pylist()) == sum(counts["shown"].to_pylist()) - 4
    import_votes(build, tmp_path / "votes.csv")
    assert build.store.counts("candidate") == fewer
    decide(build, [one], "accepted", by="me", reason="awake")
    assert build.store.counts("candidate") == counts
    assert [row["reason"] for row in build.store.assignments().to_pylist() if row["assignment"] == one] == ["awake"]


def test_more_candidates_and_a_later_reference_go_on_from_what_was_found(build: Build, tmp_path: Path):
    """In whatever portions they come, the neighbours are those that one search of all would find."""
    first = write_images(tmp_path / "pets", {f"cat/{number}": picture(f"train {number}") for number in range(5)})
    second = write_images(
        tmp_path / "later" / "pets", {"dog/near": picture("its like", like="dog/10"), "dog/1": picture("far")}
    )
    find_duplicates(build, against=[str(first)])
    stored = build.store.pairs()
    again = find_duplicates(build, against=[str(first)])
    assert (again.new, again.changed) == (0, 0)
    assert build.store.pairs() == stored
    more = write_images(tmp_path / "more", {"cat/more": picture("more"), "dog/more": picture("again more")})
    gather(build, f"folder:{more}")
    find_duplicates(build)
    done = find_duplicates(build, against=[str(second)])
    assert done.references == {"original": 48, "pets": 5, "pets-2": 2}
    assert find_duplicates(build).references == done.references  # later ones stay references
    begin(tmp_path, "whole", references=[str(first), str(second)])
    with open_build(tmp_path / "whole") as whole:
        for folder in (tmp_path / "photos", more):
            gather(whole, f"folder:{folder}")
        find_duplicates(whole)
        # What later ones pushed off the lists stays behind them.
        listed = [one.filter(pc.less_equal(one["rank"], 30)) for one in (build.store.pairs(), whole.store.pairs())]
        assert listed[0].equals(listed[1])
    near = [row for row in build.store.pairs("relative").to_pylist() if row["distance"] < 0.3]
    assert [(row["image"], row["other"], row["reference"]) for row in near] == [
        (digest(picture("dog/10")), digest(picture("its like", like="dog/10")), "pets-2")
    ]


def test_a_reference_that_is_replaced_is_searched_again(build: Build, tmp_path: Path):
    train = write_images(tmp_path / "train", {"cat/0": b"", "cat/1": picture("far")})
    near = picture("its like", like="dog/10")
    (train / "cat" / "0.png").write_bytes(picture("some") + b"\0" * 99)
    find_duplicates(build, against=[str(train)])
    size = (train / "cat" / "0.png").stat().st_size
    (train / "cat" / "0.png").write_bytes(near.ljust(size, b"\0"))
    find_duplicates(build)
    found = [row["other"] for row in build.store.pairs("relative").to_pylist() if row["distance"] < 0.3]
    assert found == [digest(near.ljust(size, b"\0"))]


def test_case_38_verdicts_on_pairs_hold_in_the_next_round_and_nothing_is_deleted(build: Build, tmp_path: Path):
    """What people said of a pair is not asked again after more was collected and searched."""
    set_target(build.path, 0.3)
    twin = picture("twin", like="cat/10")
    with open_build(build.path) as build:
        gather(build, f"folder:{write_images(tmp_path / 'more', {'cat/twin': twin})}")
        find_duplicates(build)
        pair = tuple(sorted((digest(picture("cat/10")), digest(twin))))
        assert len(review_state(build).pairs) == 1
        _, pairs, _ = write_lists(build, tmp_path / "review")
        assert len(read_lists(build, fill(pairs, {pair: "near"})).verdicts) == 1
        everything = build.store.images("candidate")
        gather(build, f"folder:{write_images(tmp_path / 'later', {'dog/later': picture('later', like='dog/10')})}")
        find_duplicates(build)
        left = review_state(build).pairs.to_pylist()
        assert [{row["image"], row["other"]} for row in left] == [
            {digest(picture("dog/10")), digest(picture("later", like="dog/10"))}
        ]
        images = set(build.store.images("candidate")["image"].to_pylist())
        assert images == {*everything["image"].to_pylist(), digest(picture("later", like="dog/10"))}
        assert all(build.folder.find_image(image).exists() for image in images)


def test_a_review_list_read_twice_is_read_once(build: Build, tmp_path: Path):
    set_target(build.path, 0.3)
    with open_build(build.path) as build:
        find_duplicates(build)
        draw_revision(build)
        images, _, _ = write_lists(build, tmp_path / "review")
        wrong = (digest(picture("cat/10")), "cat")
        fill(images, {wrong: "wrong"}, usual="right")
        assert len(read_lists(build, images).verdicts) == 4
        before = events(build)
        read_lists(build, images)
        assert events(build) == before
        # The same person thinks again, and that counts.
        fill(images, {wrong: "right"})
        read_lists(build, images)
        assert len(build.store.verdicts()) == 5
        assert not len(review_state(build).wrong)


def test_a_round_that_changes_nothing_is_a_revision_with_the_same_images(build: Build):
    set_target(build.path, 0.3)
    with open_build(build.path) as build:
        find_duplicates(build)
        first = draw_revision(build)
        assert names(build) == {"cat/10", "cat/9", "dog/10", "dog/7"}
        again = draw_revision(build)
        assert (first.revision, again.revision, again.parent) == (1, 2, 1)
        assert again.change is not None
        assert not again.change.changed
        assert names(build) == {"cat/10", "cat/9", "dog/10", "dog/7"}
        afresh = draw_revision(build, afresh=True)
        assert (afresh.parent, afresh.change) == (None, None)
        assert draw_revision(build, parent=1).parent == 1
        assert set(build.store.selection(2).selected["fate"].to_pylist()) == {"kept"}
        assert set(build.store.selection(3).selected["fate"].to_pylist()) == {"drawn"}


def test_released_twice_was_there_already(build: Build, tmp_path: Path):
    set_target(build.path, 0.3)
    with open_build(build.path) as build:
        find_duplicates(build)
        draw_revision(build)
        first = release_build(build, tmp_path / "out")
        before = files(tmp_path / "out")
        again = release_build(build, tmp_path / "out")
        assert (first.fresh, again.fresh) == (True, False)
        assert files(tmp_path / "out") == before
        release_build(build, tmp_path / "out 2")
        assert files(tmp_path / "out 2") == before


def test_asking_changes_nothing(build: Build, tmp_path: Path):
    find_duplicates(build)
    draw_revision(build)
    before, notes = events(build), build.store.notes()
    told = status(build)
    assert (told.votes, told.people, told.revision) == (len(build.store.votes()), 10, 1)
    write_lists(build, tmp_path / "review")
    review_state(build)
    assert (events(build), build.store.notes()) == (before, notes)


def test_steps_tell_what_they_do(build: Build):
    told: list[str] = []
    tell: Callable[[str], object] = told.append
    find_duplicates(build, tell=tell)
    draw_revision(build, tell=tell)
    export_tasks(build, "csv", tell=tell)
    assert {"Sampling", "Planning tasks", "Writing tasks"} <= set(told)


def test_votes_and_decisions_on_them_are_stored_together_or_not_at_all(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """With votes alone, somebody who was rejected would be nobody who was, and his votes would count from then on."""
    rows = [row for row in read_rows(tmp_path / "votes.csv") if row["person"] == "person 3"]
    decide(build, sorted({f"{row['task']}:person 3" for row in rows}), "rejected", by="me", reason="")
    again = write_rows(tmp_path / "again.csv", [{**row, "assignment": f"new {row['task']}"} for row in rows])
    before = events(build)
    with monkeypatch.context() as patched:
        patched.setattr("resit.store.votes.add_statuses", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            import_votes(build, again)
    assert events(build) == before
    done = import_votes(build, again)
    assert (done.votes.new, done.statuses.new) == (len(rows), 2)
    assert build.store.counts().to_pylist() == before[4]


def test_without_targets_all_pairs_are_listed_that_are_still_near(build: Build, tmp_path: Path):
    """Those that nearer ones have pushed off the lists of neighbours are not."""
    set_target(build.path, "null")
    edit(build.path, neighbours=1)
    with open_build(build.path) as build:
        find_duplicates(build)
        more = {f"cat/{name}": picture(f"near {name}", like=f"cat/{name}") for name in ("10", "9")}
        gather(build, f"folder:{write_images(tmp_path / 'more', more)}")
        find_duplicates(build)
        rows = build.store.pairs().to_pylist()
        near = {frozenset((row["image"], row["other"])) for row in rows if row["rank"] == 1}
        assert near < {frozenset((row["image"], row["other"])) for row in rows}
        _, pairs, _ = write_lists(build, tmp_path / "review")
        listed = [frozenset((row["image"], row["other"])) for row in read_rows(pairs)]
        assert len(listed) == len(set(listed))
        assert set(listed) == near
