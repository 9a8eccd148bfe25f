"""A build with something on every page: pages to vote on, pairs, a revision, and an exam."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import paired

import exam_made


def whole(root: Path, *, show_answers: bool = False, **more: Any) -> Path:
    """A build of cats and dogs."""
    from resit.build.steps.exam import make_exam
    from resit.build.steps.opened import open_build

    folder = paired.near(root, **more)
    with open_build(folder) as build:
        exam_made.select(build, [(paired.digest(name), name[:3]) for name in paired.CANDIDATES])
        make_exam(build, n=6, seed=0, show_answers=show_answers)
    return folder
