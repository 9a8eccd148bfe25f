"""Test sets built through the command line whose right content is known, revision after revision."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from databases import postgresql, schema_of_its_own
from extras import needs
from steps_made import PEOPLE, answers, digest, edit, fill, original, picture, read_rows, set_target, write_images, write_rows

needs("sqlalchemy", "alembic", "httpx", "psycopg", "datasets")
Key = tuple[str, str]  # image and class
LINKS = (("link", "image"), ("other_link", "other"))
__all__ = ["postgresql"]


@dataclass
class Story:
    """A build, and what is known of its pictures by the names that the test gives them."""

    resit: Callable[..., Any]
    root: Path
    data: dict[str, bytes] = field(default_factory=dict)
    yes: dict[Key, int] = field(default_factory=dict)

    @property
    def build(self) -> Path:
        return self.root / "new"

    def ok(self, *words: object) -> str:
        done = self.resit("build", *words)
        assert done.code == 0, done.err
        return done.out

    def json(self, *words: object) -> dict[str, Any]:
        return json.loads(self.ok(*words, "--json"))

    def begin(self, *, strategy: str, per_class: int, more: tuple[object, ...] = ()) -> None:
        folder, counts = original(self.root)
        options = ("--per-class", per_class, "--strategy", strategy, "--counts", counts, *more)
        out = self.ok("init", self.build, "--original", folder, *options)
        assert "48 originals of 2 classes, 0 of them without votes" in out
        edit(self.build, task=8, positive=2, negative=1)
        set_target(self.build, 0.3)

    def collect(self, folder: str, candidates: Mapping[str, int], data: Mapping[str, bytes] | None = None) -> str:
        """Collect pictures, by names such as cat/a with how many of ten people find that they show their class."""
        given = {name: (data or {}).get(name) or picture(name) for name in candidates}
        self.data |= given
        self.yes |= {self.key(name): often for name, often in candidates.items()}
        return self.ok("collect", self.build, "--from", f"folder:{write_images(self.root / folder, given)}")

    def vote(self, **more: Any) -> str:
        self.ok("label", self.build, "export", "--to", "csv")
        originals = {
            key: {digest(path.read_bytes()) for path in (self.root / "original" / key).iterdir()} for key in ("cat", "dog")
        }
        rows = answers(self.build / "exports" / "csv" / "tasks.csv", self.yes, originals, **more)
        return self.ok("label", self.build, "import", write_rows(self.root / "votes.csv", rows))

    def id(self, name: str) -> str:
        return digest(self.data[name])

    def key(self, name: str) -> Key:
        return self.id(name), name.partition("/")[0]

    def pair(self, one: str, two: str) -> Key:
        first, second = sorted((self.id(one), self.id(two)))
        return first, second

    def lists(self) -> tuple[set[Key], set[Key]]:
        """What is left to look at: images with their class, and pairs."""
        self.ok("review", self.build, "--export", self.root / "review")
        images, pairs = (read_rows(self.root / "review" / f"review-{kind}.csv") for kind in ("images", "pairs"))
        for row in (*images, *pairs):
            assert all(digest((self.build / row[link]).read_bytes()) == row[of] for link, of in LINKS if row[of])
        two = [tuple(sorted((row["image"], row["other"]))) for row in pairs]
        return {(row["image"], row["class_id"]) for row in images}, {(one, other) for one, other in two}

    def judge(self, said: Mapping[Key, str], usual: str = "right") -> None:
        """Fill in both lists: images are right where nothing is said of them."""
        images, pairs = (self.root / "review" / f"review-{kind}.csv" for kind in ("images", "pairs"))
        fill(images, said, usual=usual)
        fill(pairs, said)
        self.ok("review", self.build, "--import", images, "--import", pairs)

    def sample(self, *words: object) -> tuple[set[Key], dict[str, Any]]:
        told = self.json("sample", self.build, *words)
        return self.selected(told["revision"]), told

    def selected(self, revision: int) -> set[Key]:
        from resit.build.steps.opened import open_build

        with open_build(self.build) as build:
            found = build.store.selection(revision).selected
        return set(zip(found["image"].to_pylist(), found["class_id"].to_pylist(), strict=True))

    def keys(self, *names: str) -> set[Key]:
        return {self.key(name) for name in names}

    def status(self) -> dict[str, Any]:
        return self.json("status", self.build)

    def row(self, class_id: str) -> dict[str, Any]:
        return next(row for row in self.status()["classes"] if row["class_id"] == class_id)


@pytest.fixture
def story(resit: Callable[..., Any], tmp_path: Path) -> Story:
    return Story(resit, tmp_path)


def twins() -> tuple[bytes, bytes]:
    """Two pictures that are nearly the same, the one with the smaller digest first."""
    one, two = sorted((picture("twin"), picture("its like", like="twin")), key=digest)
    return one, two


def test_a_known_pool_gives_exactly_the_right_images_revision_after_revision(story: Story):
    # The training set, in which one candidate is found again.
    train = write_images(
        story.root / "train", {f"{key}/{n}": picture(f"train {key} {n}") for key in ("cat", "dog") for n in range(6)}
    )
    story.begin(strategy="top-images", per_class=3, more=("--against", train, "--seed", 5))
    from_train = picture("copied", like="train cat 0")
    first, second = twins()
    candidates = {"cat/copied": 10, "cat/twin": 10, "cat/wrong": 9, "cat/8": 8, "cat/7": 7, "cat/6": 6, "cat/0": 0}
    candidates |= {"dog/twin": 10, "dog/10": 10, "dog/8": 8}
    given = {"cat/copied": from_train, "cat/twin": first, "dog/twin": second}
    assert "10 found: 10 new" in story.collect("photos", candidates, given)

    # Somebody lies: his votes are in, and are taken out by his answers on controls.
    assert story.vote(liars=["liar"]).endswith("votes are new, 0 were known\n")
    people = story.json("label", story.build, "people", "--reject-below", 0.9, "--by", "me")
    right = {one["person"]: one["accuracy"] for one in people["people"]}
    assert right == dict.fromkeys(PEOPLE, 1.0)
    assert people["rejected"] == ["liar"]

    told = story.status()
    assert (told["votes"], told["people"], told["revision"], told["unsearched"]) == (24 * 11, 11, None, 10)
    assert told["next"] == "Find near-duplicates: `resit build dedupe`; 10 candidates were not compared yet."
    # Before anybody has looked at pairs, those of them are not eligible.
    assert "unknown" not in story.ok("dedupe", story.build)
    r1, told = story.sample()
    assert r1 == story.keys("cat/wrong", "cat/8", "cat/7", "dog/10", "dog/8")
    assert not told["valid"]
    assert told["shortages"] == [{"class_id": "dog", "wanted": 3, "found": 2, "why": "2 eligible candidates"}]
    assert told["excluded"] == {
        "blacklisted": 0, "too-few-votes": 0, "near-duplicate": 0, "unreviewed": 3, "other-class": 0,
    }  # fmt: skip
    row = story.row("dog")
    assert (row["collected"], row["unreviewed"], row["eligible"], row["selected"], row["short"]) == (3, 1, 2, 2, 1)
    assert row["next"] == "Review near-duplicates: 1 candidates wait for it."
    refused = story.resit("build", "release", story.build, "-o", story.root / "early")
    assert refused.code == 2
    assert "dog" in refused.err

    # Round one: a wrong image, a twin across classes, a copy of a training image.
    story.data["train"] = picture("train cat 0")
    images, pairs = story.lists()
    assert images == r1
    assert pairs == {story.pair("cat/twin", "dog/twin"), story.pair("cat/copied", "train")}
    story.judge({
        story.key("cat/wrong"): "wrong",
        story.pair("cat/twin", "dog/twin"): "near",
        story.pair("cat/copied", "train"): "Same",
    })  # fmt: skip
    state = story.json("review", story.build, "--status")
    assert (state["images_left"], state["pairs_left"], state["wrong"], state["converged"]) == (0, 0, 1, False)
    assert state["next"] == "Make the next revision (sample again): 1 selected image judged wrong."

    # Of the twins the first by id stays; the other leaves its class short, and that is cured by collecting more.
    r2, told = story.sample()
    assert r2 == story.keys("cat/twin", "cat/8", "cat/7", "dog/10", "dog/8")
    assert (told["parent"], told["valid"], told["upward"]) == (1, False, 0)
    assert told["excluded"] == {
        "blacklisted": 1, "too-few-votes": 0, "near-duplicate": 2, "unreviewed": 0, "other-class": 0,
    }  # fmt: skip
    assert story.row("dog")["next"] == "Collect candidates: at least 1 more are needed."
    assert story.status()["next"] == "Collect candidates: 1 class is short (dog)."
    more = {"dog/9": 9, "dog/6": 6, "dog/chained": 10}
    story.collect("more", more, {"dog/chained": picture("chained", like="train cat 0")})
    story.vote()
    assert "pairs judged" in story.ok("dedupe", story.build)
    r3, told = story.sample()
    assert r3 == r2 | story.keys("dog/9")
    assert told["valid"]

    # A candidate that belongs to the copy belongs to the reference too, whatever is said of the two directly.
    images, pairs = story.lists()
    assert images == story.keys("cat/twin", "dog/9")  # what was judged right stays so
    assert pairs == {story.pair("dog/chained", "train"), story.pair("dog/chained", "cat/copied")}
    story.judge({story.pair("dog/chained", "train"): "different", story.pair("dog/chained", "cat/copied"): "near"})
    state = story.json("review", story.build)
    assert state["next"] == "Make the next revision (sample again): the rounds end when one changes nothing."
    r4, told = story.sample()
    assert r4 == r3
    assert told["excluded"]["near-duplicate"] == 3
    state = story.json("review", story.build, "--status")
    assert state["converged"]
    assert (state["came"], state["went"], state["selected"]) == (0, 0, 6)
    assert (
        story.status()["next"] == state["next"] == "Release it: the last round changed nothing, and nothing is left to look at."
    )

    # What changed, and why.
    (twin,), (wrong,) = story.keys("cat/twin"), story.keys("cat/wrong")
    assert story.json("diff", story.build, "r1", "r2") == {
        "stayed": 4,
        "came": [{"image": twin[0], "class_id": twin[1], "fate": "drawn"}],
        "went": [{"image": wrong[0], "class_id": wrong[1], "reason": "blacklisted"}],
        "why": [
            {"class_id": "cat", "change": "came", "reason": "drawn", "images": 1},
            {"class_id": "cat", "change": "went", "reason": "blacklisted", "images": 1},
        ],
    }  # fmt: skip
    assert story.json("diff", story.build, "2", "R3")["why"] == [
        {"class_id": "dog", "change": "came", "reason": "drawn", "images": 1}
    ]
    assert story.ok("diff", story.build, "r3", "r4") == "nothing changed: 6 images stayed\n"
    released_as_it_is(story, r4)


def released_as_it_is(story: Story, selected: set[Key]) -> None:
    """Release, and read back with resit and with datasets."""
    import datasets

    import resit

    out = story.root / "new-1.0"
    assert "was there already" not in story.ok("release", story.build, "-o", out, "--licence", "cc-by-4.0")
    loaded = resit.load_benchmark(out)
    assert loaded.images is not None
    keys = {(digest(loaded.images[row]), loaded.class_id(loaded.labels[row, 0])) for row in range(loaded.n)}
    assert keys == selected
    rows = datasets.load_dataset("parquet", data_files=str(out / "data" / "test.parquet"), split="train")
    assert len(rows) == len(selected)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert "was there already" in story.ok("release", story.build, "-o", out, "--licence", "cc-by-4.0")
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_frequencies_are_matched_and_a_short_bin_draws_upward(story: Story, kind: str, request: pytest.FixtureRequest):
    # Originals, a quarter at .5, a quarter at .7, half always selected: of four wanted images 1, 1 and 2.
    server = () if kind == "sqlite" else ("--database", schema_of_its_own(request.getfixturevalue("postgresql")))
    story.begin(strategy="matched-frequency", per_class=4, more=server)
    assert (story.build / "build.sqlite").exists() == (not server)
    cats = {"cat/7a": 7, "cat/7b": 7, "cat/10": 10, "cat/9": 9, "cat/3": 3, "cat/1": 1}
    dogs = {"dog/5": 5, "dog/7": 7, "dog/10": 10, "dog/9": 9, "dog/2": 2}
    story.collect("photos", {**cats, **dogs})
    story.vote()
    story.ok("dedupe", story.build)
    r1, told = story.sample()
    assert r1 == story.keys("cat/7a", "cat/7b", "cat/10", "cat/9", "dog/5", "dog/7", "dog/10", "dog/9")
    assert (told["valid"], told["upward"]) == (True, 1)
    assert story.lists() == (r1, set())
    story.judge({story.key("dog/7"): "wrong"})

    # Nothing above is left for the bin, and never is one taken from below.
    assert story.json("review", story.build)["next"] == "Make the next revision (sample again): 1 selected image judged wrong."
    r2, told = story.sample()
    assert r2 == r1 - story.keys("dog/7")
    why = "too few eligible candidates: [0.6, 0.8) lacks 1"
    assert told["shortages"] == [{"class_id": "dog", "wanted": 4, "found": 3, "why": why}]
    text = story.ok("sample", story.build)
    assert f"short: dog: 3 of 4: {why}" in text
    assert "This selection is not valid" in text
    state = story.json("review", story.build)  # the round changed nothing, but this is not the end
    assert (state["came"], state["went"], state["short"], state["converged"]) == (0, 0, 1, False)
    assert state["next"] == "1 class short: `resit build status` says what is missing."

    story.collect("more", {"dog/8": 8, "dog/4": 4})
    story.vote()
    assert story.row("dog")["next"] == "Make a revision (sample): enough candidates are eligible."
    story.ok("dedupe", story.build)
    r4, told = story.sample()
    assert (told["revision"], told["valid"], told["upward"]) == (4, True, 2)
    assert r4 == r2 | story.keys("dog/8")
    assert story.json("diff", story.build, 3, 4)["why"] == [
        {"class_id": "dog", "change": "came", "reason": "upward", "images": 1}
    ]
    story.lists()
    story.judge({})
    r5, told = story.sample()
    assert r5 == r4
    assert told["upward"] == 2
    assert story.json("review", story.build)["converged"]
    released_as_it_is(story, r5)
