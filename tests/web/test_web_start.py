"""First pages: what somebody is told of what to do, before anything is given to them."""

from __future__ import annotations

import re
from pathlib import Path

from reviewable import Inside, Page, folder, job_done, pets, submit
from sat_made import say, with_exam
from served import Served

from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")

__all__ = ["folder", "pets"]


def test_an_annotator_chooses_between_the_exam_and_voting_until_all_exams_are_handed_in(tmp_path: Path):
    with Served(with_exam(tmp_path, exams=2)) as served:
        ann = served.client(name="Ann")
        assert ann.first.url.path == "/"
        assert "sit it before you vote" in ann.first.text
        for place in ("/exam/1", "/exam/2", "/vote"):
            assert re.search(rf'class="button[^"]*" href="{place}"', ann.first.text), place
        assert served.rows("lease") == []
        say(ann, 0, "cat")
        assert "Go on with Exam 1" in ann.get("/").text
        assert "You have answered 1 of them" in ann.get("/").text
        ann.post("/exam/1/finish", {"answered": 1})
        assert 'href="/exam/1"' not in ann.get("/").text
        assert served.rows("lease") == []
        ann.post("/exam/2/finish", {"answered": 0})
        assert ann.get("/").url.path == "/vote"
        assert len(served.rows("lease")) == 1
        assert served.client(name="Bo").first.url.path == "/"


def test_the_first_page_of_a_reviewer_tells_what_the_review_tells(folder: Path):
    def following(path: str) -> str:
        found = re.search(r'<span class="quiet">Next:</span> (?:<a href="(?:/review|/pairs)">)?([^<]+)', rita.get(path).text)
        return found[1].strip() if found else ""

    with Inside(folder) as served:
        rita = served.client("reviewer", "Rita")
        assert "8 images wait in 2 of 2 classes" in rita.get("/").text
        assert following("/") == ""
        page = Page(rita)
        page.image("wrong", page.new[0])
        page.looked()
        Page(rita, 2).looked()
        text = rita.get("/").text
        assert "were looked at, and 1 was judged wrong" in text
        assert '<a href="/review">Make the next revision (sample again): 1 selected image judged wrong.</a>' in text
        assert 'class="button main" href="/review"' in text
        assert following("/") == following("/review") != ""
        submit(rita, "/review", "/review/sample")
        job_done(rita)
        Page(rita).looked()
        assert (
            following("/")
            == following("/review")
            == "Make the next revision (sample again): the rounds end when one changes nothing."
        )
        submit(rita, "/review", "/review/sample")
        job_done(rita)
        for path in ("/", "/review"):
            assert "The set has converged" in rita.get(path).text
        assert 'class="button main" href="/review"' not in rita.get("/").text
