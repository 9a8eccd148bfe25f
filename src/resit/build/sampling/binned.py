"""Bins of frequency filled to their targets, a short one from higher ones."""

from __future__ import annotations

import numpy as np

from resit.build.keys import Ints
from resit.build.sampling.pool import ClassPool
from resit.build.sampling.records import Cell, ClassDraw
from resit.build.sampling.strategy import Strategy, keep_then_draw

NONE = np.empty(0, np.int64)


def short_of_originals(strategy: Strategy, pool: ClassPool, originals: Ints, minimum: int, votes: int) -> ClassDraw:
    """Nothing drawn, as there are too few originals to match.

    Parameters
    ----------
    strategy : Strategy
    pool : ClassPool
    originals : ndarray of int64, shape (bins,)
        Originals with enough votes.
    minimum, votes : int
        How many there should be, with how many votes.
    """
    cells = tuple(Cell(name, int(count), 0, 0, 0) for name, count in zip(strategy.bin_names(), originals, strict=True))
    why = f"{int(originals.sum()):,} originals with {votes:,} votes, and {minimum:,} are needed"
    return ClassDraw(NONE, NONE, NONE, cells, pool.wanted, why)


def fill(strategy: Strategy, pool: ClassPool, originals: Ints, targets: Ints, rng: np.random.Generator) -> ClassDraw:
    """Fill each bin to its target; then, lowest bin first, a short one takes from the next higher bins that have images left.

    Parameters
    ----------
    strategy : Strategy
        Whose bins.
    pool : ClassPool
    originals, targets : ndarray of int64, shape (bins,)
        Originals in each bin, and wanted images.
    rng : numpy.random.Generator

    References
    ----------
    Recht, B., et al. (2019). Do ImageNet classifiers generalize to ImageNet? ICML, appendix C.1.
    """
    bins = strategy.bins(pool.selected, pool.shown)
    rows = [np.flatnonzero(bins == place) for place in range(len(targets))]
    parts = [keep_then_draw(rng, here, pool.previous, int(want)) for here, want in zip(rows, targets, strict=True)]
    left = [np.setdiff1d(here, np.concatenate(part), assume_unique=True) for here, part in zip(rows, parts, strict=True)]
    upward: list[Ints] = []
    for place, (kept, drawn) in enumerate(parts):
        taken = NONE
        for higher in range(place + 1, len(targets)):
            lack = int(targets[place]) - len(kept) - len(drawn) - len(taken)
            more = np.concatenate(keep_then_draw(rng, left[higher], pool.previous, lack))
            left[higher] = np.setdiff1d(left[higher], more, assume_unique=True)
            taken = np.concatenate([taken, more])
        upward.append(taken)
    counts = zip(strategy.bin_names(), originals, targets, parts, upward, strict=True)
    cells = tuple(Cell(name, int(n), int(want), len(a), len(b), len(up)) for name, n, want, (a, b), up in counts)
    short = [f"{cell.name} lacks {cell.missing:,}" for cell in cells if cell.missing]
    why = f"too few eligible candidates: {', '.join(short)}" if short else ""
    kept, drawn = (np.concatenate([part[i] for part in parts]) for i in range(2))
    return ClassDraw(kept, drawn, np.concatenate(upward), cells, pool.wanted, why)
