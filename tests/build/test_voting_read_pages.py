"""Results of Mechanical Turk and Label Studio, with the faults that such files have."""

from __future__ import annotations

import csv
import html
import json

import pyarrow as pa
import pytest
from votes_made import TIME, chosen, one_task

from resit.build.voting.read_label_studio import read_label_studio_votes
from resit.build.voting.read_mturk import read_mturk_votes
from resit.build.voting.times import utc
from resit.errors import InputError

TASKS = pa.concat_tables([one_task("t1", ("a", "b", "c")), one_task("t2", ("b", "d"), "2")])
COLUMNS = (
    *("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime", "ApprovalTime", "RejectionTime"),
    *("RequesterFeedback", "Input.task", "Input.text", "Answer.taskAnswers"),
)
USUAL = {
    "HITId": "H",
    "AssignmentStatus": "Submitted",
    "SubmitTime": "Sun Mar 01 23:15:30 PST 2026",
    "Input.task": "t1",
    "Input.text": 'bear, "brown"\nor black',
}


def answered(*selected: int, **more) -> str:
    return json.dumps([{"task": "t1", "selected": json.dumps(selected), "broken": "[]", **more}])


def turk(tmp_path, *rows, columns=COLUMNS, **more):
    path = tmp_path / "Batch_1_batch_results.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", quoting=csv.QUOTE_ALL)
        writer.writeheader()
        for at, row in enumerate(rows):
            writer.writerow({**{k: v for k, v in USUAL.items() if k in columns}, "AssignmentId": f"A{at}", **row})
    return read_mturk_votes(path, TASKS, time=TIME, **more)


def test_a_results_file_of_mechanical_turk(tmp_path):
    found = turk(
        tmp_path,
        {"WorkerId": "W1", "Answer.taskAnswers": answered(1, 3)},
        {"WorkerId": "W2", "Answer.taskAnswers": answered()},
    )
    assert chosen(found.votes) == {
        **{("W1", name): name in "ac" for name in "abc"},
        **{("W2", name): False for name in "abc"},
    }
    assert set(found.votes["assignment"].to_pylist()) == {"A0", "A1"}
    assert set(found.votes["time"].to_pylist()) == {"2026-03-02T07:15:30Z"}
    assert (found.statuses.num_rows, found.lost.num_rows, found.notices) == (0, 0, ())


def test_the_status_of_assignments_comes_along(tmp_path):
    late = {"ApprovalTime": "Mon Mar 02 00:00:00 PST 2026", "RejectionTime": "Tue Mar 03 00:00:00 PST 2026"}
    found = turk(
        tmp_path,
        {"WorkerId": "W1", "AssignmentStatus": "Approved", "Answer.taskAnswers": answered(1), **late},
        {
            "WorkerId": "W2",
            "AssignmentStatus": "Rejected",
            "Answer.taskAnswers": answered(2),
            "RequesterFeedback": "all &quot;wrong&quot;",
            **late,
        },
        {"WorkerId": "W3", "Answer.taskAnswers": answered(2)},
    )
    assert [tuple(row.values()) for row in found.statuses.to_pylist()] == [
        ("A0", "accepted", "mturk", "", "2026-03-02T08:00:00Z"),
        ("A1", "rejected", "mturk", 'all "wrong"', "2026-03-03T08:00:00Z"),
    ]
    assert len(found.votes) == 9


def test_after_a_rejected_assignment_the_same_person_may_answer_again(tmp_path):
    rows = [
        {
            "WorkerId": "W1",
            "AssignmentStatus": status,
            "Answer.taskAnswers": answered(1),
            "SubmitTime": f"2026-03-0{day}T00:00:00Z",
        }
        for day, status in enumerate(("Rejected", "Submitted", "Approved"), start=1)
    ]
    found = turk(tmp_path, *rows)
    assert [(row["assignment"], row["status"]) for row in found.statuses.to_pylist()] == [
        ("A0", "rejected"),
        ("A2", "rejected"),
    ]


def test_a_plain_form_and_text_escaped_for_html(tmp_path):
    columns = (*COLUMNS[:-1], "Answer.selected", "Answer.broken")
    found = turk(tmp_path, {"WorkerId": "W1", "Answer.selected": "[1,2]", "Answer.broken": "[3]"}, columns=columns)
    assert chosen(found.votes) == {("W1", "a"): True, ("W1", "b"): True}
    assert [notice.code for notice in found.notices] == ["broken-images", "incomplete-assignments"]
    found = turk(tmp_path, {"WorkerId": "W1", "Answer.taskAnswers": html.escape(answered(2))})
    assert chosen(found.votes) == {("W1", "a"): False, ("W1", "b"): True, ("W1", "c"): False}


def test_rows_that_are_no_votes_are_told(tmp_path):
    found = turk(
        tmp_path,
        {"WorkerId": "W1", "Answer.taskAnswers": answered(1)},
        {"WorkerId": "W1", "Answer.taskAnswers": answered(1, task="t9"), "Input.task": "t9"},
        {"WorkerId": "W2", "Answer.taskAnswers": answered(4)},
        {"WorkerId": "W3", "Answer.taskAnswers": answered(1)[:-8]},
        {"WorkerId": "W3", "Answer.taskAnswers": "[]"},
        {"WorkerId": "", "AssignmentStatus": ""},
        {"WorkerId": "W4", "Answer.taskAnswers": answered(1, task="t2")},
        {"WorkerId": "W5", "Answer.taskAnswers": json.dumps([{"selected": "[true]"}])},
        {"WorkerId": "W6", "AssignmentId": "", "Answer.taskAnswers": answered(1)},
    )
    assert len(found.votes) == 3
    assert [(row["row"], row["reason"]) for row in found.lost.to_pylist()] == [
        (2, "an unknown task"),
        (3, "a position that is not on the page"),
        (4, "no list of selected images"),
        (5, "no list of selected images"),
        (6, "not answered"),
        (7, "an answer to another task than was asked"),
        (8, "no list of selected images"),
        (9, "no person or assignment"),
    ]


