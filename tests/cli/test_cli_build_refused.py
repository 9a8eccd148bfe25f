"""What the commands of a build refuse: what they say, how they end, and that nothing of it is stored."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extras import needs
from steps_made import begin, digest, edit, photos, picture, read_rows, set_target, votes, write_images, write_rows

needs("sqlalchemy", "alembic", "httpx")
NONE = "no build here: build.yaml is missing. Name the folder of a build, or make one with `resit build init`."
HEAD = "id,selected,shown\n"
CHANGED = "Give back the files that the build was begun with, or begin another build."


@pytest.fixture
def refused(resit: Callable[..., Any]) -> Callable[..., str]:
    """Run a command of a build that is to be refused with a code, and give what it says."""

    def go(code: int, *words: object) -> str:
        done = resit("build", *words)
        assert (done.code, done.out) == (code, "")
        assert done.err.startswith("resit: error: ")
        assert done.err.count("\n") == 1
        return done.err.removeprefix("resit: error: ").removesuffix("\n")

    return go


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build without candidates."""
    begin(tmp_path)
    return tmp_path / "new"


@pytest.fixture
def voted(build: Path, tmp_path: Path, resit: Callable[..., Any]) -> Path:
    """With candidates, votes and a first revision."""
    from resit.build.steps.opened import open_build

    set_target(build, 0.3)
    assert resit("build", "collect", build, "--from", photos(tmp_path)).code == 0
    with open_build(build) as opened:
        file = votes(opened, tmp_path)
    for words in (("label", build, "import", file), ("dedupe", build), ("sample", build)):
        assert resit("build", *words).code == 0
    return build


def stored(build: Path) -> Iterator[Any]:
    from resit.build.steps.opened import open_build

    with open_build(build) as opened:
        store = opened.store
        for table in (store.images(), store.tasks(), store.votes(), store.assignments(), store.pairs(), store.verdicts()):
            yield table.to_pylist()
        yield store.revisions()


@pytest.mark.parametrize(
    "words",
    [
        "status B", "sample B", "dedupe B", "collect B --from folder:x", "review B", "release B -o out", "diff B r1 r2",
        "label B export --to csv", "label B import votes.csv", "label B people", "label B reject a:b",
    ],
)  # fmt: skip
def test_no_build_there(refused: Callable[..., str], tmp_path: Path, words: str):
    where = tmp_path / "nowhere"
    assert refused(3, *(where if word == "B" else word for word in words.split())) == f"{where}: {NONE}"


def test_diff_in_a_folder_that_is_no_build(refused: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert refused(3, "diff", "r1", "r2") == f".: {NONE}"


@pytest.mark.parametrize(
    ("code", "words", "said"),
    [
        (2, "dedupe B", "B: no candidates to compare. Collect some first: `resit build collect`."),
        (2, "release B -o out", "B: no selection to release. Sample first: `resit build sample`."),
        (3, "diff B r1 r2", "B/build.sqlite: no revision 1. Sample first, with `resit build sample`."),
        (2, "diff B one r2", "revision: 'one' is no revision. Write r3."),
        (2, "diff B r0 r2", "revision: 'r0' is no revision. Write r3."),
        (2, "diff r1", "diff: 1 words. Write `resit build diff mytest/ r3 r7`."),
        (2, "diff B r1 r2 r3", "diff: 4 words. Write `resit build diff mytest/ r3 r7`."),
        (3, "sample B --parent r3", "B/build.sqlite: no revision 3. Sample first, with `resit build sample`."),
        (2, "sample B --parent x", "revision: 'x' is no revision. Write r3."),
        (2, "sample B --parent 1 --afresh", "--afresh: a parent, and nothing to keep of it. Leave out --parent or --afresh."),
        (2, "label B people", "B: no votes yet. Import some: `resit build label … import`."),
        (2, "label B reject t:p", "B: no assignment t:p. Import its votes first."),
        (3, "label B import none.csv", "none.csv: no such file or folder. Check the path and the current folder."),
        (3, "review B --import none.csv", "none.csv: no such file or folder. Check the path and the current folder."),
        (2, "collect B --from x --taken 2011", "--taken: '2011' is not of the form DAY..DAY. Write 2012-07-11..2013-07-11"),
    ],
)  # fmt: skip
def test_out_of_turn(refused: Callable[..., str], build: Path, code: int, words: str, said: str):
    before = list(stored(build))
    assert refused(code, *(build if word == "B" else word for word in words.split())) == said.replace("B", str(build), 1)
    assert list(stored(build)) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "id,chosen\ncat/000.png,1\n",
            ": no columns id, selected and shown among id, chosen. Or give an array .npy of images and classes.",
        ),
        (
            f"{HEAD}cat/999.png,1,2\n",
            ": 1 images that the original does not have: cat/999.png. Name them as the test set does.",
        ),
        (
            f"{HEAD}cat/000.png,3,2\n",
            ", image cat/000.png: 1 images selected more often than shown, or less often than never. Correct it.",
        ),
        (f"{HEAD}cat/000.png,1.5,2\n", ", row 1: selected '1.5' is no whole number. Correct it."),
        (f"{HEAD}cat/000.png,-1,2\n", ", row 1: selected '-1' is no whole number. Correct it."),
        (f"{HEAD}cat/000.png,1,2\ncat/000.png,2,2\n", ": an image is there twice for one class. Give each image once."),
        ("", ": empty file. Write it again or remove it."),
    ],
)  # fmt: skip
def test_counts_that_do_not_fit(refused: Callable[..., str], build: Path, content: str, said: str):
    counts = build.parent / "bad.csv"
    counts.write_text(content)
    words = ("--original", build.parent / "original", "--per-class", 2, "--counts", counts)
    assert refused(3, "init", build.parent / "other", *words) == f"{counts}{said}"
    assert not (build.parent / "other").exists()


