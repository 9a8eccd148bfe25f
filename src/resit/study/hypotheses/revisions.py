"""The revisions of a build as sets of images that models answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.keys import rows_in
from resit.data.predictions import Predictions
from resit.errors import ResitError
from resit.study.hypotheses.interface import Array, Material, Right
from resit.study.hypotheses.votes import examples_of
from resit.study.setview import TOP_K

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.store.records import Selection

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Revised:
    """One revision.

    Parameters
    ----------
    number : int
    parent : int or None
        The revision that it goes on from.
    strategy : str
    selected : pyarrow.Table
        SELECTED.
    places : ndarray of int64, shape (n,)
        Example of each image among the answers; -1 where it has none.
    """

    number: int
    parent: int | None
    strategy: str
    selected: pa.Table
    places: Ints

    @property
    def covered(self) -> bool:
        """Whether all images were answered."""
        return bool(len(self.places)) and bool((self.places >= 0).all())

    @property
    def missing(self) -> int:
        """Images without answers."""
        return int((self.places < 0).sum())

    @property
    def frequency(self) -> Array:
        """Times selected of times shown of each image; NaN where it was never shown."""
        selected, shown = (np.asarray(self.selected[name], float) for name in ("selected", "shown"))
        return np.asarray(np.divide(selected, shown, out=np.full(len(shown), np.nan), where=shown > 0), float)


def answered(material: Material) -> tuple[Predictions, Right]:
    """The answers on a build's images, and which are right: of its candidates, where those are given, else of the new set."""
    if material.candidates is None:
        return material.new, material.right_new
    return material.candidates, material.candidates.correct(TOP_K[material.metric])


def revisions_of(material: Material) -> list[Revised]:
    """All revisions of the build that have images, first to last; none without a build.

    Parameters
    ----------
    material : Material

    Raises
    ------
    InputError
        If the build cannot be read.
    """
    if material.build is None:
        return []
    from resit.build.steps.opened import open_build

    with open_build(material.build) as build:
        every: list[Selection] = [build.store.selection(one.revision) for one in build.store.revisions()]
    found = [one for one in every if len(one.selected)]
    if not found or answered(material)[0].is_correctness:
        return []
    examples = examples_of(answered(material)[0])
    return [
        Revised(one.revision, one.parent, str(one.record.get("strategy", "")), one.selected, rows_in(one.selected, examples))
        for one in found
    ]


def why_no_build(material: Material) -> str | None:
    """What is needed where there is no build that can be read, or answers without classes; else None."""
    if material.build is None:
        return "the build that made the new set: give its folder with --build"
    if answered(material)[0].is_correctness:
        return "the class of each example: give predictions with labels, not only right and wrong"
    try:
        from resit.build.steps.opened import open_build

        with open_build(material.build):
            return None
    except ResitError as error:
        return f"a build that can be read ({error})"
