"""How far people have come with the pairs of each metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resit.build.duplicates.paired import paired

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Reviewed:
    """How far the review of one metric's pairs has come.

    Parameters
    ----------
    metric : str
    target : float or None
        Distance up to which people review.
    pairs : int
        Pairs of two images within the target; where there is none, all.
    judged : int
        Of these, with a verdict that is not unsure.
    unsure : int
        Of these, with one that is.
    reached : float or None
        The largest distance of a judged pair up to which no pair is open. None where the nearest pair is open.
    """

    metric: str
    target: float | None
    pairs: int
    judged: int
    unsure: int
    reached: float | None

    @property
    def open(self) -> int:
        """Pairs that somebody still has to look at."""
        return self.pairs - self.judged

    def __str__(self) -> str:
        limit = "no target" if self.target is None else f"target {self.target:g}"
        reached = "none in order yet" if self.reached is None else f"all up to {self.reached:.4g}"
        unsure = f", {self.unsure:,} of them unsure" if self.unsure else ""
        return f"{self.metric} ({limit}): {self.judged:,} of {self.pairs:,} pairs judged, {reached}; {self.open:,} open{unsure}"


def reviewed(
    pairs: pa.Table, verdicts: pa.Table, targets: Mapping[str, float | None], *, neighbours: int = 30
) -> tuple[Reviewed, ...]:
    """How far the review has come, for each metric that there are pairs of or a target for.

    Parameters
    ----------
    pairs : pyarrow.Table
        PAIRS.
    verdicts : pyarrow.Table
        All events, VERDICTS.
    targets : mapping of str to float or None
    neighbours : int
        Length of the lists.

    Returns
    -------
    tuple of Reviewed
        By name of the metric.

    Raises
    ------
    InputError
        If a kind, verdict or time of the verdicts is none.
    """
    found = paired(pairs, verdicts, neighbours)
    names = np.array(found.rows["metric"].to_pylist(), object)
    distance = np.asarray(found.rows["distance"], np.float64)
    told = []
    for metric in sorted({*names.tolist(), *targets}):
        target = targets.get(metric)
        within = np.flatnonzero((names == metric) & (distance <= (np.inf if target is None else target)))
        within = within[np.argsort(distance[within], kind="stable")]
        within = within[np.sort(np.unique(found.key[within], return_index=True)[1])]
        sure, far = found.sure[within], distance[within]
        before = far[sure] < far[~sure].min(initial=np.inf)
        reached = float(far[sure][before].max()) if before.any() else None
        told.append(Reviewed(metric, target, len(within), int(sure.sum()), int((found.unsure[within] & ~sure).sum()), reached))
    return tuple(told)
