"""What people change between the steps of a build: its configuration, references and files, and what they say."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from extras import needs
from steps_made import CATS, DOGS, begin, digest, fill, photos, picture, votes, write_images

needs("sqlalchemy", "alembic", "httpx", "yaml")
import yaml  # noqa: E402

from resit.build.steps.dedupe import find_duplicates  # noqa: E402
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.label import decide, export_tasks, import_votes  # noqa: E402
from resit.build.steps.look import read_lists, review_state, write_lists  # noqa: E402
from resit.build.steps.opened import Build, open_build  # noqa: E402
from resit.build.steps.publish import release_build  # noqa: E402
from resit.build.steps.sample import draw_revision  # noqa: E402
from resit.build.steps.status import status  # noqa: E402
from resit.errors import InputError, OutputError  # noqa: E402

COLUMNS = "kind,image,other,class_id,verdict,person\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A build with candidates whose near-duplicates were looked for, and votes."""
    begin(tmp_path)
    with open_build(tmp_path / "new") as build:
        gather(build, photos(tmp_path))
        find_duplicates(build)
        import_votes(build, votes(build, tmp_path))
    return tmp_path / "new"


@pytest.fixture
def build(folder: Path) -> Iterator[Build]:
    with open_build(folder) as opened:
        yield opened


