"""The nearest images of each candidate, among all references and the other candidates."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resit.build.duplicates.embedding import features_of
from resit.build.duplicates.lists import distinct, nearest, ranked, relative
from resit.build.duplicates.metrics import DEFAULT_METRICS, SCORED, Metric, metric_named
from resit.build.duplicates.rows import PIXELS, Ints, Sets, Tell, write_rows
from resit.build.duplicates.search import Hits, block_size, score, together
from resit.build.duplicates.shards import Bools, Here, OnRay, Searcher
from resit.build.duplicates.ssim import dssim
from resit.build.duplicates.stored import Stored, stored_lists
from resit.errors import UsageError
from resit.store.schemas import PAIRS, table

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.build.duplicates.pictures import Pictures
    from resit.models.protocol import FeatureModel

MIB = 2**20
LEAST_MEMORY = 64 * MIB
# Candidates that are searched for together; their lists come out together.
MOST_CHUNK = 8192


def find_pairs(
    candidates: Pictures,
    references: Mapping[str, Pictures],
    *,
    fresh: Collection[str] | None = None,
    stored: pa.Table | None = None,
    fresh_references: Collection[str] = (),
    metrics: Sequence[str] = DEFAULT_METRICS,
    neighbours: int = 30,
    memory: int = 2 << 30,
    models: Mapping[str, FeatureModel] | None = None,
    progress: Tell | None = None,
    cluster: str | None = None,
) -> Iterator[pa.Table]:
    """The nearest images of each candidate, among all references and the other candidates together.

    Distances are exact, ranks start from 1 for each image and metric, and ties stand in the order of reference and id. Lists
    come out as they are found, up to 8,192 candidates at a time, so that each part can be stored: after an interruption the
    same call with what was stored goes on. First come the lists of old candidates that fresh images changed, then those of
    fresh candidates. In a changed list, stored neighbours that are no longer among the nearest come again with ranks beyond
    ``neighbours``.

    Parameters
    ----------
    candidates : Pictures
        All of them, old and fresh.
    references : mapping of str to Pictures
        By name.
    fresh : collection of str, optional
        Candidates that have no lists yet. Default: those without usable lists in ``stored``, which count as fresh in any case.
    stored : pyarrow.Table, optional
        Lists that were found before, PAIRS.
    fresh_references : collection of str, optional
        References that old candidates were not compared with.
    metrics : sequence of str
        ``l2``, ``correlation``, ``shifted``, ``mirrored`` and ``features:MODEL`` search; ``dssim`` and ``relative`` score
        what these found. ``relative`` brings ``shifted`` with it.
    neighbours : int
        Length of the lists.
    memory : int
        Bytes that the search may take, from 64 MiB on; pictures lie in temporary files.
    models : mapping of str to FeatureModel, optional
        Models by the names in ``metrics``. Others are loaded.
    progress : callable, optional
        Told each step in words.
    cluster : str, optional
        Address of a Ray cluster that the rows are searched on, or ``local`` to start one. Default: this process.

    Returns
    -------
    iterator of pyarrow.Table
        PAIRS.

    Raises
    ------
    InputError
        If a picture cannot be read.
    OutputError
        If the temporary files cannot be written.
    UsageError
        If an argument does not fit.
    """
    names = list(dict.fromkeys([*metrics, *(["shifted"] if "relative" in metrics else [])]))
    searched = [metric_named(name) for name in names if name not in SCORED]
    if not searched:
        fix = "Add one that searches, such as shifted."
        raise UsageError(f"{' and '.join(names) or 'no metric'} finds no pairs by itself", where="metrics", fix=fix)
    if neighbours < 1 or memory < LEAST_MEMORY:
        what = f"{neighbours} neighbours in {memory:,} bytes"
        raise UsageError(what, where="neighbours, memory", fix="At least 1 neighbour and 64 MiB.")
    if unknown := sorted(set(fresh_references) - set(references)):
        raise UsageError(
            f"no reference set {unknown[0]!r}", where="fresh_references", fix=f"There are {', '.join(references)}."
        )
    tell = progress or (lambda _: None)
    features = features_of([metric.kind for metric in searched if metric.kind != PIXELS], models or {}, tell)

    def found() -> Iterator[pa.Table]:
        with tempfile.TemporaryDirectory(prefix="resit-", ignore_cleanup_errors=True) as folder:
            sets = write_rows(candidates, references, features, Path(folder), tell)
            before = stored_lists(stored, sets, names, neighbours)
            is_fresh, new = _fresh(sets, before, fresh, fresh_references, neighbours)
            searcher = Here(sets, memory) if cluster is None else OnRay(sets, memory, cluster)
            with closing(searcher):
                finder = _Finder(sets, sets.places(), searched, names, neighbours, memory, searcher)
                yield from _chunks(finder, before, is_fresh, new, tell)

    return found()


def _fresh(
    sets: Sets, before: Stored, fresh: Collection[str] | None, fresh_references: Collection[str], k: int
) -> tuple[Bools, Bools]:
    """Which candidates need lists of their own, and which rows the others were not compared with."""
    named = frozenset(fresh or ())
    ids = sets.ids[: sets.candidates]
    if strange := sorted(named.difference(ids)):
        raise UsageError(f"{strange[0]} is no candidate", where="fresh", fix="Give it among the candidates.")
    is_fresh = (before.length == 0) | np.array([one in named for one in ids], bool)
    new = np.zeros(sets.n, bool)
    for name, start, stop in zip(sets.references[1:], sets.starts[1:-1], sets.starts[2:], strict=True):
        new[start:stop] = name in fresh_references
    # A list that is shorter than it could be was made with fewer neighbours.
    known = sets.n - int(new.sum()) - int(is_fresh.sum())
    is_fresh |= before.length < min(k, known - 1)
    new[: sets.candidates] = is_fresh
    return is_fresh, new


def _chunks(finder: _Finder, before: Stored, is_fresh: Bools, new: Bools, tell: Tell) -> Iterator[pa.Table]:
    old_rows, fresh_rows = np.flatnonzero(~is_fresh), np.flatnonzero(is_fresh)
    size, done = finder.chunk, 0
    total = len(fresh_rows) + (len(old_rows) if new.any() else 0)
    for rows in (old_rows[at : at + size] for at in range(0, len(old_rows) if new.any() else 0, size)):
        changed = finder.changed(rows, new, before)
        done += len(rows)
        tell(f"Comparing: {done:,} of {total:,} candidates")
        if changed.num_rows:
            yield changed
    for rows in (fresh_rows[at : at + size] for at in range(0, len(fresh_rows), size)):
        found = finder.fresh(rows)
        done += len(rows)
        tell(f"Comparing: {done:,} of {total:,} candidates")
        yield found


@dataclass(frozen=True)
class _Finder:
    """Lists of neighbours of some candidates at a time."""

    sets: Sets
    places: Ints
    searched: Sequence[Metric]
    names: Sequence[str]
    k: int
    memory: int
    searcher: Searcher

    @property
    def chunk(self) -> int:
        """Candidates at a time that leave room for the rest."""
        width = max(self.sets.rows[metric.kind].width for metric in self.searched)
        return int(np.clip(self.memory // 4 // (24 * width + 1024 * self.k), 1, MOST_CHUNK))

    def fresh(self, rows: Ints) -> pa.Table:
        """Lists of candidates that have none, PAIRS."""
        lists = {metric.name: self._nearest(metric, rows, None) for metric in self.searched}
        return self._table(rows, {name: ranked(hits, self.places) for name, hits in self._scored(rows, lists).items()})

    def changed(self, rows: Ints, new: Bools, before: Stored) -> pa.Table:
        """Lists of old candidates that new rows belong into, whole, PAIRS."""
        old = {name: before.of(name, rows) for name in self.names}
        both = {}
        moved = np.zeros(len(rows), bool)
        for metric in self.searched:
            entered = self._nearest(metric, rows, new)
            both[metric.name] = nearest(distinct(together([entered, old[metric.name]]), self.sets.n), self.places, self.k)
            moved[both[metric.name].query[~self._in(both[metric.name], old[metric.name])]] = True
        lists = {name: hits.where(moved[hits.query]) for name, hits in both.items()}
        found = self._scored(rows, lists)
        whole = {
            name: self._with_pushed(found[name], old[name].where(moved[old[name].query]))
            for name in found
            if name != "relative"
        }
        if "relative" in self.names:
            hits, rank = whole["shifted"]
            whole["relative"] = (relative(hits, lists["shifted"], len(rows), self.k), rank)
        return self._table(rows, whole)

    def _nearest(self, metric: Metric, rows: Ints, only: Bools | None) -> Hits:
        stored = self.sets.rows[metric.kind]
        queries = stored.take(rows)
        # One more, as each candidate finds itself.
        hits = self.searcher.search(metric, queries, self.k + 1, only)
        hits = hits.where(hits.row != rows[hits.query])
        scored = score(metric, queries, stored, hits, block_size(stored.width, self.memory))
        return nearest(scored, self.places, self.k)

    def _scored(self, rows: Ints, lists: Mapping[str, Hits]) -> dict[str, Hits]:
        """The lists with those of the metrics that score what others found."""
        found = dict(lists)
        if "dssim" in self.names:
            found["dssim"] = nearest(self._dssim(rows, distinct(together(lists.values()), self.sets.n)), self.places, self.k)
        if "relative" in self.names:
            found["relative"] = relative(lists["shifted"], lists["shifted"], len(rows), self.k)
        return found

    def _dssim(self, rows: Ints, pairs: Hits) -> Hits:
        stored = self.sets.rows[PIXELS]
        return score(SIMILARITY, stored.take(rows), stored, pairs, block_size(stored.width, self.memory))

    def _in(self, hits: Hits, others: Hits) -> Bools:
        return np.isin(hits.query * self.sets.n + hits.row, others.query * self.sets.n + others.row)

    def _with_pushed(self, kept: Hits, old: Hits) -> tuple[Hits, Ints]:
        """A list with the stored neighbours that are no longer on it behind it."""
        pushed, behind = ranked(old.where(~self._in(old, kept)), self.places)
        kept, rank = ranked(kept, self.places)
        length = np.bincount(kept.query, minlength=int(max(pushed.query, default=0)) + 1)
        return together([kept, pushed]), np.concatenate([rank, behind + length[pushed.query]])

    def _table(self, rows: Ints, lists: Mapping[str, tuple[Hits, Ints]]) -> pa.Table:
        import pyarrow as pa

        parts = [table(PAIRS)]
        starts = np.array(self.sets.starts[1:])
        for name in self.names:
            hits, rank = lists[name]
            part = np.searchsorted(starts, hits.row, side="right")
            parts.append(
                table(
                    PAIRS,
                    {
                        "metric": pa.repeat(name, len(hits)),
                        "image": pa.array([self.sets.ids[row] for row in rows[hits.query].tolist()], pa.string()),
                        "other": pa.array([self.sets.ids[row] for row in hits.row.tolist()], pa.string()),
                        "reference": pa.array(self.sets.references, pa.string()).take(pa.array(part)),
                        "distance": hits.value,
                        "rank": rank,
                    },
                )
            )
        return pa.concat_tables(parts)


SIMILARITY = Metric("dssim", PIXELS, lambda rows: rows[None], lambda rows: rows, False, dssim)