@pytest.mark.parametrize(
    ("votes", "shape"), [(np.zeros((3, 2), int), "int64 and shape (3, 2)"), (np.zeros((48, 2)), "float64 and shape (48, 2)")]
)
def test_an_array_of_counts_of_another_shape_or_kind(refused: Callable[..., str], build: Path, votes: Any, shape: str):
    np.save(build.parent / "bad.npy", votes)
    words = ("--original", build.parent / "original", "--per-class", 2, "--counts", build.parent / "bad.npy")
    assert refused(3, "init", build.parent / "other", *words) == (
        f"{build.parent / 'bad.npy'}: an array of {shape}, not whole numbers of (48, 2). "
        "Give a row for each image in the test set's order, a column for each class."
    )


def test_options_of_init_that_do_not_fit(refused: Callable[..., str], build: Path):
    words = ("--original", build.parent / "original", "--per-class", 2)
    said = refused(2, "init", build.parent / "other", *words, "--strategy", "keyword")
    assert said == "configuration: sampling: the strategy keyword needs an attribute. Correct it."
    assert refused(2, "init", build.parent / "other", *words, "--name", "a/b").startswith("configuration: name: ")
    # By default it is called like its folder.
    assert refused(2, "init", build.parent / "my cats", *words) == (
        "name: a name that cannot be a test set's: 'my cats'. Use letters, digits, hyphens, dots and underscores: --name."
    )
    assert refused(2, "init", build.parent / "other", *words, "--database", "mysql://x/y") == (
        "mysql://…: no database that resit can keep a build in: mysql. "
        "Give a SQLite file, or postgresql+psycopg://USER@HOST/DATABASE."
    )
    said = refused(3, "init", build.parent / "other", *words, "--database", "postgresql+psycopg://me:secret@/no?host=/nowhere")
    assert "the database cannot be reached" in said
    assert "secret" not in said
    assert not (build.parent / "other").exists()
    (build.parent / "file").write_text("mine")
    assert "cannot be written: Not a directory" in refused(4, "init", build.parent / "file", *words)
    assert (build.parent / "file").read_text() == "mine"


def test_an_original_that_is_not_there_or_empty(refused: Callable[..., str], tmp_path: Path):
    missing = refused(2, "init", tmp_path / "new", "--original", tmp_path / "none", "--per-class", 2)
    assert missing.startswith(f"{tmp_path / 'none'}: no such file or folder")
    assert not (tmp_path / "new").exists()


