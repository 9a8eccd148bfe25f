"""A served exam, and what is known of it that people are not told."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from served import Caller, Served

import exam_made
from resit.build.exam.choose import own_order

IMAGES = 6  # of each kind


def with_exam(root: Path, *, exams: int = 1, show_answers: bool = False, **more: Any) -> Path:
    """A build with an exam of six original and six new images, or several."""
    from resit.build.steps.exam import make_exam
    from resit.build.steps.opened import open_build

    folder = exam_made.selected(root, votes={"task": 6, "positive": 1, "negative": 1, "people": 2}, **more)
    with open_build(folder) as build:
        for seed in range(exams):
            make_exam(build, n=IMAGES, seed=seed, show_answers=show_answers)
    return folder


def asked(served: Served) -> list[Any]:
    """Questions of the first exam in its own order."""
    from resit.build.steps.opened import open_build
    from resit.store.exams import questions

    with open_build(served.folder) as build, build.store.reading() as connection:
        return questions(connection, 1)


def seen_by(served: Served, person: str) -> list[Any]:
    """Questions of the first exam in the order of one person."""
    rows = asked(served)
    return [rows[at] for at in own_order(0, "Exam 1", person, len(rows))]


def given(served: Served) -> dict[int, str]:
    """Last answer to each position, of whoever sat the first exam."""
    rows = sorted(served.rows("exam_answer"), key=lambda row: row["id"])
    return {row["position"]: row["class_id"] for row in rows}


def say(caller: Caller, place: int, class_id: str | None, *, event: str = "", exam: int = 1) -> Any:
    name = event or f"event-{time.monotonic_ns()}"
    return caller.post(f"/exam/{exam}/answers", {"answers": [{"event": name, "place": place, "class_id": class_id}]})


def images_of(text: str) -> list[str]:
    """Ids of the images on the page, in its order."""
    return re.findall(r'data-image="(\w+)"', text)