def test_the_same_row_twice_counts_once(tmp_path):
    row = {"WorkerId": "W1", "AssignmentId": "A", "Answer.taskAnswers": answered(1)}
    found = turk(tmp_path, row, row)
    assert len(found.votes) == 3
    assert [notice.code for notice in found.notices] == ["same-rows"]


@pytest.mark.parametrize(
    ("columns", "row", "what"),
    [
        (COLUMNS[1:3], {}, "column AssignmentStatus, Answer.taskAnswers or Answer.selected is missing"),
        (COLUMNS, {"AssignmentStatus": "Perhaps"}, "row 1: unknown AssignmentStatus 'Perhaps'"),
        (COLUMNS, {"Answer.taskAnswers": answered(1), "SubmitTime": "Sun Mar 01 23:15:30 XYZ 2026"}, "moment is not clear"),
        (COLUMNS, {"Answer.taskAnswers": answered(), "Input.task": "t9"}, "no votes on these tasks"),
    ],
)
def test_results_that_cannot_be_used_are_refused(tmp_path, columns, row, what):
    with pytest.raises(InputError, match=what):
        turk(tmp_path, {"WorkerId": "W1", **row}, columns=columns)


def test_an_empty_results_file(tmp_path):
    path = tmp_path / "r.csv"
    for text, what in (("", "empty file"), ("AssignmentId,WorkerId\n", "without rows")):
        path.write_text(text)
        with pytest.raises(InputError, match=what):
            read_mturk_votes(path, TASKS, time=TIME)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Wed Jul 01 09:05:21 PDT 2026", "2026-07-01T16:05:21Z"),
        ("Thu Dec 31 20:00:00 EST 2026", "2027-01-01T01:00:00Z"),
        ("2026-07-01T09:05:21.250+02:00", "2026-07-01T07:05:21.250000Z"),
        (" 2026-07-01T09:05:21Z ", "2026-07-01T09:05:21Z"),
    ],
)
def test_times(text, moment):
    assert utc(text, "file") == moment


def studio(tmp_path, *annotations, task="t1", **more):
    path = tmp_path / "export.json"
    data = {"id": 1, "data": {"task": task}, "annotations": list(annotations), "predictions": [{"result": []}]}
    path.write_text(json.dumps([data]), encoding="utf-8")
    return read_label_studio_votes(path, TASKS, time=TIME, **more)


def annotation(at, who, *selected, **more):
    value = {"choices": [str(place) for place in selected]}
    result = [{"from_name": "selected", "to_name": "text", "type": "choices", "value": value}] if selected else []
    return {"id": at, "completed_by": who, "result": result, "was_cancelled": False, **more}


def test_an_export_of_label_studio(tmp_path):
    found = studio(
        tmp_path,
        annotation(7, 3, 1, 3, unique_id="u-7", created_at="2026-02-01T10:00:00.5Z"),
        annotation(8, {"id": 4, "email": "bob@example.org"}),
        annotation(9, 5, was_cancelled=True),
        annotation(10, None, 1),
        annotation(11, 6, 4),
        {**annotation(12, 7), "result": [{"from_name": "note", "value": {"text": ["hm"]}}]},
    )
    assert chosen(found.votes) == {
        **{("3", name): name in "ac" for name in "abc"},
        **{("bob@example.org", name): False for name in "abc"},
    }
    assert sorted(set(found.votes["assignment"].to_pylist())) == ["t1:8", "u-7"]
    assert set(found.votes["time"].to_pylist()) == {"2026-02-01T10:00:00.500000Z", TIME}
    assert [row["reason"] for row in found.lost.to_pylist()] == [
        "skipped by the person",
        "no person",
        "a position that is not on the page",
        "another kind of answer than resit has asked for",
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty file"),
        ('[{"data": {"task": "t1"}, "annot', "not valid JSON: .* cut off"),
        ('{"data": {}}', "no list of tasks"),
        ("[]", "no votes"),
        ('[{"task": "t1", "selected": {"choices": ["1"]}, "annotator": 1}]', "entry 1 is no task with data"),
        ('[{"data": {"task": "t1"}, "annotations": [17]}]', "numbers of annotations"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_exports_that_cannot_be_used_are_refused(tmp_path, text, what):
    path = tmp_path / "export.json"
    path.write_text(text)
    with pytest.raises(InputError, match=what):
        read_label_studio_votes(path, TASKS, time=TIME)


def test_label_studio_by_somebody_who_answered_before_and_by_a_rejected_person(tmp_path):
    first = studio(tmp_path, annotation(1, 3, 1))
    found = studio(tmp_path, annotation(2, 3, 2), annotation(3, 4, 2), earlier=first.votes, rejected_people=["4"])
    assert [row["reason"] for row in found.statuses.to_pylist()] == [
        "the person has answered this task before",
        "a rejected person",
    ]