def test_a_key_that_is_none_in_the_configuration_is_told_by_its_line(refused: Callable[..., str], build: Path):
    text = (build / "build.yaml").read_text()
    lines = text.splitlines()
    line = lines.index("per_class: 2") + 1
    (build / "build.yaml").write_text(text.replace("per_class: 2", "per_clas: 2"))
    assert refused(3, "sample", build) == (
        f"{build / 'build.yaml'}, line {line}: unknown key per_clas (and 1 more). The keys here are name, version, seed, "
        "database, per_class, original, sampling, votes, duplicates, references."
    )
    (build / "build.yaml").write_text(text)
    edit(build, minimum_votes="many")
    line = next(number for number, one in enumerate(lines, 1) if "minimum_votes" in one)
    assert refused(3, "sample", build).startswith(
        f"{build / 'build.yaml'}, line {line}: sampling.minimum_votes: input should be"
    )


def test_references_that_cannot_be_used(refused: Callable[..., str], build: Path, resit: Callable[..., Any], tmp_path: Path):
    assert resit("build", "collect", build, "--from", photos(tmp_path)).code == 0
    assert refused(2, "dedupe", build, "--against", tmp_path / "none").startswith(
        f"{tmp_path / 'none'}: no such file or folder"
    )
    said = refused(3, "dedupe", build, "--against", tmp_path / "x" / "*.parquet")
    assert said == f"{tmp_path / 'x' / '*.parquet'}: no Parquet files. Check the path and the current folder."
    write_images(tmp_path / "train", {"cat/0": picture("one"), "cat/1": b"no image"})
    assert refused(3, "dedupe", build, "--against", tmp_path / "train") == (
        f"{tmp_path / 'train' / 'cat' / '1.png'}: an image cannot be read (no image, or of a format that is not read). "
        "Mend the file, or leave it out."
    )
    # What could not be searched is no reference from then on.
    assert "among each other and original (48)\n" in resit("build", "dedupe", build).out


def test_an_original_that_changed_since(refused: Callable[..., str], build: Path, resit: Callable[..., Any], tmp_path: Path):
    assert resit("build", "collect", build, "--from", photos(tmp_path)).code == 0
    where = tmp_path / "original"
    write_images(where, {f"cat/{number:03}": picture(f"another {number}") for number in range(24)})
    said = refused(3, "label", build, "export", "--to", "csv")
    assert said.startswith(f"{where}: ")
    assert said.endswith(CHANGED)
    shutil.rmtree(where)
    assert refused(2, "label", build, "export", "--to", "csv").startswith(f"{where}: no such file or folder")


def test_tables_for_the_export_that_do_not_fit(refused: Callable[..., str], voted: Path, tmp_path: Path):
    table = write_rows(tmp_path / "table.csv", [{"class_id": "bird", "text": "A bird", "similar": "cat"}])
    for option in ("--texts", "--similar"):
        said = refused(3, "label", voted, "export", "--to", "csv", option, table)
        assert said == f"{table}: ids of no class: bird. Write them as in the class list."
    counts = tmp_path / "counts.csv"
    said = refused(3, "label", voted, "export", "--to", "csv", "--texts", counts)
    assert (
        said == f"{counts}: no columns class_id and text among id, selected, shown. It says what people look for in each class."
    )
    said = refused(4, "label", voted, "export", "--to", "csv", "-o", counts)
    assert said == f"{counts}: cannot be made: File exists. Name a folder that can be written."


def test_votes_that_cannot_be(refused: Callable[..., str], voted: Path, tmp_path: Path):
    rows = read_rows(tmp_path / "votes.csv")
    one, other = rows[0], rows[1]
    turned = {**one, "selected": 1 - int(one["selected"])}
    strange = "Check that the file is of this build's tasks."
    before = list(stored(voted))
    for given, said in (
        ([turned], f"for class {{}} in assignment {one['task']}:person 0. A vote never changes: find out which one is right."),
        ([one, turned], f"assignment {one['task']}:person 0 answers image"),
        ([{**one, "assignment": "x"}, {**other, "assignment": "x"}], "assignment x is of two people: person"),
        ([{**one, "task": "t0"}], f"no votes on these tasks (an unknown task). {strange}"),
        ([{**one, "position": 99}], f"no votes on these tasks (an image or position that is not in the task). {strange}"),
        ([{**one, "image": "feed"}], f"no votes on these tasks (an image or position that is not in the task). {strange}"),
        ([{**one, "person": ""}], f"no votes on these tasks (no person). {strange}"),
        ([{**one, "selected": "maybe"}], "column selected has 'maybe'. It is 1 or 0, true or false, or yes or no."),
        ([{"task": "t", "who": "p", "selected": 1, "image": "i"}], "column person is missing."),
    ):
        found = refused(3, "label", voted, "import", write_rows(tmp_path / "bad.csv", given))
        assert any(said.format(key) in found for key in ("cat", "dog")), found
        assert list(stored(voted)) == before


