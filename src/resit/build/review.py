"""What people still have to look at, what their verdicts rule out, and whether the rounds of review have come to an end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from resit.build.keys import PAIR, Bools, among, firsts
from resit.data.paths import short_list
from resit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Each kind's verdicts; a pair that somebody is unsure of waits for somebody else.
ANSWERS = {
    "pair": ("same", "near", "different", "unsure"),
    "image": ("wrong", "right"),
    "class": ("problematic", "fine"),
}
UNSURE = "unsure"
KEY = ("kind", "image", "other", "class_id")

AGAIN = "Make the next revision (sample again)"


@dataclass(frozen=True)
class Blacklist:
    """What the verdicts rule out.

    Parameters
    ----------
    images : pyarrow.Table
        Columns image and class_id, sorted, of images that are wrong for a class. An empty class_id stands for every class.
    problematic : tuple of str
        Ids of classes that are problematic. This is noted and rules nothing out.
    """

    images: pa.Table
    problematic: tuple[str, ...]


@dataclass(frozen=True)
class Review:
    """How far a round of review is.

    Parameters
    ----------
    images : pyarrow.Table
        Rows of the selection that have no verdict.
    pairs : pyarrow.Table
        Pairs without a verdict, or with one that is unsure, in the order given, each pair once.
    wrong : pyarrow.Table
        Rows of the selection that were judged wrong since it was made.
    unsure : int
        How many of the pairs were looked at, and somebody was unsure.
    selected : int
        Images of the selection.
    came, went : int or None
        Images that the last round brought in and took out; None where the selection has no parent.
    problematic : tuple of str
        Classes that are noted as problematic.
    short : int, optional
        Classes that lack images.
    outdated : int, optional
        Selected images that may no longer be chosen, without those judged wrong.
    """

    images: pa.Table
    pairs: pa.Table
    wrong: pa.Table
    unsure: int
    selected: int
    came: int | None
    went: int | None
    problematic: tuple[str, ...]
    short: int = 0
    outdated: int = 0

    @property
    def left(self) -> int:
        """Images and pairs that somebody still has to look at."""
        return int(self.images.num_rows + self.pairs.num_rows)

    @property
    def converged(self) -> bool:
        """Whether the last round changed nothing, nothing is left to look at, and nothing selected is wrong or lacking."""
        unchanged = bool(self.selected) and self.came == 0 and self.went == 0
        return unchanged and not (self.left or self.wrong.num_rows or self.outdated or self.short)

    @property
    def next(self) -> str:
        """What to do next, in a sentence."""
        if not self.selected and not self.short:
            return "Make the first revision (sample): there is no selection to review."
        if self.left:
            waiting = {"image": self.images.num_rows, "pair": self.pairs.num_rows}
            return f"Look at {' and '.join(_counted(n, one) for one, n in waiting.items() if n)}."
        if self.wrong.num_rows:
            return f"{AGAIN}: {_counted(self.wrong.num_rows, 'selected image')} judged wrong."
        if self.outdated:
            return f"{AGAIN}: {_counted(self.outdated, 'selected image')} may no longer be chosen, such as a near-duplicate."
        if self.short:
            return f"{_counted(self.short, 'class', 'es')} short: `resit build status` says what is missing."
        if not self.converged:
            return f"{AGAIN}: the rounds end when one changes nothing."
        return "Release it: the last round changed nothing, and nothing is left to look at."

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON holds; of rows only how many."""
        return {
            "selected": self.selected,
            "images_left": len(self.images),
            "pairs_left": len(self.pairs),
            "unsure": self.unsure,
            "wrong": len(self.wrong),
            "outdated": self.outdated,
            "came": self.came,
            "went": self.went,
            "problematic": list(self.problematic),
            "short": self.short,
            "converged": self.converged,
            "next": self.next,
        }

    def __str__(self) -> str:
        seen = self.selected - self.images.num_rows
        lines = [f"{seen:,} of {_counted(self.selected, 'selected image')} looked at, {self.wrong.num_rows:,} of them wrong"]
        lines.append(f"{_counted(self.pairs.num_rows, 'pair')} left to look at, {self.unsure:,} of them unsure")
        lines.append("first revision" if self.came is None else f"last round: {self.came:,} came, {self.went:,} went")
        if self.problematic:
            lines.append(f"problematic classes: {short_list(self.problematic)}")
        return "\n".join([*lines, self.next])


def current(verdicts: pa.Table) -> pa.Table:
    """The verdict that holds on each pair, image and class: the last one by time, and of one time the last row.

    Parameters
    ----------
    verdicts : pyarrow.Table
        All events, VERDICTS. The two images of a pair may stand in either order, and are one pair.

    Returns
    -------
    pyarrow.Table
        VERDICTS, one row a key, sorted by kind, image, other and class; of a pair the smaller id is the image.

    Raises
    ------
    InputError
        If a kind, verdict or time is none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    latest = _reversed(in_time(verdicts))
    held = latest.filter(pa.array(firsts(latest, KEY)))
    return held.take(pc.sort_indices(held, [(name, "ascending") for name in KEY]))


def in_time(verdicts: pa.Table) -> pa.Table:
    """All verdicts in the order of time, those of one time as they stand; of a pair the smaller id is the image.

    Parameters
    ----------
    verdicts : pyarrow.Table
        VERDICTS.

    Raises
    ------
    InputError
        If a kind, verdict or time is none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    distinct = verdicts.group_by(["kind", "verdict"]).aggregate([])
    for kind, verdict in zip(distinct["kind"].to_pylist(), distinct["verdict"].to_pylist(), strict=True):
        refuse_unknown(kind, verdict, "verdicts")
    try:
        moments = pc.cast(pc.cast(verdicts["time"], pa.timestamp("us", "UTC")), pa.int64())
    except pa.ArrowInvalid as error:
        raise InputError(f"a time that is none: {error}", where="verdicts", fix="Write ISO 8601 in UTC.") from error
    return _in_order(verdicts).take(pa.array(np.argsort(np.asarray(moments), kind="stable")))


