from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from votes_made import TIME, chosen, one_task

from resit.build.voting.read_csv import read_csv_votes
from resit.errors import InputError

TASKS = pa.concat_tables([one_task("t1", ("a", "b", "c"), c="positive"), one_task("t2", ("b", "007"), "2")])
HEAD = "task,person,image,selected\n"


def read(tmp_path, text, tasks=TASKS, **more):
    path = tmp_path / "votes.csv"
    path.write_text(text, encoding="utf-8")
    return read_csv_votes(path, tasks, time=TIME, **more)


def codes(found):
    return [notice.code for notice in found.notices]


def test_rows_become_votes_with_role_and_class_of_their_task(tmp_path):
    found = read(tmp_path, HEAD + "t1,ann,a,1\nt1,ann,b,0\nt1,ann,c,1\nt2,ann,007,0\nt2,ann,b,1\n")
    assert found.votes.to_pylist()[2] == {
        "image": "c",
        "class_id": "1",
        "person": "ann",
        "assignment": "t1:ann",
        "role": "positive",
        "selected": True,
        "time": TIME,
    }
    assert found.votes["class_id"].to_pylist() == ["1", "1", "1", "2", "2"]
    assert found.votes["selected"].to_pylist() == [True, False, True, False, True]
    assert (found.statuses.num_rows, found.lost.num_rows, found.notices) == (0, 0, ())


def test_positions_in_place_of_images_and_more_columns(tmp_path):
    text = (
        "note;Position;task;person;selected;assignment;time\n;1;t2;ann;yes;x1;2026-02-01T10:00:00+02:00\nhm;0.0;t2;ann;No;x1;\n"
    )
    found = read(tmp_path, text)
    assert chosen(found.votes) == {("ann", "007"): True, ("ann", "b"): False}
    assert found.votes["time"].to_pylist() == ["2026-02-01T08:00:00Z", TIME]
    assert set(found.votes["assignment"].to_pylist()) == {"x1"}
    assert codes(found) == ["no-time"]


def test_case_17_and_16_names_stay_as_they_are(tmp_path):
    found = read(tmp_path, "\ufeff" + HEAD + "t2,007,007,1\nt2,NA,007,0\nt2,Zoë/Ö,007,0\n")
    assert found.votes["person"].to_pylist() == ["007", "NA", "Zoë/Ö"]
    assert set(found.votes["image"].to_pylist()) == {"007"}


def test_names_escaped_for_html_are_taken_for_what_they_mean(tmp_path):
    tasks = one_task("t1", ("a&b", "x&amp;y"))
    found = read(tmp_path, HEAD + "t1,ann,a&amp;b,1\nt1,ann,x&amp;y,1\n", tasks)
    assert found.votes["image"].to_pylist() == ["a&b", "x&amp;y"]
    assert found.notices[0].code == "escaped-names"
    assert found.notices[0].message.startswith("1 names")


def test_what_is_no_vote_is_told_row_by_row(tmp_path):
    rows = ["t1,ann,a,1", "t9,ann,a,1", "t1,ann,007,1", "t1,,a,1", "t1,bob,a,", "t1,bob,b,0", "t9,bob,zzz,1"]
    found = read(tmp_path, HEAD + "\n".join(rows))
    assert chosen(found.votes) == {("ann", "a"): True, ("bob", "b"): False}
    assert [(row["row"], row["reason"]) for row in found.lost.to_pylist()] == [
        (2, "an unknown task"),
        (3, "an image or position that is not in the task"),
        (4, "no person"),
        (5, "no answer"),
        (7, "an unknown task"),
    ]
    told = [notice.message for notice in found.notices if notice.code == "lost-rows"]
    assert "2 rows are no votes: an unknown task; the first is row 2." in told
    assert codes(found)[0] == "incomplete-assignments"


def test_case_20_the_same_row_twice_counts_once_and_a_contradiction_is_refused(tmp_path):
    found = read(tmp_path, HEAD + "t1,ann,a,1\nt1,ann,b,0\nt1,ann,a,true\n")
    assert found.votes["image"].to_pylist() == ["a", "b"]
    assert codes(found)[0] == "same-rows"
    with pytest.raises(InputError, match="assignment t1:ann answers image a both ways"):
        read(tmp_path, HEAD + "t1,ann,a,1\nt1,ann,a,0\n")


