"""The review of a set without a browser: what is shown, and what becomes of what reviewers say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from reviewable import (
    Inside,
    Page,
    candidate,
    folder,
    judged,
    key_of,
    pets,
    verdicts,
)
from served import Served

import steps_made as made
from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")

__all__ = ["folder", "pets"]


@pytest.fixture
def served(folder: Path) -> Iterator[Served]:
    with Inside(folder) as server:
        yield server


def pair(*images: str, verdict: str = "near", person: str = "Rita") -> tuple[str, ...]:
    return ("pair", *sorted(images), "", verdict, person)


def image(number: int, verdict: str, person: str = "Rita", class_id: str = "cat") -> tuple[str, ...]:
    return ("image", candidate(class_id, number), "", class_id, verdict, person)


def test_a_class_shows_what_is_selected_above_a_sample_of_the_original(served: Served):
    rita = served.client("reviewer", "Rita")
    page = Page(rita)
    assert (len(page.new), len(page.old), page.revision) == (4, 10, 1)
    assert "10 of its 24 images" in page.text
    assert page.old == Page(rita).old  # the sample stays the same
    known = {made.digest(path.read_bytes()): path for path in served.folder.parents[0].rglob("*.png")}
    assert not any(digest in page.text for digest in known)
    assert "web 0" not in page.text
    assert "said yes" not in page.text  # votes are for those who ask
    for key in (*page.new, *page.old):
        for size in ("small", "large"):
            answer = rita.get(f"/review/1/1/{key}/{size}")
            assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert rita.get(f"/review/1/1/{page.new[0]}/huge").status_code == 404
    assert rita.get(f"/review/2/1/{page.new[0]}/small").status_code == 404
    assert served.client("reviewer", "Bo").get(f"/review/1/1/{page.new[0]}/small").status_code == 404


def test_the_images_are_those_that_are_selected_and_originals_of_the_class(served: Served):
    import io

    import numpy as np
    from PIL import Image

    rita = served.client("reviewer")
    page = Page(rita)

    def pixels(data: bytes) -> bytes:
        with Image.open(io.BytesIO(data)) as picture:
            return np.asarray(picture.convert("RGB")).tobytes()

    seen = {
        kind: {pixels(rita.get(f"/review/1/1/{key}/large").content) for key in getattr(page, kind)} for kind in ("new", "old")
    }
    assert seen["new"] == {pixels(made.picture(f"cat/web {number}")) for number in range(4)}
    originals = {pixels(path.read_bytes()) for path in (served.folder.parent / "original" / "cat").iterdir()}
    assert len(seen["old"]) == 10
    assert seen["old"] < originals


def test_votes_and_bins_come_on_demand(served: Served):
    rita = served.client("reviewer")
    page = Page(rita)
    told = rita.get("/review/1/1/votes").json()["told"]
    assert told[key_of(page, 3)] == ["37 of 40 said yes; bin 80 to 100 %"]
    usual = {"500 of 1000 said yes; bin 40 to 60 %", "700 of 1000 said yes; bin 60 to 80 %"}
    assert {told[key][0] for key in page.old} <= usual | {"1000 of 1000 said yes; bin 80 to 100 %"}


def test_what_a_reviewer_says_becomes_verdicts(served: Served):
    page = Page(served.client("reviewer", "Rita"))
    one, two = key_of(page, 0), key_of(page, 1)
    assert page.image("wrong", one).json() == {"saved": 1, "new": 1}
    page.image("right", one)
    page.send(page.mark("pair", "same", image=two, other=one), page.mark("pair", "near", image=one, other=two))
    page.send(page.mark("class", "problematic"))
    assert verdicts(served) == [
        image(0, "wrong"),
        image(0, "right"),
        pair(candidate("cat", 0), candidate("cat", 1), verdict="same"),
        pair(candidate("cat", 0), candidate("cat", 1)),
        ("class", "", "", "cat", "problematic", "Rita"),
    ]
    state = page.state()
    assert state["images"] == {one: "right"}
    assert [(one["verdict"], set(one["words"].split(" and "))) for one in state["pairs"]] == [
        ("near", {f"New {page.new.index(key) + 1}" for key in (one, two)})
    ]
    assert state["class"] == "problematic"
    first_and_last = [f"New {page.new.index(one) + 1}: wrong", "The class is problematic"]
    assert [row["words"] for row in state["history"]][::-4] == first_and_last


def test_said_again_and_again_in_one_request_the_last_word_holds(served: Served):
    page = Page(served.client("reviewer", "Rita"))
    key = page.new[0]
    page.send(*(page.mark("image", verdict, image=key) for verdict in ("wrong", "right", "wrong", "right", "wrong")))
    assert page.state()["images"] == {key: "wrong"}
    assert len(verdicts(served)) == 5


def test_what_is_sent_again_counts_once(served: Served):
    page = Page(served.client("reviewer", "Rita"))
    mark = page.mark("image", "wrong", image=page.new[0], event="event-0001")
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: page.send(mark).json()["new"], range(6)))
    assert sorted(answers) == [0] * 5 + [1]
    back = page.mark("image", "right", image=page.new[0])
    assert page.send(mark, back).json() == {"saved": 2, "new": 1}
    assert page.state()["images"] == {page.new[0]: "right"}
    assert len(verdicts(served)) == 2


def test_what_does_not_fit_is_refused_and_nothing_of_it_is_saved(served: Served):
    page = Page(served.client("reviewer", "Rita"))
    new, old = page.new[0], page.old
    good = page.mark("image", "wrong", image=new)
    for bad in (
        page.mark("image", "wrong", image=old[0]),
        page.mark("image", "near", image=new),
        page.mark("image", "wrong", image="0" * 32),
        page.mark("pair", "near", image=old[0], other=old[1]),
        page.mark("pair", "near", image=new, other=new),
        page.mark("class", "odd"),
        page.mark("looked", images=[old[0]]),
        page.mark("looked", images=page.new * 3),
        page.mark("all", "wrong"),
        page.mark("image", "wrong", image=new, event="x"),
    ):
        answer = page.send(good, bad)
        assert answer.status_code == 422, bad
        assert answer.json()["error"]
    assert page.send({**good, "revision": 9}).status_code == 404
    assert page.caller.post("/review/3/marks", {"marks": [good]}).status_code == 404
    assert verdicts(served) == []


def test_looked_at_says_right_of_what_nobody_judged(served: Served):
    rita, bo = Page(served.client("reviewer", "Rita")), Page(served.client("reviewer", "Bo"))
    bo.image("wrong", key_of(bo, 2))
    rita.looked()
    rita.looked()
    assert sorted(verdicts(served)) == sorted([image(2, "wrong", "Bo"), *(image(number, "right") for number in (0, 1, 3))])
    text = rita.caller.get("/review").text
    assert "4 images wait" in text
    assert re.search(r">cat</a></th>\s*<td[^>]*>4</td>\s*<td[^>]*>4</td>\s*<td[^>]*>1</td>", text)
    assert rita.caller.get("/review/next?after=2").url.path == "/review/2"
    Page(rita.caller, 2).looked()
    assert rita.caller.get("/review/next").url.path == "/review"
    assert "1 selected image judged wrong" in rita.caller.get("/review").text


def test_two_reviewers_see_what_the_other_said(served: Served):
    rita, bo = Page(served.client("reviewer", "Rita")), Page(served.client("reviewer", "Bo"))
    assert not set(rita.new) & set(bo.new)
    rita.image("wrong", rita.new[1])
    bo.image("right", bo.new[1])
    for page in (rita, bo):
        state = page.state()
        assert state["images"] == {page.new[1]: "right"}
        assert [(row["person"], row["words"]) for row in state["history"]] == [("Bo", "New 2: right"), ("Rita", "New 2: wrong")]


def test_more_images_than_a_page_come_on_further_pages(tmp_path: Path):
    with Inside(judged(tmp_path, candidates=14, per_class=13)) as served:
        rita = served.client("reviewer")
        first, last = Page(rita), Page(rita, page=2)
        assert (len(first.new), len(last.new), len(last.old)) == (10, 3, 10)
        assert not {*first.new, *first.old} & {*last.new, *last.old}
        assert 'data-next="/review/1?page=2"' in first.text
        assert 'data-next="/review/next?after=1"' in last.text
        last.looked()
        assert "10 waits" in rita.get("/review").text.replace("10 wait<", "10 waits<")
        assert rita.get("/review/next").url.query == b""
        first.looked()
        assert rita.get("/review/next").url.path == "/review/2"
        Page(rita, 2).looked()
        assert rita.get("/review/next").url.query == b"page=2"


def test_what_is_taken_back_is_told_as_such_where_the_same_person_said_it(served: Served):
    rita, bo = Page(served.client("reviewer", "Rita")), Page(served.client("reviewer", "Bo"))
    assert '<details class="rules" open>' in rita.text
    for verdict in ("problematic", "fine"):
        rita.send(rita.mark("class", verdict))
    for verdict in ("near", "different"):
        rita.send(rita.mark("pair", verdict, image=rita.new[0], other=rita.new[1]))
    rita.send(rita.mark("class", "problematic"))
    bo.send(bo.mark("class", "fine"))
    assert [row["words"] for row in rita.state()["history"]][::-1] == [
        "The class is problematic",
        "The class is not problematic after all",
        "New 1 and New 2: near-duplicates",
        "New 1 and New 2: no near-duplicates after all",
        "The class is problematic",
        "The class is fine",
    ]
    assert '<details class="rules">' in Page(rita.caller).text


def test_models_are_told_beside_the_votes(folder: Path, tmp_path: Path):
    import numpy as np

    from resit.data.benchmark import Benchmark, ClassInfo
    from resit.data.models import ModelId
    from resit.data.predictions import Predictions
    from resit.data.store import save_predictions

    ids = np.array([candidate("cat", number) for number in range(4)])
    classes = tuple(ClassInfo(key, key) for key in made.CLASSES)
    benchmark = Benchmark("pets", np.zeros((4, 1), np.int32), ids=ids, classes=classes)
    answers = np.array([[[0], [1], [0], [1]], [[0], [1], [1], [0]], [[0], [1], [0], [0]]], np.int16)
    models = tuple(ModelId(name, "") for name in "abc")
    runs = save_predictions(Predictions(benchmark, models, answers), tmp_path / "runs")
    with Served(folder, "--runs", str(runs)) as served:
        assert f"{runs}: 3 models on 4 images of the build" in served.said
        rita = served.client("reviewer")
        page = Page(rita)
        assert "models right" not in page.text
        told = rita.get("/review/1/1/votes").json()["told"]
        assert [told[key_of(page, number)][1] for number in range(4)] == [
            "3 of 3 models right; all say cat",
            "0 of 3 models right; all say dog",
            "2 of 3 models right; most say cat",
            "2 of 3 models right; most say cat",
        ]
        assert len(told[page.old[0]]) == 1


def test_runs_on_other_images_are_refused_at_the_start(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    import numpy as np

    from resit.cli.app import run
    from resit.data.benchmark import Benchmark
    from resit.data.models import ModelId
    from resit.data.predictions import Predictions
    from resit.data.store import save_predictions

    benchmark = Benchmark("other", np.zeros((2, 1), np.int32), ids=np.array(["a", "b"]))
    predictions = Predictions(benchmark, (ModelId("m", ""),), np.zeros((1, 2, 1), np.int16))
    runs = save_predictions(predictions, tmp_path / "runs")
    assert run(["serve", str(folder), "--runs", str(runs)]) == 3
    assert "none of its 2 examples is an image of this build" in capsys.readouterr().err


def test_a_class_that_is_short_says_so(tmp_path: Path):
    with Inside(judged(tmp_path, candidates=3)) as served:
        rita = served.client("reviewer")
        assert "short: " in rita.get("/review").text
        assert "3 selected images" in rita.get("/review/1").text
        assert "short: " in rita.get("/review/1").text
        assert len(Page(rita).new) == 3