def change(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change the configuration as people do."""
    path = folder / "build.yaml"
    values = yaml.safe_load(path.read_text())
    edit(values)
    path.write_text(yaml.safe_dump(values))


def search(folder: Path, *against: Path) -> Build:
    with open_build(folder) as build:
        find_duplicates(build, against=[str(path) for path in against])
    return build


def others(folder: Path, metric: str) -> dict[str, set[str]]:
    """The thirty neighbours of each candidate, by what is stored."""
    found: dict[str, set[str]] = {}
    with open_build(folder) as build:
        for row in build.store.pairs(metric).to_pylist():
            if row["rank"] <= 30:
                found.setdefault(row["image"], set()).add(row["other"])
    return found


def straight(root: Path, metric: str, *against: Path, more: Path | None = None) -> dict[str, set[str]]:
    """The neighbours of each candidate in a build where everything was there from the beginning."""
    begin(root, "straight")
    with open_build(root / "straight") as build:
        for source in (photos(root), *([f"folder:{more}"] if more else [])):
            gather(build, source)
    search(root / "straight", *against)
    return others(root / "straight", metric)


def nothing_lacks(found: dict[str, set[str]], wanted: dict[str, set[str]]) -> bool:
    """Whether each candidate has all neighbours that it should have; those of earlier lists may stand beside them."""
    return found.keys() == wanted.keys() and all(wanted[image] <= near for image, near in found.items())


def say(build: Build, path: Path, *lines: str) -> None:
    path.write_text(COLUMNS + "".join(f"{line}\n" for line in lines))
    read_lists(build, path)


def pair(build: Build, place: int, other: int, verdict: str) -> str:
    """A verdict on two images of the last selection."""
    images = build.store.selection().selected["image"].to_pylist()
    return f"pair,{images[place]},{images[other]},,{verdict},ann"


def converged(build: Build, folder: Path) -> None:
    """Look at everything, and sample until nothing changes."""
    draw_revision(build)
    for path in write_lists(build, folder)[:2]:
        read_lists(build, fill(path, {}, usual="right"))
    draw_revision(build)
    assert review_state(build).converged


def test_a_reference_named_later_lets_nothing_be_chosen_until_it_was_searched(folder: Path, tmp_path: Path):
    refs = write_images(tmp_path / "refs", {"x/1": picture("one"), "x/2": picture("two")})
    change(folder, lambda values: values.update(references=[str(refs)]))
    with open_build(folder) as build:
        assert draw_revision(build).eligible.counts["unreviewed"] == 8
        assert "`resit build dedupe`; 8 candidates" in status(build).next
    search(folder)
    with open_build(folder) as build:
        assert len(draw_revision(build).eligible.candidates) == 8


def test_more_neighbours_wanted_than_were_looked_for_are_not_taken_for_reviewed(tmp_path: Path):
    begin(tmp_path)
    folder = tmp_path / "new"
    change(folder, lambda values: values["duplicates"].update(neighbours=2))
    change(folder, lambda values: values["duplicates"]["metrics"]["relative"].update(target=0.999))
    with open_build(folder) as build:
        gather(build, photos(tmp_path))
        find_duplicates(build)
        import_votes(build, votes(build, tmp_path))
        read_lists(build, fill(write_lists(build, tmp_path)[1], {}, usual="different"))
    change(folder, lambda values: values["duplicates"].update(neighbours=30))
    with open_build(folder) as build:
        assert draw_revision(build).eligible.counts["unreviewed"] == 8


def test_fewer_neighbours_for_a_while_lose_none_later(folder: Path, tmp_path: Path):
    change(folder, lambda values: values["duplicates"].update(neighbours=2))
    more = write_images(tmp_path / "more", {f"cat/more {number}": picture(f"more {number}") for number in range(4)})
    with open_build(folder) as build:
        gather(build, f"folder:{more}")
        find_duplicates(build)
    change(folder, lambda values: values["duplicates"].update(neighbours=30))
    search(folder)
    assert nothing_lacks(others(folder, "shifted"), straight(tmp_path, "shifted", more=more))


def test_a_metric_left_out_for_a_while_meets_the_references_named_meanwhile(folder: Path, tmp_path: Path):
    kept: dict[str, Any] = {}

    def without(values: dict[str, Any]) -> None:
        kept.update(values["duplicates"]["metrics"])
        del values["duplicates"]["metrics"]["l2"]

    change(folder, without)
    refs = write_images(tmp_path / "refs", {f"x/{number}": picture(f"reference {number}") for number in range(20)})
    search(folder, refs)
    change(folder, lambda values: values["duplicates"].update(metrics=kept))
    search(folder)
    wanted = straight(tmp_path, "l2", refs)
    assert set().union(*wanted.values()) & {digest(path.read_bytes()) for path in refs.rglob("*.png")}
    assert nothing_lacks(others(folder, "l2"), wanted)


def test_a_reference_that_was_moved_is_the_same_one(folder: Path, tmp_path: Path):
    refs = write_images(tmp_path / "refs", {"x/1": picture("one"), "x/2": picture("two")})
    search(folder, refs)
    before = others(folder, "l2")
    shutil.move(refs, tmp_path / "moved")
    with open_build(folder) as build, pytest.raises(InputError, match=r"refs: .*compared with it before.*--against"):
        find_duplicates(build)
    with open_build(folder) as build:
        done = find_duplicates(build, against=[str(tmp_path / "moved")])
        assert (done.references, done.new, done.changed) == ({"original": 48, "refs": 2}, 0, 0)
        assert find_duplicates(build).references == {"original": 48, "refs": 2}
    assert others(folder, "l2") == before


def test_a_reference_named_twice_is_searched_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    refs = write_images(tmp_path / "refs", {"x/1": picture("one"), "x/2": picture("two")})
    monkeypatch.chdir(tmp_path)
    with open_build(folder) as build:
        done = find_duplicates(build, against=["refs", str(refs), "photos/../refs"])
        assert done.references == {"original": 48, "refs": 2}
        assert all(row["reference"] in ("", "original", "refs") for row in build.store.pairs().to_pylist())


def test_another_set_where_a_moved_one_lay_has_a_name_of_its_own(folder: Path, tmp_path: Path):
    refs = write_images(tmp_path / "refs", {"x/1": picture("one"), "x/2": picture("two")})
    search(folder, refs)
    shutil.move(refs, tmp_path / "moved")
    write_images(refs, {"x/3": picture("three")})
    with open_build(folder) as build:
        done = find_duplicates(build, against=[str(tmp_path / "moved"), str(refs)])
    assert done.references == {"original": 48, "moved": 2, "refs": 1}
    assert nothing_lacks(others(folder, "l2"), straight(tmp_path, "l2", tmp_path / "moved", refs))


def test_a_verdict_after_the_last_round_asks_for_another_and_holds_the_release_back(build: Build, tmp_path: Path):
    converged(build, tmp_path / "lists")
    say(build, tmp_path / "said.csv", pair(build, 0, 2, "same"))
    state = review_state(build)
    assert (state.outdated, state.converged) == (1, False)
    assert state.next.startswith("Make the next revision (sample again): 1 selected image may no longer be chosen")
    assert state.next == status(build).next
    with pytest.raises(InputError, match="1 selected image is a near-duplicate"):
        release_build(build, tmp_path / "release")
    assert not (tmp_path / "release").exists()
    say(build, tmp_path / "said.csv", pair(build, 0, 2, "different"))
    assert review_state(build).converged
    assert release_build(build, tmp_path / "release").images == 4


def test_assignments_rejected_after_the_last_round_ask_for_another_and_the_release_says_so(build: Build, tmp_path: Path):
    converged(build, tmp_path / "lists")
    decide(build, build.store.assignments()["assignment"].to_pylist()[:1], "rejected", by="ann", reason="blind")
    assert not review_state(build).converged
    done = release_build(build, tmp_path / "release")
    assert [str(notice) for notice in done.notices if notice.code == "outdated"] == [
        "revision 2: Selected images that may no longer be chosen: 2 too-few-votes."
    ]


def test_candidates_whose_files_are_lost_are_not_shown_to_people(tmp_path: Path):
    begin(tmp_path)
    with open_build(tmp_path / "new") as build:
        gather(build, photos(tmp_path))
        lost = digest(picture(next(iter(CATS))))
        build.folder.find_image(lost).unlink()
        with pytest.raises(InputError, match=f"1 candidates whose files are missing: {lost}"):
            export_tasks(build, "csv")
        gather(build, photos(tmp_path))
        assert export_tasks(build, "csv").plan is not None


def test_a_database_file_that_holds_a_build_is_not_taken_for_another(tmp_path: Path):
    database = str(tmp_path / "all.sqlite")
    begin(tmp_path, "one", database=database)
    with pytest.raises(OutputError, match="another build is in the database already"):
        begin(tmp_path, "two", database=database, per_class=1)
    assert not (tmp_path / "two").exists()
    assert begin(tmp_path, "one", database=database).again


def test_a_list_whose_columns_were_sorted_apart_is_refused(build: Build, tmp_path: Path):
    dog = digest(picture(next(iter(DOGS))))
    with pytest.raises(InputError, match=f"not there for the class beside them: {dog} for cat"):
        say(build, tmp_path / "said.csv", f"image,{dog},,cat,wrong,ann")
    with pytest.raises(InputError, match="line 2: an image paired with itself"):
        say(build, tmp_path / "said.csv", f"pair,{dog},{dog},,same,ann")
    assert len(build.store.verdicts()) == 0


@pytest.mark.parametrize("mark", [";", "\t"])
def test_a_list_that_a_spreadsheet_saved_is_read(build: Build, tmp_path: Path, mark: str):
    dog = digest(picture(next(iter(DOGS))))
    text = COLUMNS + f'image,{dog},,dog,Wrong ,"Jürgen {mark} Söhne"\n'
    path = tmp_path / "said.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace(",", mark).replace("\n", "\r\n").encode())
    read_lists(build, path)
    found = build.store.verdicts().select(["image", "class_id", "verdict", "person"]).to_pylist()
    assert found == [{"image": dog, "class_id": "dog", "verdict": "wrong", "person": f"Jürgen {mark} Söhne"}]


def test_lists_in_a_place_that_is_a_file_are_refused(build: Build, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file: cannot be made"):
        write_lists(build, tmp_path / "file")
