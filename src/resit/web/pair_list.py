"""The pairs that people look at, nearest first, and what was said of each, in memory: no click reads them all again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from resit.build.duplicates.queue import review_queue
from resit.build.review import UNSURE
from resit.store.schemas import VERDICTS, table

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[str, str]  # the two images of a pair, the smaller id first
OPEN, DOUBT, JUDGED = 0, 1, 2
LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Pair(NamedTuple):
    """Two images.

    Parameters
    ----------
    image : str
        A candidate.
    other : str
        Another candidate, or an image of a reference set.
    reference : str
        Name of the reference set; empty for another candidate.
    metric : str
    distance : float
        By which it has its place.
    """

    image: str
    other: str
    reference: str
    metric: str
    distance: float

    @property
    def key(self) -> Key:
        """Tells it from other pairs."""
        return key_of(self.image, self.other)


class Said(NamedTuple):
    """A verdict on a pair, as it is stored."""

    id: int
    image: str
    other: str
    verdict: str
    person: str
    time: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far people have come with the pairs of a metric.

    Parameters
    ----------
    metric : str
    target : float
    pairs : int
        Within the target.
    judged : int
        Of these, with a verdict that is not unsure.
    """

    metric: str
    target: float
    pairs: int
    judged: int


def key_of(one: str, two: str) -> Key:
    """Two images in order."""
    return (one, two) if one < two else (two, one)


class PairList:
    """Pairs in their order, with what was said of them. Not safe in threads.

    Parameters
    ----------
    pairs : pyarrow.Table
        PAIRS, of all metrics that have a target.
    targets : mapping of str to float or None
        Distance up to which people review the pairs of each metric.
    neighbours : int
        Length of the lists.
    """

    def __init__(self, pairs: pa.Table, targets: Mapping[str, float | None], *, neighbours: int) -> None:
        import pyarrow.compute as pc

        nothing = table(VERDICTS)
        wanted = {name: target for name, target in targets.items() if target is not None}
        rows = review_queue(pairs, nothing, wanted, neighbours=neighbours) if wanted else pairs.slice(0, 0)
        self._rows = rows.select(Pair._fields).combine_chunks()
        self._keys = list(_keys(rows))
        self._place = {key: at for at, key in enumerate(self._keys)}
        self._state = np.zeros(len(rows), np.int8)
        self._within: dict[str, tuple[float, np.ndarray[tuple[int], np.dtype[np.bool_]]]] = {}
        for name, target in sorted(wanted.items()):
            within = np.ones(len(rows), np.bool_)
            if len(wanted) > 1:
                near = pairs.filter(pc.equal(pairs["metric"], name))
                own = review_queue(near, nothing, {name: target}, neighbours=neighbours)
                within[:] = False
                within[[self._place[key] for key in _keys(own)]] = True
            self._within[name] = (target, within)
        self._time: dict[int, datetime] = {}
        self._doubters: dict[int, set[str]] = {}

    def __len__(self) -> int:
        return len(self._state)

    def say(self, said: Said) -> None:
        """Take a verdict in. Of several on one pair the last by time holds, of one time the one that came last."""
        at = self._place.get(key_of(said.image, said.other))
        if at is None:
            return
        time = datetime.fromisoformat(said.time)
        if time < self._time.get(at, LONG_AGO):
            return
        self._time[at] = time
        self._state[at] = DOUBT if said.verdict == UNSURE else JUDGED
        if said.verdict == UNSURE:
            self._doubters.setdefault(at, set()).add(said.person)
        else:
            self._doubters.pop(at, None)

    def waiting(self) -> Iterator[int]:
        """Places of the pairs that are to be looked at: those of which nobody is sure come last."""
        for state in (OPEN, DOUBT):
            yield from map(int, np.flatnonzero(self._state == state))

    @property
    def left(self) -> int:
        """How many these are."""
        return int(np.count_nonzero(self._state != JUDGED))

    def is_waiting(self, at: int) -> bool:
        """Whether the pair at a place is to be looked at."""
        return bool(self._state[at] != JUDGED)

    def is_doubted(self, at: int, person: str | None = None) -> bool:
        """Whether somebody, or a person of that name, was unsure of the pair at a place."""
        people = self._doubters.get(at, ())
        return bool(people) if person is None else person in people

    def doubted(self, person: str) -> int:
        """Of how many pairs a person was unsure, and nobody is sure yet."""
        return sum(person in people for people in self._doubters.values())

    def pair(self, at: int) -> Pair:
        """The pair at a place."""
        return Pair(**self._rows.slice(at, 1).to_pylist()[0])

    def key(self, at: int) -> Key:
        """The two images of the pair at a place, in order."""
        return self._keys[at]

    def place(self, key: Key) -> int | None:
        """Where a pair stands; None where it is not in the list."""
        return self._place.get(key)

    def progress(self) -> tuple[Progress, ...]:
        """How far people have come, by metric."""
        judged = self._state == JUDGED
        return tuple(
            Progress(name, target, int(within.sum()), int((judged & within).sum()))
            for name, (target, within) in self._within.items()
        )

    def references(self) -> set[str]:
        """Images of reference sets that are in the list."""
        import pyarrow.compute as pc

        return set(self._rows.filter(pc.not_equal(self._rows["reference"], ""))["other"].to_pylist())


def _keys(rows: pa.Table) -> Iterator[Key]:
    return map(key_of, rows["image"].to_pylist(), rows["other"].to_pylist())
