"""Votes on the images of a set: how often each was selected for its label, and the bins of this frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from resit.build.keys import IMAGE, votes_of
from resit.data.predictions import Predictions

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[np.int64]
# Lower edges of all bins but the first, in tenths; frequency 1 is a bin of its own.
TENTHS = (2, 4, 6, 8, 9, 10)
BINS = ("[0, .2)", "[.2, .4)", "[.4, .6)", "[.6, .8)", "[.8, .9)", "[.9, 1)", "1")


class Voted(NamedTuple):
    """Rows of the images that have votes for their label, with these; how many images have none."""

    rows: Ints
    selected: Ints
    shown: Ints
    without: int

    @property
    def frequency(self) -> npt.NDArray[np.float64]:
        """Times selected of times shown, shape (n,)."""
        return np.asarray(self.selected / self.shown, float)

    @property
    def bins(self) -> Ints:
        """Bin of each image, as in :data:`BINS`, in whole numbers; bins hold their lower edge."""
        return np.searchsorted(np.array(TENTHS), 10 * self.selected // self.shown, side="right").astype(np.int64)


def examples_of(one: Predictions) -> pa.Table:
    """Image and class of each example: its id or position, and the id of its label; of several labels the first.

    Parameters
    ----------
    one : Predictions

    Returns
    -------
    pyarrow.Table
        Columns image and class_id.
    """
    import pyarrow as pa

    from resit.study.explain_material import keys_of

    labels, index = np.unique(one.benchmark.labels[:, 0], return_inverse=True)
    classes = pa.array([one.benchmark.class_id(label) if label >= 0 else "" for label in labels.tolist()], pa.string())
    return pa.table({"image": pa.array(keys_of(one.benchmark), pa.string()), "class_id": classes.take(pa.array(index))})


def voted(one: Predictions, counts: pa.Table | None) -> Voted | None:
    """Votes on the images of a set; those in several rows of one image and class are added.

    Parameters
    ----------
    one : Predictions
    counts : pyarrow.Table or None
        COUNTS.

    Returns
    -------
    Voted or None
        None where there are no counts, no image has a vote for its label, or images have several labels.
    """
    if counts is None or one.is_correctness or not one.benchmark.single_label:
        return None
    summed = counts.group_by(list(IMAGE)).aggregate([("selected", "sum"), ("shown", "sum")])
    found = votes_of(examples_of(one), summed.rename_columns([name.removesuffix("_sum") for name in summed.column_names]))
    rows = np.flatnonzero(found["shown"] > 0)
    if not len(rows):
        return None
    return Voted(rows.astype(np.int64), found["selected"][rows], found["shown"][rows], one.n - len(rows))


def why_none(one: Predictions, counts: pa.Table | None, option: str) -> str:
    """What is needed where :func:`voted` gives nothing."""
    if one.is_correctness:
        return f"the class of each example of {one.name}: give predictions with labels, not only right and wrong"
    if not one.benchmark.single_label:
        return f"one label an example: {one.name} accepts several or none"
    if counts is None:
        return f"votes on the images of {one.name}: give them with {option}, or the build with --build"
    return f"votes that fit {one.name}: none of the {len(counts):,} rows has the id and class of one of its images"
