"""Reviewers, made up: who looks at selected images and at pairs, and sees what is wrong with some care."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.keys import IMAGE, PAIR, firsts, rows_in
from resit.errors import UsageError
from resit.simulate.truth import refuse_unknown
from resit.store.schemas import VERDICTS, table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Reviewers:
    """People who review.

    Parameters
    ----------
    size : int
        How many share the work.
    care : float
        Probability that one who looks at an image or a pair sees what is wrong with it. Nobody sees faults that are not there.

    Raises
    ------
    UsageError
        If a number cannot be meant.
    """

    size: int = 2
    care: float = 0.95

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 <= self.care <= 1:
            fix = "Give at least one person, and a care from 0 to 1."
            raise UsageError(f"reviewers that cannot be: {self}", where="reviewers", fix=fix)


def judge_images(rows: pa.Table, truth: pa.Table, reviewers: Reviewers, *, seed: int, time: str) -> pa.Table:
    """Verdicts on images: wrong where the label is wrong and the reviewer sees it, else right.

    Parameters
    ----------
    rows : pyarrow.Table
        Columns image and class_id, such as what a `Review` says is left to look at.
    truth : pyarrow.Table
        TRUTH.
    reviewers : Reviewers
    seed : int
        With the same seed the same reviewer sees the same again; give another for another look.
    time : str
        ISO 8601, UTC.

    Returns
    -------
    pyarrow.Table
        VERDICTS, one for each image and class, sorted by class and image.

    Raises
    ------
    InputError
        If the truth of an image is not known.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    refuse_unknown(rows, truth)
    rows = rows.select(list(IMAGE)).filter(pa.array(firsts(rows)))
    rows = rows.sort_by([("class_id", "ascending"), ("image", "ascending")])
    known = truth["true_class"].take(pa.array(rows_in(rows, truth, ("image",))))
    wrong = np.asarray(pc.not_equal(known, rows["class_id"]), bool)
    seen, who = _looked(rows, IMAGE, reviewers, seed)
    columns = {"kind": ["image"] * len(rows), "image": rows["image"], "other": [""] * len(rows), "class_id": rows["class_id"]}
    verdict = np.where(wrong & seen, "wrong", "right").tolist()
    return table(VERDICTS, {**columns, "verdict": verdict, "person": who, "time": [time] * len(rows)})


def judge_pairs(pairs: pa.Table, truth: pa.Table, reviewers: Reviewers, *, seed: int, time: str) -> pa.Table:
    """Verdicts on pairs: near where one was made from the other, or both from a third, and the reviewer sees it.

    Re-encoded images are called the same, all others different.

    Parameters
    ----------
    pairs : pyarrow.Table
        PAIRS, or its columns image and other. Images of which nothing is known, such as references, are copies of nothing.
    truth : pyarrow.Table
        TRUTH.
    reviewers, seed, time
        As for :func:`judge_images`.

    Returns
    -------
    pyarrow.Table
        VERDICTS, one for each pair in whatever order, of which the smaller id is the image; sorted by image and other.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    turn = pc.less(pairs["other"], pairs["image"])
    ends = [pc.if_else(turn, pairs[one], pairs[two]) for one, two in (("other", "image"), ("image", "other"))]
    rows = pa.table(dict(zip(PAIR, ends, strict=True)))
    rows = rows.filter(pa.array(firsts(rows, PAIR))).sort_by([(name, "ascending") for name in PAIR])
    roots, exact = zip(*(_root(rows[name], truth) for name in PAIR), strict=True)
    near = np.asarray(pc.equal(*roots), bool)
    seen, who = _looked(rows, PAIR, reviewers, seed)
    verdict = np.where(near & seen, np.where(exact[0] & exact[1], "same", "near"), "different").tolist()
    blank = [""] * len(rows)
    columns = {"kind": ["pair"] * len(rows), "image": rows["image"], "other": rows["other"], "class_id": blank}
    return table(VERDICTS, {**columns, "verdict": verdict, "person": who, "time": [time] * len(rows)})


def _root(images: pa.ChunkedArray, truth: pa.Table) -> tuple[pa.ChunkedArray, npt.NDArray[np.bool_]]:
    """The image that each was made from, itself where it was not made, and whether it shows the same pixels, or nearly."""
    import pyarrow as pa
    import pyarrow.compute as pc

    places = rows_in(pa.table({"image": images}), truth, ("image",))
    at = pa.array(places, mask=places < 0)
    twin = pc.fill_null(truth["twin"].take(at), "")
    change = pc.fill_null(truth["change"].take(at), "")
    exact = pc.is_in(change, value_set=pa.array(["", "reencoded"]))
    return pc.if_else(pc.equal(twin, ""), images, twin), np.asarray(exact, bool)


def _looked(
    rows: pa.Table, columns: tuple[str, ...], reviewers: Reviewers, seed: int
) -> tuple[npt.NDArray[np.bool_], list[str]]:
    """Whether the reviewer of each row would see a fault, and who it is: by a digest of the row, whatever others there are."""
    texts = zip(*(rows[name].to_pylist() for name in columns), strict=True)
    digests = [hashlib.sha256("\0".join((str(seed), *text)).encode()).digest() for text in texts]
    numbers = np.array([np.frombuffer(digest, "<u8") for digest in digests], np.uint64).reshape(-1, 4)
    chance = (numbers[:, 0] >> np.uint64(11)) * 2.0**-53
    width = len(str(reviewers.size))
    who = [f"reviewer-{number + 1:0{width}}" for number in (numbers[:, 1] % np.uint64(reviewers.size)).tolist()]
    return chance < reviewers.care, who
