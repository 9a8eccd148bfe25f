"""Candidates of a CSV or Parquet table: a row each, with a path or address, a label and any other columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from resit.build.collect.class_rules import ClassRules
from resit.build.collect.columns import told
from resit.build.collect.found import Found, Lost, Query
from resit.build.collect.local import found_at, left_out
from resit.build.collect.widening import ALL
from resit.data.benchmark import ClassInfo
from resit.data.columns import find_column
from resit.data.image_sources.places import join
from resit.data.layouts.manifest import place_column
from resit.data.layouts.request import Request
from resit.data.layouts.tabular import label_column
from resit.data.tables import Table, read_table
from resit.errors import Notice

BLOCK = 10_000  # rows that are taken apart at once


class TableSource:
    """Rows of a table as candidates, in its order.

    Unlike a test set, a table of candidates may name an image twice, and rows without a path, an address or a label do not keep
    the others from being collected: they are reported.

    Parameters
    ----------
    path : path
        CSV or Parquet. Paths in it are relative to its folder.
    rules : ClassRules
        Which class its labels mean.
    image_column, label_column : str, optional
        Columns of paths or addresses and of labels. Default: told by their names.

    Raises
    ------
    InputError
        If the table cannot be read, has no such columns, or a label means no class.
    """

    stages = (ALL,)

    def __init__(
        self, path: str | Path, rules: ClassRules, *, image_column: str | None = None, label_column: str | None = None
    ) -> None:
        self._folder = str(Path(path).absolute().parent)
        self._table = read_table(Path(path))
        self.name = f"{Path(path).suffix.removeprefix('.').lower()}:{Path(path).name}/"
        self._place, self._label = _columns(self._table, Request(image_column=image_column, label_column=label_column))
        texts, inverse = self._table.distinct(self._label)
        counts = Counter(inverse.tolist())
        distinct = [label for label in texts if label]
        ids, notices = rules.match([ClassInfo(label, label) for label in distinct], self._table.source)
        self._class_of = dict(zip(distinct, ids, strict=True))
        self.notices: list[Notice] = list(notices)
        gone = [label for label in distinct if not self._class_of[label]]
        if gone:
            self.notices.append(left_out(sum(counts[texts.index(label)] for label in gone), gone, self._table.source))

    def found(self, queries: Sequence[Query]) -> Iterator[Found | Lost]:
        """Rows of the classes that are asked for."""
        wanted = {query.class_id for query in queries}
        for start in range(0, len(self._table), BLOCK):
            part = Table(self._table.source, self._table.data.slice(start, BLOCK), self._table.metadata)
            yield from self._rows(part, start, wanted)

    def _rows(self, part: Table, start: int, wanted: set[str]) -> Iterator[Found | Lost]:
        names = [name for name in part.columns if name not in (self._place, self._label)]
        columns = [part.texts(name).tolist() for name in (self._place, self._label, *names)]
        for row, (place, label, *values) in enumerate(zip(*columns, strict=True), start + 1):
            where = f"{part.source} (row {row})"
            key = self._class_of.get(label, "")
            if not label:
                yield Lost("", where, "no label")
            elif key in wanted and not place:
                yield Lost(key, where, f"no value in {self._place!r}")
            elif key in wanted:
                found = told(Found(key, f"{self.name}{row}"), dict(zip(names, values, strict=True)))
                yield found_at(found, join(self._folder, place))


def _columns(table: Table, request: Request) -> tuple[str, str]:
    """The columns of places and of labels."""
    place = place_column(table.columns, request, table.source)
    others = [name for name in table.columns if name != place]
    left = [name for name in others if name != find_column(others, "id")]
    label = label_column(others, request, left if len(left) == 1 else [], table.source)
    assert label is not None  # only where labels are given otherwise
    return place, label
