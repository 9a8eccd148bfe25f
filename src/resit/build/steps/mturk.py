"""Ask people on Mechanical Turk through its API: tasks offered, answers fetched, decisions told."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from resit.build.clock import now
from resit.build.steps.label import Returned, pages_of, planned_tasks, refuse_local, take_answers
from resit.build.steps.opened import Build, Tell, silent
from resit.build.voting.mturk_api import HitSettings, Published, fetch_answers, publish, tell_decisions
from resit.build.voting.plan import Plan
from resit.errors import Notice


@dataclass(frozen=True)
class Offered:
    """Tasks that were offered to people."""

    plan: Plan
    published: Published
    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        done = self.published
        counts = f"{len(done.new):,} tasks offered, {len(done.extended):,} to more people, {len(done.open):,} open already"
        return "\n".join([str(self.plan), counts, *map(str, (*self.plan.notices, *self.notices))])


def offer_tasks(
    build: Build,
    client: Any,
    settings: HitSettings,
    *,
    images_at: str,
    similar: str | Path | None = None,
    texts: str | Path | None = None,
    tell: Tell = silent,
) -> Offered:
    """Plan tasks for candidates that are in none, and offer all tasks to as many more people as they need.

    Parameters
    ----------
    build : Build
    client
        From :func:`resit.build.voting.mturk_api.connect`.
    settings : HitSettings
    images_at, similar, texts, tell
        As :func:`resit.build.steps.label.export_tasks`.

    Raises
    ------
    InputError
        If Mechanical Turk refuses. What was offered before that stays.
    UsageError
        If the address is not one of the web.
    """
    refuse_local(images_at, where="Mechanical Turk")
    plan, people = planned_tasks(build, similar, tell=tell)
    pages = pages_of(build, build.store.tasks(), people, images_at=images_at, texts=texts, tell=tell)
    tell("Offering tasks")
    return Offered(plan, publish(client, pages, settings, time=now()), pages.notices)


def take_from_mturk(build: Build, client: Any) -> Returned:
    """Fetch the answers that were handed in and store them; again, nothing changes."""
    return take_answers(build, partial(fetch_answers, client))


def tell_mturk(build: Build, client: Any) -> int:
    """Approve and reject assignments there as they were here, and say how many were told.

    Those that nobody decided on stay open.
    """
    import pyarrow as pa

    rows = build.store.assignments()
    decided = rows.filter(pa.array([bool(time) for time in rows["time"].to_pylist()], pa.bool_()))
    return tell_decisions(client, decided)
