"""Collects candidates from one source: found, brought, checked, stored, and told what is missing."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from resit.build.collect.download import Downloader
from resit.build.collect.found import Found, Lost, Query, Source
from resit.build.collect.images import check_image, read_file
from resit.build.collect.known import Key, Known, Stored
from resit.build.collect.polite import Manners
from resit.build.collect.record import FAILED, SAME_AS_ORIGINAL, SHORTAGES, Collected
from resit.build.collect.terms import ClassTerms
from resit.build.collect.widening import Search, stage_queries
from resit.build.folder import ending_of
from resit.errors import InputError, OutputError, ResitError, one_line
from resit.store.schemas import IMAGES, table

if TYPE_CHECKING:
    import pyarrow as pa

ROLE = "candidate"
Progress = Callable[[str, int, int], object]
Outcome = Stored | str  # what was stored, or why nothing was


def collect(
    source: Source,
    classes: Sequence[ClassTerms],
    put_image: Callable[[bytes], str],
    save: Callable[[pa.Table], object],
    *,
    search: Search | None = None,
    downloader: Downloader | None = None,
    known: pa.Table | None = None,
    originals: Collection[str] = (),
    workers: int = 8,
    batch: int = 200,
    progress: Progress | None = None,
) -> Collected:
    """Collect candidates from one source.

    Parameters
    ----------
    source : Source
    classes : sequence of ClassTerms
        The classes, and what they are searched by.
    put_image : callable
        Stores the bytes of an image and returns their digest, as :meth:`resit.build.folder.BuildFolder.put_image` does.
    save : callable
        Saves a batch of candidates, in columns of :data:`resit.store.schemas.IMAGES`.
    search : Search, optional
        Dates, results of a query, and how many candidates are wanted of a class.
    downloader : Downloader, optional
        For addresses of the web. Without one these fail.
    known : pyarrow.Table, optional
        Candidates that were saved before, in columns of IMAGES. Their addresses are not asked again.
    originals : collection of str, optional
        Digests of the original test set's images.
    workers : int, optional
        Images that are brought at once.
    batch : int, optional
        Candidates that are saved at once.
    progress : callable, optional
        Told the stage, and how many were found and failed so far.

    Returns
    -------
    Collected

    Raises
    ------
    InputError
        If the source cannot be read at all.
    OutputError
        If an image or a batch cannot be written. What was saved before stays.
    UsageError
        If the source cannot answer any query, as for a wrong key.

    Notes
    -----
    Whatever happens to one candidate is a row of ``failed`` and stops nothing. The result does not depend on which download is
    done first. Repeated after a run that was killed, it ends with the same candidates: a stage of the widening is begun for a
    class by what its earlier stages and other sources give, and never by how far an earlier run came.
    """
    search = search or Search()
    run = _Run(source, put_image, save, downloader, Known(known, source.name), frozenset(originals), batch, progress)
    last = dict.fromkeys((terms.class_id for terms in classes), source.stages[0])
    short = list(classes)
    with ThreadPoolExecutor(workers) as pool:
        for stage in source.stages:
            short = [terms for terms in short if stage == source.stages[0] or run.candidates(terms.class_id) < search.wanted]
            queries = stage_queries(stage, short, search)
            last |= dict.fromkeys((query.class_id for query in queries), stage)
            run.stage(pool, stage, queries, 4 * workers)
    return run.collected(classes, search.wanted, last)


@dataclass
class _Item:
    """Something that the source gave, and what is being made of it."""

    found: Found | Lost
    outcome: Future[Outcome] | Outcome


class _Run:
    """One call of :func:`collect`."""

    def __init__(
        self,
        source: Source,
        put_image: Callable[[bytes], str],
        save: Callable[[pa.Table], object],
        downloader: Downloader | None,
        known: Known,
        originals: Collection[str],
        batch: int,
        progress: Progress | None,
    ) -> None:
        self._source, self._put_image, self._save = source, put_image, save
        self._downloader, self._known, self._originals = downloader, known, originals
        self._batch, self._progress = batch, progress
        self._largest = (downloader.manners if downloader else Manners()).largest
        self._under_way: dict[str, Future[Outcome]] = {}  # by address
        self._rows: list[tuple[Found, Stored]] = []
        self._failed: list[tuple[str, str, str]] = []
        self._same: list[Key] = []
        self._counts = {"found": 0, "new": 0, "known": 0, "repeated": 0}

    def candidates(self, class_id: str) -> int:
        """Candidates of a class so far, without those that only an earlier run of the same source found."""
        return self._known.count(class_id)

    def stage(self, pool: ThreadPoolExecutor, stage: str, queries: Sequence[Query], window: int) -> None:
        """Bring all that the source finds for some queries, a few ahead of the one that is settled."""
        waiting: deque[_Item] = deque()
        fault: ResitError | None = None
        found = iter(self._source.found(queries)) if queries else iter(())
        try:
            while True:
                try:
                    item = next(found, None)
                except ResitError as error:  # told once what is under way is safe
                    item, fault = None, error
                if item is not None:
                    waiting.append(self._begin(pool, item))
                while waiting and (item is None or len(waiting) > window):
                    self._settle(waiting.popleft(), stage)
                if item is None:
                    break
            self._flush()
        except BaseException:
            if self._downloader is not None:
                self._downloader.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            self._flush()
            raise
        if fault is not None:
            raise fault

    def _begin(self, pool: ThreadPoolExecutor, found: Found | Lost) -> _Item:
        if isinstance(found, Lost):
            return _Item(found, found.reason)
        if found.data is not None or found.path:
            return _Item(replace(found, data=None), pool.submit(self._bring, found))
        stored = self._known.at(found.url)
        if stored is not None:
            return _Item(found, stored)
        if found.url not in self._under_way:
            self._under_way[found.url] = pool.submit(self._bring, found)
        return _Item(found, self._under_way[found.url])

    def _bring(self, found: Found) -> Outcome:
        """Store one image, or say why it cannot be; in a thread of the pool."""
        try:
            data = self._bytes(found)
            check_image(data)
            digest = self._put_image(data)
            return Stored(digest, f"images/{digest[:2]}/{digest}.{ending_of(data)}")
        except InputError as error:
            return error.what
        except OSError as error:
            fix = "Make room, or choose a folder that you may write in."
            raise OutputError(f"an image cannot be stored ({error.strerror or error})", where="images", fix=fix) from error

    def _bytes(self, found: Found) -> bytes:
        if found.data is not None:
            return found.data
        if found.path:
            return read_file(found.path, self._largest)
        if self._downloader is None:
            raise InputError("an address of the web, and no downloader was given")
        return self._downloader.get(found.url)

    def _settle(self, item: _Item, stage: str) -> None:
        """Count one candidate and, if it is new, keep its row. In the order in which the source gave them."""
        outcome = item.outcome.result() if isinstance(item.outcome, Future) else item.outcome
        found = item.found
        self._counts["found"] += 1
        if isinstance(outcome, str):
            where = found.where
            self._failed.append((where, found.class_id, one_line(outcome)))
        elif isinstance(found, Found):
            if found.url and not found.path:
                self._under_way.pop(found.url, None)
            seen = self._known.add(found, outcome)
            self._counts[seen] += 1
            if seen == "new":
                self._rows.append((found, outcome))
            if seen != "repeated" and outcome.image in self._originals:
                self._same.append((outcome.image, found.class_id))
        if len(self._rows) >= self._batch:
            self._flush()
        if self._progress is not None:
            self._progress(stage, self._counts["found"], len(self._failed))

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._save(images_table(rows))

    def collected(self, classes: Sequence[ClassTerms], wanted: int, last: dict[str, str]) -> Collected:
        """The record of the whole run."""
        counts = [(terms.class_id, self.candidates(terms.class_id)) for terms in classes]
        short = [(key, count, wanted, last[key]) for key, count in counts if count < wanted]
        return Collected(
            self._source.name,
            **self._counts,
            failed=_table(FAILED, self._failed),
            shortages=_table(SHORTAGES, short),
            originals=_table(SAME_AS_ORIGINAL, self._same),
            notices=tuple(self._source.notices),
        )


def images_table(rows: Sequence[tuple[Found, Stored]]) -> pa.Table:
    """Candidates in columns of :data:`resit.store.schemas.IMAGES`.

    Parameters
    ----------
    rows : sequence of Found and Stored
    """
    return table(
        IMAGES,
        {
            "image": [stored.image for _, stored in rows],
            "class_id": [found.class_id for found, _ in rows],
            "role": [ROLE] * len(rows),
            "path": [stored.path for _, stored in rows],
            "source": [found.source for found, _ in rows],
            "url": [found.url for found, _ in rows],
            "licence": [found.licence for found, _ in rows],
            "author": [found.author for found, _ in rows],
            "attributes": [json.dumps(dict(found.attributes), sort_keys=True, ensure_ascii=False) for found, _ in rows],
        },
    )


def _table(schema: dict[str, str], rows: Sequence[tuple[object, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return table(schema, {name: list(column) for name, column in zip(schema, columns, strict=True)})
