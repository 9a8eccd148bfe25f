"""A class drawn as a whole, without parts."""

from __future__ import annotations

import numpy as np

from resit.build.keys import Ints
from resit.build.sampling.pool import ClassPool
from resit.build.sampling.records import Cell, ClassDraw
from resit.build.sampling.strategy import keep_then_draw


def draw_whole(pool: ClassPool, rows: Ints, rng: np.random.Generator, why: str) -> ClassDraw:
    """Keep images of the previous revision among some rows, a random part if there are more than wanted, and draw the rest.

    Parameters
    ----------
    pool : ClassPool
    rows : ndarray of int64
        Rows to draw from.
    rng : numpy.random.Generator
    why : str
        Said where they do not suffice.
    """
    kept, drawn = keep_then_draw(rng, rows, pool.previous, pool.wanted)
    return whole_class(pool, kept, drawn, why)


def whole_class(pool: ClassPool, kept: Ints, drawn: Ints, why: str) -> ClassDraw:
    """The draw of a class without parts.

    Parameters
    ----------
    pool : ClassPool
    kept, drawn : ndarray of int64
    why : str
        Said where they do not suffice.
    """
    cell = Cell("", len(pool.originals.shown), pool.wanted, len(kept), len(drawn))
    return ClassDraw(kept, drawn, np.empty(0, np.int64), (cell,), pool.wanted, why if cell.missing else "")
