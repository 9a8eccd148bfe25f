"""Near-duplicates without a browser: who is given which pair, and that each verdict counts once."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paired import CANDIDATES, LIKE, Reviewer, digest, key, near, queue, said
from PIL import Image
from served import Served

import steps_made as made
from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy", "psycopg")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that tests copy."""
    return near(tmp_path_factory.mktemp("built"))


@pytest.fixture
def served(built: Path, tmp_path: Path, database: str | None) -> Iterator[Served]:
    with Served(near(tmp_path, database=database) if database else Path(shutil.copytree(built, tmp_path / "new"))) as server:
        yield server


@pytest.fixture
def quick(built: Path, tmp_path: Path) -> Iterator[Served]:
    with Served(Path(shutil.copytree(built, tmp_path / "new"))) as server:
        yield server


@pytest.fixture(scope="module")
def unchanged(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for tests that say nothing of any pair."""
    with Served(Path(shutil.copytree(built, tmp_path_factory.mktemp("unchanged") / "new"))) as server:
        yield server


def test_pairs_come_in_the_order_of_the_build_s_own_queue_until_none_is_left(served: Served):
    rita = Reviewer(served, "Rita")
    given, wanted, judged = rita.first(), queue(served), []
    assert set(wanted[:3]) == {key(one, two) for one, two in LIKE.items()}
    assert given["left"] == len(wanted) > rita.most
    turn = 0
    while given["pairs"]:
        assert rita.keys(given) == wanted[len(judged) :][: rita.most]
        names = [pair["id"] for pair in given["pairs"]][: 1 + turn % 3]
        judged += rita.keys(given)[: len(names)]
        assert rita.say(*((name, ("same", "near", "different")[turn % 3]) for name in names)).json()["new"] == len(names)
        given, turn = rita.next(), turn + 1
        assert given["left"] == len(queue(served)) == len(wanted) - len(judged)
    assert judged == wanted
    assert given["message"].startswith("Every pair")
    assert [row["key"] for row in said(served)] == wanted
    assert {row["person"] for row in said(served)} == {"Rita"}
    times = [row["time"] for row in said(served)]
    assert times == sorted(set(times))


def test_two_people_are_never_given_the_same_pair(served: Served):
    people = [Reviewer(served, name) for name in ("Rita", "Rob", "Ria")]
    people[0].first()
    wanted = queue(served)
    with ThreadPoolExecutor(3) as pool:
        given = list(pool.map(lambda one: one.next(), people))
    keys = [one.keys(found) for one, found in zip(people, given, strict=True)]
    shown = [pair for found in keys for pair in found]
    assert len(shown) == len(set(shown)) == min(len(wanted), 3 * people[0].most)
    assert set(shown) == set(wanted[: len(shown)])
    assert [found["elsewhere"] for found in given] != [0, 0, 0]
    assert people[1].keys(people[1].next()) == keys[1]  # asked again, everybody keeps theirs


def test_a_verdict_sent_again_counts_once_and_the_last_one_counts(served: Served):
    rita = Reviewer(served, "Rita")
    pair = rita.first()["pairs"][0]["id"]
    before = queue(served)
    for _ in range(3):
        assert rita.say((pair, "different"), event="the-same-event").status_code == 200
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: rita.say((pair, "near"), event="at-once-event").status_code, range(8)))
    assert codes == [200] * 8
    assert [row["verdict"] for row in said(served)] == ["different", "near"]
    assert queue(served) == before[1:]
    rita.say((pair, "unsure"))
    assert queue(served) == [*before[1:], before[0]]


def test_a_pair_that_somebody_is_unsure_of_goes_to_somebody_else(quick: Served):
    rita, rob = Reviewer(quick, "Rita"), Reviewer(quick, "Rob")
    first = rita.first()
    unsure, wanted = first["pairs"][0]["id"], queue(quick)
    rita.say((unsure, "unsure"))
    rita.say(*((pair["id"], "different") for pair in first["pairs"][1:]))
    while (given := rita.next())["pairs"]:
        rita.say(*((pair["id"], "different") for pair in given["pairs"]))
    assert (given["left"], given["doubted"], given["message"]) == (1, 1, "")
    assert queue(quick) == wanted[:1]
    again = rita.next(again=True)
    assert [pair["doubted"] for pair in again["pairs"]] == [True]
    assert rob.next()["pairs"] == []  # it is in Rita's hands now
    rita.next(skip=(again["pairs"][0]["id"],))
    taken = rob.next()
    assert rob.keys(taken) == wanted[:1]
    rob.say((taken["pairs"][0]["id"], "near"))
    assert rita.next()["left"] == 0


def test_pairs_that_were_put_off_come_last_and_others_may_have_them(quick: Served):
    rita, rob = Reviewer(quick, "Rita"), Reviewer(quick, "Rob")
    given, wanted = rita.first(), queue(quick)
    off = [pair["id"] for pair in given["pairs"][:2]]
    held = tuple(pair["id"] for pair in given["pairs"][2:])
    more = rita.next(held=held, skip=tuple(off))
    assert rita.keys(more) == wanted[rita.most :][:2]
    assert rob.keys(rob.next())[:2] == wanted[:2]


def test_those_who_go_away_leave_their_pairs_after_a_while(tmp_path: Path):
    with Served(near(tmp_path), "--lease", "0.02") as served:
        rita, rob = Reviewer(served, "Rita"), Reviewer(served, "Rob")
        rita.first()
        wanted = queue(served)
        rita.next()
        assert rob.keys(rob.next())[0] == wanted[rita.most]
        time.sleep(1.3)
        assert rob.keys(rob.next())[0] == wanted[0]


def test_a_server_that_is_killed_and_started_again_takes_what_was_on_its_way(served: Served):
    rita = Reviewer(served, "Rita")
    given, wanted = rita.first(), queue(served)
    names = [pair["id"] for pair in given["pairs"]]
    assert rita.say((names[0], "same"), event="before-event").status_code == 200
    served.kill()
    served.start()
    assert rita.say((names[0], "same"), event="before-event").json() == {"saved": 1, "new": 0}
    assert rita.say((names[1], "near"), event="after-event").json() == {"saved": 1, "new": 1}
    assert [(row["key"], row["verdict"]) for row in said(served)] == [(wanted[0], "same"), (wanted[1], "near")]
    assert rita.caller.get(f"/pairs/{names[2]}/one/large").status_code == 200
    assert rita.keys(rita.first()) == wanted[2:][: rita.most]


def test_verdicts_from_elsewhere_and_pairs_of_another_search_are_seen_without_a_restart(quick: Served, tmp_path: Path):
    from resit.build.steps.dedupe import find_duplicates
    from resit.build.steps.look import read_lists, write_lists
    from resit.build.steps.opened import open_build

    rita = Reviewer(quick, "Rita")
    before = rita.first()["left"]
    first = queue(quick)[0]
    with open_build(quick.folder) as build:
        _, pairs, _ = write_lists(build, tmp_path / "lists")
        read_lists(build, made.fill(pairs, {first: "near"}))
    assert rita.next()["left"] == before - 1
    copied = made.picture("copy", like="cat/web 4")
    made.write_images(tmp_path / "more", {"some/1": made.picture("cat/web 3"), "some/2": copied})
    with open_build(quick.folder) as build:
        find_duplicates(build, against=[str(tmp_path / "more")])
    end = time.monotonic() + 20
    while rita.next()["left"] != len(queue(quick)):
        assert time.monotonic() < end
        time.sleep(0.2)
    copy = made.digest(copied)
    assert tuple(sorted((digest("cat/web 4"), copy))) in queue(quick)
    assert {first for first in queue(quick)[:4] if copy in first} & set(rita.keys(rita.next()))


def shown(rita: Reviewer, pair: str, side: str) -> np.ndarray:
    answer = rita.caller.get(f"/pairs/{pair}/{side}/large")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp"), answer.text
    return np.asarray(Image.open(io.BytesIO(answer.content)).convert("RGB"))


def when_found(rita: Reviewer, path: str) -> Any:
    end = time.monotonic() + 20
    while True:
        answer = rita.caller.get(path)
        if "retry-after" not in answer.headers:
            return answer
        assert answer.status_code == 404
        assert time.monotonic() < end
        time.sleep(0.1)


def test_images_of_candidates_originals_and_other_references_are_shown_with_what_they_are(quick: Served):
    rita = Reviewer(quick, "Rita")
    given = rita.first()
    for pair, found in zip(given["pairs"][:3], rita.keys(given)[:3], strict=True):
        (one, two) = next(names for names in LIKE.items() if key(*names) == found)
        when_found(rita, f"/pairs/{pair['id']}/two/small")
        seen = {shown(rita, pair["id"], side).tobytes() for side in ("one", "two")}
        stored = [np.asarray(Image.open(io.BytesIO(made.picture(name, like=LIKE.get(name))))) for name in (one, two)]
        assert seen == {image.tobytes() for image in stored}  # small images are shown to the pixel
        if two in CANDIDATES:
            assert (pair["reference"], sorted(map(tuple, pair["classes"]))) == ("", [("cat",), ("dog",)])
        else:
            kind = [["cat"], ["cat"]] if two.startswith("original") else [["cat"], []]
            assert (pair["reference"].endswith(two.split()[0]), pair["classes"]) == (True, kind)
            assert np.array_equal(shown(rita, pair["id"], "one"), stored[0])
        assert pair["metric"] == "relative"
        assert 0 <= pair["distance"] < 0.1


def test_an_image_that_cannot_be_found_any_more_is_told(tmp_path: Path):
    with Served(near(tmp_path)) as served:
        rita = Reviewer(served, "Rita")
        given = rita.first()
        at = rita.keys(given).index(key("cat/web 1", "train 3"))
        shutil.rmtree(tmp_path / "train")
        answer = when_found(rita, f"/pairs/{given['pairs'][at]['id']}/two/large")
    assert answer.status_code == 404
    assert "cannot be shown" in answer.json()["error"]
    assert str(tmp_path) not in answer.text


def test_what_the_page_tells_names_no_file_and_is_of_no_use_to_others(unchanged: Served):
    rita, rob = Reviewer(unchanged, "Rita what"), Reviewer(unchanged, "Rob what")
    given = rita.first()
    text = rita.caller.get("/pairs").text
    for secret in (str(unchanged.folder), "web 0", *(image[:16] for found in rita.keys(given) for image in found)):
        assert secret not in text, secret
    name = given["pairs"][0]["id"]
    assert rob.caller.get(f"/pairs/{name}/one/large").status_code == 404
    assert rob.say((name, "same")).status_code == 404
    assert rob.caller.post("/pairs/next", {"held": [name]}).status_code == 404
    for path in (f"{name}x/one/large", f"{name}/three/large", f"{name}/one/huge", f"{digest('cat/web 0')}/one/large"):
        assert rita.caller.get(f"/pairs/{path}").status_code == 404
    assert said(unchanged) == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"verdicts": []},
        {"verdicts": [{"event": "short", "pair": "p", "verdict": "same"}]},
        {"verdicts": [{"event": "long-enough", "pair": "p", "verdict": "right"}]},
        {"verdicts": [{"event": "long-enough", "pair": 1, "verdict": "same"}]},
        {"verdicts": [{"event": "long-enough", "verdict": "same"}]},
    ],
)
def test_what_does_not_fit_is_refused(unchanged: Served, body: dict[str, object]):
    assert unchanged.client("reviewer").post("/pairs/verdicts", body).status_code == 422
    assert said(unchanged) == []


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"search": False}, "were not looked for yet"),
        ({"target": "null"}, "no measure of nearness has a target"),
        ({"target": 0.0}, "Every pair"),
    ],
)
def test_why_nothing_waits_is_told(tmp_path: Path, more: dict[str, Any], told: str):
    with Served(near(tmp_path, **more)) as served:
        rita = Reviewer(served, "Rita")
        given = rita.first()
        assert (given["pairs"], given["left"]) == ([], 0)
        assert told in given["message"]


def test_a_list_that_cannot_be_made_is_told(tmp_path: Path):
    with Served(near(tmp_path, target=1.5, search=False)) as served:
        rita = served.client("reviewer", "Rita")
        assert "could not be made" in rita.get("/").text
        answer = rita.get("/pairs")
        assert answer.status_code == 503
        assert "could not be made" in answer.text


def test_the_first_page_of_a_reviewer_says_what_waits(unchanged: Served):
    rita = Reviewer(unchanged, "Rita the_")
    first = rita.first()
    text = rita.caller.get("/").text
    assert f"{first['left'] - first['elsewhere']} pairs wait" in text
    assert "Nothing is selected yet" in text
    assert 'href="/pairs"' in text
    assert 'href="/review"' in text
    assert 'href="/pairs"' not in unchanged.client("annotator").get("/exam").text


def test_pairs_that_others_have_do_not_wait(quick: Served):
    rita, rob = Reviewer(quick, "Rita"), Reviewer(quick, "Rob")
    left = rita.first()["left"]
    text = rob.caller.get("/").text
    assert f"{left - rita.most} pairs wait" in text
    assert f"{rita.most} pairs are with somebody else for now" in text
    while len(found := rob.next()["pairs"]) == rob.most:
        rob.say(*((pair["id"], "different") for pair in found))
    rob.say(*((pair["id"], "different") for pair in found))
    given = rob.next()
    assert (given["pairs"], given["left"], given["elsewhere"]) == ([], rita.most, rita.most)
    assert "No pair waits for you." in rob.caller.get("/").text
    assert 'class="button main" href="/pairs"' not in rob.caller.get("/").text


def test_guidance_is_open_until_somebody_has_judged_a_pair(quick: Served):
    rita = Reviewer(quick, "Rita")
    first = rita.first()
    assert '<details class="rules" open>' in rita.caller.get("/pairs").text
    rita.say((first["pairs"][0]["id"], "unsure"))
    assert '<details class="rules">' in rita.caller.get("/pairs").text