def test_votes_by_somebody_who_was_rejected_do_not_count(voted: Path, tmp_path: Path, resit: Callable[..., Any]):
    from resit.build.steps.opened import open_build

    rows = [row for row in read_rows(tmp_path / "votes.csv") if row["person"] == "person 3"]
    names = {f"{row['task']}:person 3" for row in rows}
    assert resit("build", "label", voted, "reject", *names, "--reason", "asleep").out == "2 assignments rejected\n"
    with open_build(voted) as build:
        before = build.store.counts()
    again = write_rows(tmp_path / "again.csv", [{**row, "assignment": f"new {row['task']}"} for row in rows])
    out = resit("build", "label", voted, "import", again).out
    assert f"{len(rows)} votes are new, 0 were known" in out
    assert "2 assignments are by rejected people: their votes are kept, and do not count." in out
    with open_build(voted) as build:
        assert build.store.counts() == before
        assert len(build.store.votes(accepted=False)) == len(build.store.votes()) + 2 * len(rows)


def test_review_lists_that_do_not_hold(refused: Callable[..., str], voted: Path, tmp_path: Path, resit: Callable[..., Any]):
    folder = tmp_path / "review"
    assert resit("build", "review", voted, "--export", folder).code == 0
    rows = [{**row, "verdict": "right", "person": "me"} for row in read_rows(folder / "review-images.csv")]
    assert len(rows) == 4
    path, before = folder / "filled.csv", list(stored(voted))
    last = dict(rows[-1])
    for change, said in (
        ({"verdict": "maybe"}, f"{path}, line 5: no verdict 'maybe' on image. On image people may say wrong, right."),
        ({"kind": "picture"}, f"{path}, line 5: no kind of verdict 'picture'. There are pair, image, class."),
        ({"person": ""}, f"{path}, line 5: no person. Each verdict says on what it is, and who gave it."),
        ({"class_id": ""}, f"{path}, line 5: no class_id. Each verdict says on what it is, and who gave it."),
        ({"class_id": "bird"}, f"{path}: ids of no class: bird. Write them as in the exported list."),
        ({"image": "feed"}, f"{path}: 1 images that are not in the build: feed. Is it the list of another build?"),
    ):
        assert refused(3, "review", voted, "--import", write_rows(path, [*rows[:-1], {**last, **change}])) == said
        assert list(stored(voted)) == before
    said = refused(3, "review", voted, "--import", write_rows(path, [*rows, {**last, "verdict": "wrong"}]))
    assert said == f"{path}, line 6: me says 'wrong', and in line 5 'right'. Leave the line that holds."
    assert list(stored(voted)) == before


def test_releases_that_are_refused(refused: Callable[..., str], voted: Path, tmp_path: Path, resit: Callable[..., Any]):
    full = tmp_path / "full"
    full.mkdir()
    (full / "notes.txt").write_text("mine")
    assert str(full) in refused(4, "release", voted, "-o", full)
    assert [path.name for path in full.iterdir()] == ["notes.txt"]
    assert refused(3, "release", voted, "-o", tmp_path / "out", "--revision", "r7").startswith(
        f"{voted / 'build.sqlite'}: no revision 7."
    )
    assert refused(2, "release", voted, "-o", tmp_path / "out", "--hold-out", 0.5) == (
        "release: images to hold out, and no folder for them. "
        "Give both hold_out (--hold-out) and private (--private), or neither."
    )
    (voted / "salt").rename(tmp_path / "salt")
    assert refused(3, "release", voted, "-o", tmp_path / "out") == (
        f"{voted / 'salt'}: the secret of the build is missing. Put it back from a copy. "
        "Begin a new one with `resit build init` only if nothing was released yet."
    )
    (tmp_path / "salt").rename(voted / "salt")
    answers = tmp_path / "answers.yaml"
    answers.write_text("- funding\n")
    said = refused(3, "release", voted, "-o", tmp_path / "out", "--answers", answers)
    assert said == f"{answers}: no mapping of keys to texts. Write `funding: …`, a line for each answer."
    image = next((voted / "images").rglob(f"{digest(picture('cat/10'))}.png"))
    image.write_bytes(picture("another"))
    assert image.name.partition(".")[0] in refused(3, "release", voted, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()