def blacklist(verdicts: pa.Table) -> Blacklist:
    """What the current verdicts rule out.

    Parameters
    ----------
    verdicts : pyarrow.Table
        All events, VERDICTS.

    Returns
    -------
    Blacklist

    Raises
    ------
    InputError
        If a kind, verdict or time is none.
    """
    import pyarrow.compute as pc

    held = current(verdicts)
    wrong = held.filter(pc.and_(pc.equal(held["kind"], "image"), pc.equal(held["verdict"], "wrong")))
    odd = held.filter(pc.and_(pc.equal(held["kind"], "class"), pc.equal(held["verdict"], "problematic")))
    return Blacklist(wrong.select(["image", "class_id"]).combine_chunks(), tuple(odd["class_id"].to_pylist()))


def review(selected: pa.Table, parent: pa.Table | None, verdicts: pa.Table, pairs: pa.Table) -> Review:
    """What of a selection people still have to look at, and whether the rounds have converged.

    Parameters
    ----------
    selected : pyarrow.Table
        The last revision, SELECTED.
    parent : pyarrow.Table or None
        The revision that it was sampled from, SELECTED.
    verdicts : pyarrow.Table
        All events, VERDICTS.
    pairs : pyarrow.Table
        Near-duplicates to look at, PAIRS, as the duplicates step queues them: nearest first.

    Returns
    -------
    Review

    Raises
    ------
    InputError
        If a kind, verdict or time is none.

    References
    ----------
    Recht, B., et al. (2019). Do ImageNet classifiers generalize to ImageNet? ICML, appendix C.1: rounds of review.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    held, ruled_out = current(verdicts), blacklist(verdicts)
    judged = _told(selected, held.filter(pc.equal(held["kind"], "image")))
    wrong = _told(selected, ruled_out.images)
    open_pairs, unsure = _open_pairs(pairs, held)
    came = None if parent is None else int((~among(selected, parent)).sum())
    went = None if parent is None else int((~among(parent, selected)).sum())
    return Review(
        images=selected.filter(pa.array(~judged)),
        pairs=open_pairs,
        wrong=selected.filter(pa.array(wrong)),
        unsure=unsure,
        selected=len(selected),
        came=came,
        went=went,
        problematic=ruled_out.problematic,
    )


def _open_pairs(pairs: pa.Table, held: pa.Table) -> tuple[pa.Table, int]:
    import pyarrow as pa
    import pyarrow.compute as pc

    verdicts = held.filter(pc.equal(held["kind"], "pair"))
    turned = _in_order(pairs)
    left = firsts(turned, PAIR) & ~among(turned, verdicts.filter(pc.not_equal(verdicts["verdict"], UNSURE)), PAIR)
    return pairs.filter(pa.array(left)), int((left & among(turned, verdicts, PAIR)).sum())


def _in_order(table: pa.Table) -> pa.Table:
    """The table with the smaller id of each pair first; rows that are no pairs have no other, and stay."""
    import pyarrow.compute as pc

    image, other = table["image"], table["other"]
    turn = pc.and_(pc.not_equal(other, ""), pc.less(other, image))
    places = {name: table.schema.get_field_index(name) for name in PAIR}
    turned = table.set_column(places["image"], "image", pc.if_else(turn, other, image))
    return turned.set_column(places["other"], "other", pc.if_else(turn, image, other))


def _reversed(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    return table.take(pa.array(np.arange(len(table))[::-1]))


def _told(selected: pa.Table, keys: pa.Table) -> Bools:
    """Which rows of a selection are among keys of image and class, or of image and no class."""
    import pyarrow.compute as pc

    whole = keys.filter(pc.equal(keys["class_id"], ""))
    return among(selected, keys) | among(selected, whole, ("image",))


def refuse_unknown(kind: str, verdict: str, where: object) -> None:
    """Refuse a verdict that its kind does not know.

    Raises
    ------
    InputError
        If there is no such kind, or no such verdict of it.
    """
    if kind not in ANSWERS:
        raise InputError(f"no kind of verdict {kind!r}", where=where, fix=f"There are {', '.join(ANSWERS)}.")
    if verdict not in ANSWERS[kind]:
        fix = f"On {kind} people may say {', '.join(ANSWERS[kind])}."
        raise InputError(f"no verdict {verdict!r} on {kind}", where=where, fix=fix)


def _counted(number: int, noun: str, ending: str = "s") -> str:
    return f"{number:,} {noun}{'' if number == 1 else ending}"
