"""All that sampling, review and status look at: the tables of a build, and which candidates may be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from resit.build.config import DuplicatesConfig
from resit.build.duplicates.metrics import SCORED, metric_named
from resit.build.duplicates.queue import review_queue
from resit.build.duplicates.resolve import Resolved, resolve
from resit.build.eligibility import Eligible, eligible
from resit.build.steps.dedupe import out_of_date
from resit.build.steps.opened import Build
from resit.errors import UsageError
from resit.store.schemas import PAIRS, table

if TYPE_CHECKING:
    import pyarrow as pa

RELATIVE = "relative"


@dataclass(frozen=True)
class Pool:
    """The tables of a build at one time.

    Parameters
    ----------
    build : Build
    images, counts, pairs, verdicts : pyarrow.Table
        IMAGES, COUNTS, PAIRS and VERDICTS. Of the pairs those of metrics with a target, up to it, and each image's nearest.
    references : pyarrow.Array of str
        Images of reference sets.
    """

    build: Build
    images: pa.Table
    counts: pa.Table
    pairs: pa.Table
    verdicts: pa.Table
    references: pa.Array

    @property
    def targets(self) -> dict[str, float | None]:
        """Distance up to which people review the pairs of each metric."""
        return {name: metric.target for name, metric in self.build.config.duplicates.metrics.items()}

    @property
    def has_targets(self) -> bool:
        """Whether people are to review pairs of any metric."""
        return any(target is not None for target in self.targets.values())

    @cached_property
    def is_searched(self) -> bool:
        """Whether near-duplicates were looked for as the configuration says now."""
        return not out_of_date(self.build)

    @cached_property
    def candidates(self) -> pa.Table:
        """Rows of candidates."""
        return self._of("candidate")

    @cached_property
    def originals(self) -> pa.Table:
        """Rows of originals."""
        return self._of("original")

    @cached_property
    def groups(self) -> Resolved:
        """Groups of near-duplicates, and which of their candidates are out."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known = pa.chunked_array([self.references, *self.originals["image"].chunks], pa.string())
        return resolve(
            self.candidates,
            self.pairs,
            self.verdicts,
            self.counts,
            minimum_votes=self.build.config.sampling.minimum_votes,
            references=pc.unique(known),
        )

    @cached_property
    def eligible(self) -> Eligible:
        """Candidates that may be chosen, and why the others may not: where the search is out of date, none was reviewed."""
        return eligible(
            self.images,
            self.counts,
            self.verdicts,
            self.groups.excluded,
            minimum_votes=self.build.config.sampling.minimum_votes,
            pairs=self.pairs if self.is_searched else None,
            targets=self.targets,
            neighbours=self.build.config.duplicates.neighbours,
        )

    @cached_property
    def queue(self) -> pa.Table:
        """Pairs that people still have to look at, nearest first: none where no metric has a target."""
        neighbours = self.build.config.duplicates.neighbours
        return review_queue(self.pairs, self.verdicts, self.targets, neighbours=neighbours)

    def _of(self, role: str) -> pa.Table:
        import pyarrow.compute as pc

        return self.images.filter(pc.equal(self.images["role"], role))


def check_metrics(config: DuplicatesConfig) -> None:
    """Refuse metrics that there are not, and targets that would never be reached.

    Raises
    ------
    UsageError
        If there is one.
    """
    for name, metric in config.metrics.items():
        if name not in SCORED:
            metric_named(name)
        if name == RELATIVE and metric.target is not None and metric.target >= 1:
            what = f"a target of {metric.target:g}: the last neighbour of every image is at 1"
            raise UsageError(what, where=f"duplicates.metrics.{name}", fix="Give one below 1, such as 0.6.")


def read_pool(build: Build) -> Pool:
    """Read the tables of a build.

    Raises
    ------
    UsageError
        If the configuration has a metric or a target that cannot be.
    """
    import pyarrow as pa

    check_metrics(build.config.duplicates)
    store = build.store
    targets = {name: metric.target for name, metric in build.config.duplicates.metrics.items() if metric.target is not None}
    near = [store.pairs(name, within=target) for name, target in targets.items()]
    pairs = pa.concat_tables([table(PAIRS), *near])
    return Pool(build, store.images(), store.counts(), pairs, store.verdicts(), store.references())
