"""How far a build is: the funnel, class by class, what is left to review, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from resit.build.funnel import REVIEW, Funnel, funnel
from resit.build.review import Review
from resit.build.steps.dedupe import DEDUPE
from resit.build.steps.gather import failed
from resit.build.steps.look import review_state
from resit.build.steps.opened import Build
from resit.build.steps.pool import Pool, read_pool
from resit.store.schemas import SELECTED, table


@dataclass(frozen=True)
class Status:
    """How far a build is.

    Parameters
    ----------
    name, version : str
        Of the new test set.
    revision : int or None
        The last one.
    funnel : Funnel
    review : Review
    people : int
        Who voted.
    votes : int
        Single votes, accepted or not.
    unsearched : int
        Candidates whose near-duplicates were not looked for yet.
    time : str or None
        Of the last event.
    """

    name: str
    version: str
    revision: int | None
    funnel: Funnel
    review: Review
    people: int
    votes: int
    unsearched: int
    time: str | None

    @property
    def next(self) -> str:
        """What to do next, in a sentence."""
        if self.revision is not None and not self.funnel.total.short:
            return self.review.next
        if self.unsearched and self.funnel.next.startswith(REVIEW):
            more = "candidate was" if self.unsearched == 1 else "candidates were"
            return f"Find near-duplicates: `resit build dedupe`; {self.unsearched:,} {more} not compared yet."
        return self.funnel.next

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON holds."""
        names = ("name", "version", "revision", "people", "votes", "unsearched", "time")
        return {
            **{name: getattr(self, name) for name in names},
            "classes": [{**asdict(row), "next": row.next} for row in self.funnel.rows],
            "total": asdict(self.funnel.total),
            "review": self.review.to_dict(),
            "next": self.next,
        }

    def __str__(self) -> str:
        head = f"{self.name} {self.version}: {self.votes:,} votes by {self.people:,} people"
        last = "no selection yet" if self.revision is None else f"revision r{self.revision}"
        lines = [f"{head}; {last}; last event {self.time or 'none'}", str(self.funnel).rsplit("\n", 1)[0]]
        lines += [] if self.revision is None else str(self.review).split("\n")[:-1]
        return "\n".join([*lines, self.next])


def _why_short(pool: Pool, record: Mapping[str, Any]) -> dict[str, str]:
    """Why classes were short in the last sampling, where sampling the same candidates again would give the same."""
    found = pool.eligible
    same = record["candidates"] == len(found.candidates) + len(found.excluded) and record["excluded"] == found.counts
    return {one["class_id"]: one["why"] for one in record["shortages"]} if same else {}


def status(build: Build) -> Status:
    """How far a build is.

    Parameters
    ----------
    build : Build
    """
    pool = read_pool(build)
    revisions = build.store.revisions()
    selected = build.store.selection().selected if revisions else table(SELECTED)
    lost = failed(build)
    import pyarrow as pa

    found = funnel(
        pool.images,
        pool.counts,
        pool.eligible.excluded,
        selected,
        build.classes,
        build.config.per_class,
        minimum_votes=build.config.sampling.minimum_votes,
        failed=pa.table({"class_id": pa.array(list(lost.elements()), pa.string())}),
        why=_why_short(pool, revisions[-1].record) if revisions else {},
    )
    assignments = build.store.assignments()
    return Status(
        name=build.config.name,
        version=build.config.version,
        revision=revisions[-1].revision if revisions else None,
        funnel=found,
        review=review_state(build, pool),
        people=len(assignments["person"].unique()),
        votes=sum(assignments["votes"].to_pylist()),
        unsearched=_unsearched(build, pool),
        time=build.store.last_time(),
    )


def _unsearched(build: Build, pool: Pool) -> int:
    last = build.last(DEDUPE) if pool.is_searched else None
    return len(pool.candidates["image"].unique()) - (last.record["candidates"] if last else 0)
