"""Searches through all rows: in this process, or a shard at a time on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from resit.build.duplicates.metrics import Metric, metric_named
from resit.build.duplicates.rows import Array, Rows, Sets
from resit.build.duplicates.search import Hits, Screened, block_size, merged, numbered, screen
from resit.errors import InputError, ResitError

Bools = npt.NDArray[np.bool_]
RETRIES = 5
MOST_SHARD = 256 * 2**20
LOCAL = "local"


class Searcher(Protocol):
    """Finds the rows that may be among the nearest."""

    def search(self, metric: Metric, queries: Array, k: int, only: Bools | None = None) -> Hits:
        """Rows, or those of ``only``, that may be among the k nearest of some candidates, with products; see :func:`screen`."""

    def close(self) -> None:
        """Let go of what the search held."""


@dataclass(frozen=True)
class Here:
    """Searches in this process.

    Parameters
    ----------
    sets : Sets
    memory : int
        Bytes.
    """

    sets: Sets
    memory: int

    def search(self, metric: Metric, queries: Array, k: int, only: Bools | None = None) -> Hits:
        """See :class:`Searcher`."""
        rows = self.sets.rows[metric.kind]
        blocks = rows.blocks(block_size(rows.width, self.memory), only)
        return screen(metric, queries, numbered(blocks, only), k).hits

    def close(self) -> None:
        """Nothing is held."""


class OnRay:
    """Searches on a Ray cluster: the rows lie there in shards, and each is searched where there is room.

    Parameters
    ----------
    sets : Sets
    memory : int
        Bytes for each worker.
    address : str
        Of the cluster; ``local`` starts one of this machine alone.

    Raises
    ------
    UsageError
        If Ray is not installed or there is no cluster at the address.
    """

    def __init__(self, sets: Sets, memory: int, address: str) -> None:
        from resit.evaluate.on_ray import RayExecutor

        self._cluster = RayExecutor(None if address == LOCAL else address)
        self._sets, self._memory = sets, memory
        self._held: dict[str, list[tuple[int, int, Any]]] = {}

    def search(self, metric: Metric, queries: Array, k: int, only: Bools | None = None) -> Hits:
        """See :class:`Searcher`."""
        import ray

        asked = ray.put(queries)
        task = ray.remote(_search).options(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")
        running = []
        for start, stop, shard in self._shards(metric.kind):
            chosen = None if only is None else only[start:stop]
            if chosen is None or chosen.any():
                running.append(task.remote(metric.name, asked, shard, start, chosen, k, self._memory))
        try:
            return merged(metric, queries, ray.get(running), k)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, ResitError):
                raise error.cause from error
            raise InputError(
                f"a worker failed: {type(error.cause).__name__}: {error.cause}",
                where="cluster",
                fix="Every machine needs the same version of resit, and memory for a shard.",
            ) from error

    def _shards(self, kind: str) -> list[tuple[int, int, Any]]:
        import ray

        if kind not in self._held:
            workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
            rows = self._sets.rows[kind]
            self._held[kind] = [
                (start, start + len(block), ray.put(block))
                for start, block in rows.blocks(_shard_size(rows, workers, self._memory))
            ]
        return self._held[kind]

    def close(self) -> None:
        """Leave the cluster, and end it if it was started for this search."""
        self._held.clear()
        self._cluster.close()


def _shard_size(rows: Rows, workers: int, memory: int) -> int:
    most = min(MOST_SHARD, memory // 4) // max(1, rows.width * np.dtype(rows.dtype).itemsize)
    return max(1, min(most, -(-rows.n // workers)))


def _search(name: str, queries: Array, shard: Array, start: int, only: Bools | None, k: int, memory: int) -> Screened:
    """The work of one task."""
    metric = metric_named(name)
    size = block_size(int(np.prod(shard.shape[1:])), memory)

    def blocks() -> Iterator[tuple[int, Array]]:
        for first in range(0, len(shard), size):
            yield first, shard[first : first + size]

    found = screen(metric, queries, numbered(blocks(), only), k)
    return Screened(Hits(found.hits.query, found.hits.row + start, found.hits.value), found.longest)
