"""Mechanical Turk's API by botocore's Stubber, which holds each call and answer against the service's own model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from votes_made import TIME, chosen, one_task, pages_of

from extras import needs
from resit.build.voting.mturk_api import HitSettings, connect, fetch_answers, publish, qualify_people, tell_decisions
from resit.build.voting.qualify import GRADES
from resit.errors import InputError, UsageError
from resit.store.schemas import table
from store_rows import statuses

stub = needs("botocore.stub")
SETTINGS = HitSettings("0.40", minutes=20, days=7)
ANSWERS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return connect()


@pytest.fixture
def stubber(client: Any) -> Iterator[Any]:
    with stub.Stubber(client) as stubbed:
        yield stubbed
        stubbed.assert_no_pending_responses()


def hits(stubber: Any, *found: dict[str, Any]) -> None:
    stubber.add_response("list_hits", {"HITs": list(found)}, {"MaxResults": 100})


def hit(task: str, most: int = 2, done: int = 0) -> dict[str, Any]:
    name = f"H-{task}"
    return {"HITId": name, "RequesterAnnotation": task, "MaxAssignments": most, "NumberOfAssignmentsCompleted": done}


def assignment(at: int, *selected: int, **more: Any) -> dict[str, Any]:
    fields = json.dumps([{"task": "t1", "selected": json.dumps(selected), "broken": "[]"}])
    answer = f"<Answer><QuestionIdentifier>taskAnswers</QuestionIdentifier><FreeText>{escape(fields)}</FreeText></Answer>"
    return {
        "AssignmentId": f"A{at}",
        "WorkerId": f"W{at}",
        "HITId": "H-t1",
        "AssignmentStatus": "Submitted",
        "SubmitTime": datetime(2026, 2, 1, 10, tzinfo=UTC),
        "Answer": f'<?xml version="1.0"?><QuestionFormAnswers xmlns="{ANSWERS}">{answer}</QuestionFormAnswers>',
        **more,
    }


def test_the_sandbox_is_used_unless_said_otherwise(client):
    assert "sandbox" in client.meta.endpoint_url
    assert "sandbox" not in connect(production=True).meta.endpoint_url


def test_a_new_task_is_offered_with_the_page_filled_in(client, stubber):
    asked: dict[str, Any] = {}
    client.meta.events.register("provide-client-params.mturk.CreateHIT", lambda params, **_: asked.update(params))
    hits(stubber)
    stubber.add_response("create_hit", {"HIT": {"HITId": "H"}}, None)
    pages = pages_of(one_task(names="ab"), 10, {"1": "]]> & <b>"})
    found = publish(client, pages, HitSettings("0.40", qualification="Q"), time=TIME)
    assert (found.new, found.extended, found.open) == (("t1",), (), ())
    assert asked["MaxAssignments"] == 10
    assert (asked["RequesterAnnotation"], asked["UniqueRequestToken"]) == ("t1", "t1")
    assert asked["QualificationRequirements"][0]["QualificationTypeId"] == "Q"
    (content,) = (node.text for node in ElementTree.fromstring(asked["Question"]) if node.tag.endswith("HTMLContent"))
    assert "${" not in content
    assert 'data-images="https://images.example/a.jpg https://images.example/b.jpg"' in content
    assert "shows: ]]&gt; &amp; &lt;b&gt;</h1>" in content


def test_doing_it_again_offers_only_what_is_missing(client, stubber):
    hits(stubber, hit("t1", 10, done=9), hit("other", 1))
    more = {"HITId": "H-t1", "NumberOfAdditionalAssignments": 2, "UniqueRequestToken": "t1-12"}
    stubber.add_response("create_additional_assignments_for_hit", {}, more)
    until = {"HITId": "H-t1", "ExpireAt": datetime(2026, 2, 7, 12, tzinfo=UTC)}
    stubber.add_response("update_expiration_for_hit", {}, until)
    assert publish(client, pages_of(one_task(), 3), SETTINGS, time=TIME).extended == ("t1",)
    hits(stubber, hit("t1", 12, done=9))
    assert publish(client, pages_of(one_task(), 3), SETTINGS, time=TIME).open == ("t1",)


def test_answers_are_fetched_page_by_page(client, stubber):
    stubber.add_response("list_hits", {"HITs": [hit("t1")], "NextToken": "more"}, {"MaxResults": 100})
    rejected = {"AssignmentStatus": "Rejected", "RejectionTime": datetime(2026, 2, 2, tzinfo=UTC), "RequesterFeedback": "no"}
    first = {"Assignments": [assignment(1, 1, 3)], "NextToken": "n"}
    second = {"Assignments": [assignment(2, 2, **rejected), assignment(3, Answer="<cut"), assignment(4, 9)]}
    stubber.add_response("list_assignments_for_hit", first, {"HITId": "H-t1", "MaxResults": 100})
    stubber.add_response("list_assignments_for_hit", second, {"HITId": "H-t1", "MaxResults": 100, "NextToken": "n"})
    stubber.add_response("list_hits", {"HITs": [hit("other")]}, {"MaxResults": 100, "NextToken": "more"})
    found = fetch_answers(client, one_task(), time=TIME)
    assert chosen(found.votes) == {
        **{("W1", name): name in "ac" for name in "abc"},
        **{("W2", name): name == "b" for name in "abc"},
    }
    assert set(found.votes["time"].to_pylist()) == {"2026-02-01T10:00:00Z"}
    assert [tuple(row.values()) for row in found.statuses.to_pylist()] == [
        ("A2", "rejected", "mturk", "no", "2026-02-02T00:00:00Z")
    ]
    assert [row["reason"] for row in found.lost.to_pylist()] == [
        "no list of selected images",
        "a position that is not on the page",
    ]


def test_an_answer_that_declares_a_document_type_is_not_read(client, stubber):
    hits(stubber, hit("t1"))
    bomb = '<!DOCTYPE a [<!ENTITY b "x">]><QuestionFormAnswers>&b;</QuestionFormAnswers>'
    stubber.add_response("list_assignments_for_hit", {"Assignments": [assignment(1, Answer=bomb)]}, None)
    with pytest.raises(InputError, match="no votes on these tasks"):
        fetch_answers(client, one_task(), time=TIME)


def test_decisions_are_told_where_they_are_not_known(client, stubber):
    given = statuses(
        {"assignment": "A1", "status": "accepted", "reason": ""},
        {"assignment": "A2", "status": "rejected", "reason": "40 % right"},
        {"assignment": "A3", "status": "accepted", "reason": ""},
    )
    for name, status in (("A1", "Approved"), ("A2", "Submitted"), ("A3", "Rejected")):
        stubber.add_response("get_assignment", {"Assignment": {"AssignmentStatus": status}}, {"AssignmentId": name})
        if name == "A2":
            stubber.add_response("reject_assignment", {}, {"AssignmentId": "A2", "RequesterFeedback": "40 % right"})
        if name == "A3":
            stubber.add_response("approve_assignment", {}, {"AssignmentId": "A3", "OverrideRejection": True})
    assert tell_decisions(client, given) == 2


def test_people_are_qualified(client, stubber):
    grades = table(
        GRADES,
        {
            "person": ["W1", "W2"],
            "right": [12, 5],
            "shown": [12, 12],
            "accuracy": [1.0, 5 / 12],
            "passed": [True, False],
            "reason": ["", "5 of 12 right"],
        },
    )
    for who, score in (("W1", 1), ("W2", 0)):
        asked = {"QualificationTypeId": "Q", "WorkerId": who, "IntegerValue": score, "SendNotification": bool(score)}
        stubber.add_response("associate_qualification_with_worker", {}, asked)
    assert qualify_people(client, "Q", grades) == 1


def test_a_refusal_says_what_and_what_to_do(client, stubber):
    hits(stubber)
    stubber.add_client_error("create_hit", "RequestError", "This Requester has insufficient funds")
    with pytest.raises(InputError, match=r"task t1: Mechanical Turk refuses: This Requester has insufficient funds\. What was"):
        publish(client, pages_of(one_task()), SETTINGS, time=TIME)


def test_no_credentials(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    client = connect()
    client.meta.events.register("before-send.mturk", lambda **_: pytest.fail("nothing may be sent"))
    with pytest.raises(UsageError, match="no credentials"):
        fetch_answers(client, one_task(), time=TIME)
