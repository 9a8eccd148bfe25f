"""Draw a selection, class by class."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from resit.build.keys import IMAGE, among
from resit.build.sampling.pool import in_order, pools, refuse_repeated, votes_in
from resit.build.sampling.records import CELLS, DRAWN, KEPT, UPWARD, ClassDraw, Drawn, Shortage
from resit.build.sampling.strategy import Strategy
from resit.data.benchmark import ClassInfo
from resit.errors import InputError, UsageError
from resit.stats.resample import generator
from resit.store.schemas import SELECTED, table

if TYPE_CHECKING:
    import pyarrow as pa

FATES = (KEPT, DRAWN, UPWARD)


def sample(
    strategy: Strategy,
    candidates: pa.Table,
    originals: pa.Table,
    previous: pa.Table | None,
    classes: Sequence[ClassInfo],
    per_class: int | Mapping[str, int],
    *,
    seed: int = 0,
) -> Drawn:
    """Draw a selection among eligible candidates, going on from a previous revision.

    The same input and seed give the same selection, in whatever order rows come. Each class has a generator of its own, so
    that the candidates of one class do not change what is drawn for another (but see ``corrected-frequency``, which fits all
    classes together).

    Parameters
    ----------
    strategy : Strategy
    candidates : pyarrow.Table
        Eligible ones, from :func:`resit.build.eligibility.eligible`: image, class_id, selected, shown and, where the strategy
        needs an attribute, attributes.
    originals : pyarrow.Table
        Images of the original with the same columns; those without votes have 0.
    previous : pyarrow.Table or None
        The parent revision, SELECTED.
    classes : sequence of ClassInfo
        All classes, in order.
    per_class : int or mapping of str to int
        How many images each class should have; or by id.
    seed : int, optional

    Returns
    -------
    Drawn
        Also where classes are short; then it is not valid.

    Raises
    ------
    InputError
        If an image is there twice, of a class that is none, or without votes.
    UsageError
        If the strategy's settings do not fit.

    References
    ----------
    Recht, B., et al. (2019). Do ImageNet classifiers generalize to ImageNet? ICML, appendix C.1.
    """
    ids = [info.id for info in classes]
    if seed < 0:
        raise UsageError(f"seed {seed}", where="sampling", fix="Give a number from 0 on.")
    refuse_repeated(candidates)
    pool, starts = in_order(candidates, ids, "candidates")
    own, its_starts = in_order(originals, ids, "originals")
    votes = votes_in(pool, starts, strategy.needs, "candidates")
    if (votes.shown < 1).any():
        raise InputError("candidates without votes", where="candidates", fix="Sample from what `eligible` gives.")
    known = votes_in(own, its_starts, strategy.needs, "originals")
    before = np.zeros(len(pool), bool) if previous is None else among(pool, previous)
    ready = strategy.prepared(votes, known, ids)
    wanted = [(name, per_class if isinstance(per_class, int) else per_class.get(name, 0)) for name in ids]
    draws = [ready.draw(one, _generator(seed, one.class_id)) for one in pools(votes, known, before, wanted)]
    return Drawn(
        selected=_selected(pool, ready.bins(votes.selected, votes.shown), draws, starts),
        shortages=tuple(_shortages(draws, ids)),
        upward=sum(len(draw.upward) for draw in draws),
        cells=_cells(draws, ids),
    )


def _generator(seed: int, class_id: str) -> np.random.Generator:
    digest = hashlib.sha256(class_id.encode()).digest()
    return generator(seed, *np.frombuffer(digest, "<u4").tolist())


def _selected(pool: pa.Table, bins: np.ndarray, draws: Sequence[ClassDraw], starts: np.ndarray) -> pa.Table:
    import pyarrow as pa

    fate = np.full(len(pool), -1, np.int8)
    for start, draw in zip(starts[:-1], draws, strict=True):
        for code, rows in enumerate((draw.kept, draw.drawn, draw.upward)):
            fate[start + rows] = code
    chosen = fate >= 0
    rows = pool.filter(pa.array(chosen))
    columns = {name: rows[name] for name in (*IMAGE, "selected", "shown")}
    return table(SELECTED, {**columns, "bin": bins[chosen], "fate": np.array(FATES, object)[fate[chosen]]})


def _shortages(draws: Sequence[ClassDraw], ids: Sequence[str]) -> list[Shortage]:
    found = [len(draw.kept) + len(draw.drawn) + len(draw.upward) for draw in draws]
    return [
        Shortage(class_id, draw.wanted, count, draw.why)
        for class_id, draw, count in zip(ids, draws, found, strict=True)
        if count < draw.wanted
    ]


def _cells(draws: Sequence[ClassDraw], ids: Sequence[str]) -> pa.Table:
    rows = [(class_id, *cell) for class_id, draw in zip(ids, draws, strict=True) for cell in draw.cells]
    columns = list(zip(*rows, strict=True)) or [()] * len(CELLS)
    return table(CELLS, dict(zip(CELLS, map(list, columns), strict=True)))
