"""Which images of a set people found to have a near-duplicate in train."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from resit.build.keys import PAIR, rows_in
from resit.build.review import ANSWERS, current
from resit.data.benchmark import Benchmark
from resit.data.paths import counted, short_list
from resit.data.predictions import Predictions
from resit.data.tables import read_table
from resit.errors import InputError
from resit.study.estimate import Caution
from resit.study.hypotheses.interface import Material

if TYPE_CHECKING:
    import pyarrow as pa

NEAR = ("same", "near")
VERDICTS = ANSWERS["pair"]
TRAIN = "train"


class Marked(NamedTuple):
    """Whether each image has a near-duplicate in train, shape (n,)."""

    duplicate: npt.NDArray[np.bool_]


def marked(material: Material) -> tuple[list[Marked | None], list[Caution]]:
    """Images of the original and of the new set with a near-duplicate in train.

    A pair counts where people's last verdict on it is same or near: a build's, or that of a column ``verdict``. Pairs without a
    verdict do not count, and are told. Pairs of two candidates, and those with the original, are not with train.

    Parameters
    ----------
    material : Material

    Returns
    -------
    sets : list of Marked or None
        None where there are no pairs with a verdict.
    cautions : list of Caution
    """
    verdicts, elsewhere = _verdicts(material)
    cautions: list[Caution] = []
    given = ((material.original, material.original_neighbours), (material.new, material.neighbours))
    return [_of(one, pairs, verdicts, elsewhere, cautions) for one, pairs in given], cautions


def read_judged(path: str | Path, benchmark: Benchmark) -> pa.Table:
    """Pairs of images of a test set with training images, and what people found.

    Parameters
    ----------
    path : path
        A table with columns image (the example's id, or its row where the test set has no ids) and verdict (same, near,
        different, unsure, or empty where nobody looked); ``other`` may name the other image, ``reference`` the set it is of.
        Of several verdicts on one pair the last holds.
    benchmark : Benchmark

    Returns
    -------
    pyarrow.Table
        Those columns, as text.

    Raises
    ------
    InputError
        If it cannot be read, or does not fit the test set.
    """
    import pyarrow as pa

    from resit.study.explain_material import keys_of

    read = read_table(Path(path))
    kept = {name: read.texts(name) for name in ("image", "verdict", *({"other", "reference"} & set(read.columns)))}
    known = keys_of(benchmark)
    if strange := sorted(set(kept["image"].tolist()) - set(known)):
        what = f"{counted(len(strange), 'image')} that {benchmark.name} does not have: {short_list(strange)}"
        raise InputError(what, where=path, fix=f"Name images as it does: its first is {known[0]!r}.")
    if strange := sorted(set(kept["verdict"].tolist()) - {*VERDICTS, ""}):
        fix = f"There are {', '.join(VERDICTS)}; leave it empty where nobody looked."
        raise InputError(f"no such verdict: {short_list(strange)}", where=path, fix=fix)
    if "reference" in kept:
        kept["reference"] = np.where(kept["reference"] == "", TRAIN, kept["reference"])
    found = pa.table({name: pa.array(texts.tolist(), pa.string()) for name, texts in kept.items()})
    if "other" not in kept:
        return found
    last = {pair: row for row, pair in enumerate(zip(kept["image"].tolist(), kept["other"].tolist(), strict=True))}
    return found.take(sorted(last.values()))


def _verdicts(material: Material) -> tuple[pa.Table | None, list[str]]:
    """What people said of pairs, and the names of references that are no training data."""
    import pyarrow.compute as pc

    elsewhere = ["", material.original.name]
    if material.build is None:
        return None, elsewhere
    from resit.build.steps.opened import open_build

    with open_build(material.build) as build:
        held = current(build.store.verdicts())
        elsewhere.append(str(build.original["name"]))
    return held.filter(pc.equal(held["kind"], "pair")), elsewhere


def _of(
    one: Predictions, pairs: pa.Table | None, verdicts: pa.Table | None, elsewhere: list[str], cautions: list[Caution]
) -> Marked | None:
    import pyarrow.compute as pc

    from resit.study.explain_material import keys_of

    if pairs is None or not len(pairs):
        return None
    said = _said(pairs, verdicts)
    if said is None or not any(said):
        message = (
            f"{counted(len(pairs), 'pair')} without a verdict of people: distances alone do not say what is a near-duplicate."
        )
        cautions.append(Caution("no-verdicts", one.name, f"{message} Review them with `resit build review`."))
        return None
    if "reference" in pairs.column_names:
        train = ~np.isin(np.array(pairs["reference"].to_pylist(), str), elsewhere)
    else:
        train = np.ones(len(pairs), bool)
    if unseen := int(sum(not verdict for verdict, own in zip(said, train, strict=True) if own)):
        message = f"{counted(unseen, 'pair')} with train without a verdict: taken as different, as far ones mostly are."
        cautions.append(Caution("pairs-without-verdict", one.name, message))
    near = np.array([verdict in NEAR for verdict in said], bool) & train
    return Marked(np.asarray(pc.is_in(_texts(keys_of(one.benchmark)), value_set=pc.unique(pairs["image"].filter(near))), bool))


def _texts(names: list[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(names, pa.string())


def _said(pairs: pa.Table, verdicts: pa.Table | None) -> list[str] | None:
    """What people said of each pair last; empty where nothing."""
    if "verdict" in pairs.column_names:
        return [verdict or "" for verdict in pairs["verdict"].to_pylist()]
    if verdicts is None:
        return None
    names = [*verdicts["verdict"].to_pylist(), ""]
    forward, backward = (rows_in(pairs.rename_columns(_turned(pairs, turn)), verdicts, PAIR) for turn in (False, True))
    return [names[a if a >= 0 else b] for a, b in zip(forward.tolist(), backward.tolist(), strict=True)]


def _turned(pairs: pa.Table, turn: bool) -> list[str]:
    """Column names, those of the two images exchanged where asked: verdicts hold the smaller id first."""
    swap = {"image": "other", "other": "image"}
    return [swap.get(name, name) if turn else name for name in pairs.column_names]
