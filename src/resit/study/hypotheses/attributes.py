"""Attributes of the images of two sets: what is measured on them, or the columns that both benchmarks have."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resit.data.image_measures import MEASURES, measure
from resit.data.paths import counted, short_list
from resit.data.predictions import Predictions
from resit.stats.resample import generator
from resit.study.estimate import Caution
from resit.study.groupings import MISSING
from resit.study.hypotheses.interface import Array, Material, Rules, Tell
from resit.study.hypotheses.statistical_error import sets_of

PURPOSE = 77
MOST_IMAGES = 5_000  # of each set that are read
MOST_VALUES = 20
FIFTHS = 5
Ints = npt.NDArray[np.int_]


class Attribute(NamedTuple):
    """One attribute: names of its cells, the cell of each image of both sets (-1: none), and values that are numbers."""

    name: str
    cells: tuple[str, ...]
    of: tuple[Ints, Ints]
    values: tuple[Array, Array] | None


def can_measure(material: Material) -> bool:
    """Whether the images of both sets are at hand."""
    return all(one.benchmark.images is not None for one, _ in sets_of(material))


def shared_columns(material: Material) -> list[str]:
    """Group columns that both benchmarks have, in the original's order."""
    return [name for name in material.original.benchmark.groups if name in material.new.benchmark.groups]


def attributes(material: Material, rules: Rules, tell: Tell) -> tuple[list[Attribute], list[Caution]]:
    """All attributes, measured ones first.

    Numbers are cut at the fifths of the original; fifths that fall together are one cell. Columns of text with many values, and
    attributes that are the same for every image, are left out and told.

    Parameters
    ----------
    material : Material
    rules : Rules
    tell : callable
    """
    cautions: list[Caution] = []
    found = []
    if can_measure(material):
        measured = [_measured(one, rules, at, tell, cautions) for at, (one, _) in enumerate(sets_of(material))]
        for place, name in enumerate(MEASURES):
            found.append(_of_numbers(name, measured[0][:, place], measured[1][:, place]))
    for name in shared_columns(material):
        texts = [_column(one, name) for one, _ in sets_of(material)]
        numbers = [_numbers(column) for column in texts]
        if numbers[0] is not None and numbers[1] is not None:
            found.append(_of_numbers(name, numbers[0], numbers[1]))
        elif (some := _of_texts(name, texts, cautions, material.new.name)) is not None:
            found.append(some)
    kept = [one for one in found if len(one.cells) > 1]
    if constant := [one.name for one in found if len(one.cells) < 2]:
        message = f"The same for all images of the original, or unknown: {short_list(constant)}. Nothing can be told by it."
        cautions.append(Caution("constant-attribute", material.original.name, message))
    return kept, cautions


def _measured(one: Predictions, rules: Rules, at: int, tell: Tell, cautions: list[Caution]) -> Array:
    """Measures of the images of a set, NaN for those that were not read."""
    images, n = one.benchmark.images, one.n
    assert images is not None
    rows = np.arange(n)
    if n > MOST_IMAGES:
        rows = np.sort(generator(rules.seed, PURPOSE, at).choice(n, MOST_IMAGES, replace=False))
        message = f"Measured on {MOST_IMAGES:,} of {n:,} images, drawn at random."
        cautions.append(Caution("some-images-measured", one.name, message))
    tell(f"Measuring {counted(len(rows), 'image')} of {one.name}")
    found = np.full((n, len(MEASURES)), np.nan)
    found[rows] = measure(images, rows.tolist())
    if bad := int(np.isnan(found[rows, 0]).sum()):
        message = f"{counted(bad, 'image')} cannot be read, and left out. `resit doctor` says what is wrong with files."
        cautions.append(Caution("unreadable-images", one.name, message))
    return found


def _column(one: Predictions, name: str) -> npt.NDArray[np.str_]:
    texts = np.char.strip(np.asarray(one.benchmark.groups[name]).astype(str))
    return np.where(texts == "", MISSING, texts)


def _numbers(texts: npt.NDArray[np.str_]) -> Array | None:
    """The values of a column of numbers, NaN where missing; None where one is no number."""
    filled = texts != MISSING
    found = np.full(len(texts), np.nan)
    try:
        found[filled] = texts[filled].astype(float)
    except ValueError:
        return None
    found[~np.isfinite(found)] = np.nan
    return found if filled.any() else None


def _of_numbers(name: str, old: Array, new: Array) -> Attribute:
    known = old[np.isfinite(old)]
    if not len(known) or not np.isfinite(new).any():
        return Attribute(name, (), (np.full(len(old), -1), np.full(len(new), -1)), (old, new))
    edges = np.unique(np.quantile(known, np.arange(1, FIFTHS) / FIFTHS, method="inverted_cdf"))
    edges = edges[edges < known.max()]
    ends = ["", *_short(edges), ""]
    named = tuple(
        f"above {low}" if not high else f"up to {high}" if not low else f"{low} to {high}" for low, high in pairwise(ends)
    )
    return Attribute(name, named, (_cut(old, edges), _cut(new, edges)), (old, new))


def _short(edges: Array) -> list[str]:
    """The edges with as few digits as tell them apart, three at least."""
    for digits in range(3, 17):
        named = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(named)) == len(named):
            break
    return named


def _cut(values: Array, edges: Array) -> Ints:
    """Cell of each value; a value at an edge is in the lower one."""
    return np.where(np.isfinite(values), np.searchsorted(edges, np.nan_to_num(values), side="left"), -1)


def _of_texts(name: str, texts: list[npt.NDArray[np.str_]], cautions: list[Caution], where: str) -> Attribute | None:
    values = np.unique(np.concatenate(texts))
    if len(values) > MOST_VALUES:
        message = f"Column {name!r} has {len(values):,} values, more than {MOST_VALUES}: left out. Give it in wider groups."
        cautions.append(Caution("many-values", where, message))
        return None
    old, new = (np.searchsorted(values, column) for column in texts)
    return Attribute(name, tuple(values.tolist()), (old, new), None)