def test_a_task_that_a_person_answers_again_counts_once(tmp_path):
    text = (
        "task,person,image,selected,assignment,time\n"
        "t1,ann,a,1,x2,2026-01-02T00:00:00Z\nt1,ann,a,0,x1,2026-01-01T00:00:00Z\nt1,bob,a,0,x3,2026-01-01T00:00:00Z\n"
    )
    found = read(tmp_path, text)
    assert found.votes.num_rows == 3
    assert found.statuses.to_pylist() == [
        {
            "assignment": "x2",
            "status": "rejected",
            "person": "import",
            "reason": "the person has answered this task before",
            "time": "2026-01-02T00:00:00Z",
        }
    ]
    assert "answered-again" in codes(found)


def test_a_task_answered_in_an_earlier_file_counts_once_and_the_same_file_again_changes_nothing(tmp_path):
    head = "task,person,image,selected,assignment\n"
    first = read(tmp_path, head + "t1,ann,a,1,x1\nt1,ann,b,1,x1\n")
    again = read(tmp_path, head + "t1,ann,a,1,x1\nt1,ann,b,1,x1\n", earlier=first.votes)
    assert (again.votes, again.statuses) == (first.votes, first.statuses)
    other = read(tmp_path, head + "t1,ann,a,0,x2\nt2,ann,b,0,x3\nt1,bob,a,0,x4\n", earlier=first.votes)
    assert other.statuses["assignment"].to_pylist() == ["x2"]


def test_votes_of_rejected_people_are_kept_and_do_not_count(tmp_path):
    found = read(tmp_path, HEAD + "t1,ann,a,1\nt1,bob,a,1\n", rejected_people={"bob", "eve"})
    assert found.votes.num_rows == 2
    assert found.statuses.select(["assignment", "status", "reason"]).to_pylist() == [
        {"assignment": "t1:bob", "status": "rejected", "reason": "a rejected person"}
    ]
    assert str(found) == "2 votes by 2 people; 1 assignments rejected; 0 rows are no votes"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty file"),
        ("person,task,selected\nann,t1,1\n", "column position or image is missing"),
        ("image\na\n", "column task, person, selected is missing"),
        ("task,task,person,image,selected\n", "'task' is there more than once"),
        (HEAD, "no votes"),
        (HEAD + "t1,ann,a,maybe\n", "selected has 'maybe'"),
        (HEAD + "t1,ann,a\n", "cannot be read as csv"),
        (HEAD + "t7,ann,a,1\n", r"no votes on these tasks \(an unknown task\)"),
        (HEAD.strip() + ",time\nt1,ann,a,1,yesterday\n", "a time whose moment is not clear: 'yesterday'"),
        (HEAD.strip() + ",time\nt1,ann,a,1,2026-01-01T00:00:00\n", "moment is not clear"),
        (HEAD.strip() + ",assignment\nt1,ann,a,1,x\nt1,bob,b,1,x\n", "assignment x is of two people: ann, bob"),
        (HEAD.strip() + ",assignment\nt1,ann,a,1,x\nt2,ann,b,1,x\n", "assignment x is of two tasks: t1, t2"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, what):
    with pytest.raises(InputError, match=what):
        read(tmp_path, text)


def test_other_encodings_and_files_that_are_not_there(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes((HEAD + "t1,Zoë,a,1\n").encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        read_csv_votes(path, TASKS, time=TIME)
    with pytest.raises(InputError, match="no such file"):
        read_csv_votes(tmp_path / "none.csv", TASKS, time=TIME)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["image", "position"]))
def test_it_agrees_with_reading_row_by_row(tmp_path_factory, seed, by):
    rng = np.random.default_rng(seed)
    tasks = pa.concat_tables([one_task(f"t{t}", [f"i{x}" for x in rng.permutation(6)[:4]], str(t % 2)) for t in range(5)])
    asked = tasks.to_pylist()
    lines, slow = [], set()
    for number in rng.permutation(100)[:40]:
        row, person = asked[number % 20], f"p{number // 20}"
        unknown = rng.random() < 0.2
        selected = int(rng.random() < 0.5)
        lines.append(f"{row['task']},{person},{'zz' if unknown else row[by]},{selected}")
        if not unknown:
            slow.add((row["task"] + ":" + person, person, row["image"], row["class_id"], bool(selected)))
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    path.write_text("\n".join([f"task,person,{by},selected", *lines]))
    found = read_csv_votes(path, tasks.take(rng.permutation(20)), time=TIME)
    columns = (found.votes[name].to_pylist() for name in ("assignment", "person", "image", "class_id", "selected"))
    assert set(zip(*columns, strict=True)) == slow
    assert found.votes.num_rows + found.lost.num_rows == 40
