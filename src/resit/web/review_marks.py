"""What reviewers say of the images of a class: saved as verdicts, each once, and told again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from resit.build.review import ANSWERS, current
from resit.store.pairs import add_verdicts, verdicts
from resit.store.schemas import VERDICTS, table
from resit.store.work import once
from resit.web.review_sets import PAGE
from resit.web.sent import EVENT, Sent
from resit.web.stop import Stop

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy import Connection

    from resit.store.accounts import Account
    from resit.web.times import Moments

MOST = 200  # rows of the history
NEAR = ("same", "near")
SAID = {
    ("image", "wrong"): "wrong",
    ("image", "right"): "right",
    ("pair", "same"): "the same image",
    ("pair", "near"): "near-duplicates",
    ("pair", "different"): "not near-duplicates",
    ("pair", "unsure"): "not sure whether near-duplicates",
    ("class", "problematic"): "The class is problematic",
    ("class", "fine"): "The class is fine",
}
# What somebody says who takes back what they said before.
TAKEN_BACK = {
    ("pair", "near", "different"): "no near-duplicates after all",
    ("pair", "same", "different"): "not the same image after all",
    ("class", "problematic", "fine"): "The class is not problematic after all",
}
ELSEWHERE = "an image that is not on this page"


class MarkSent(Sent):
    """One thing that a reviewer said, as the page sends it."""

    event: str = Field(pattern=EVENT)
    revision: int = Field(ge=1)
    kind: Literal["image", "pair", "class", "looked"]
    verdict: str = ""
    image: str = ""
    other: str = ""
    images: list[str] = Field(default=[], max_length=PAGE)


class MarksSent(Sent):
    """What waits to be saved, in order."""

    marks: list[MarkSent] = Field(min_length=1, max_length=200)


Row = dict[str, str]


def rows_of(mark: MarkSent, class_id: str, images: Mapping[str, str], names: Mapping[str, str]) -> list[Row]:
    """The verdicts that something said stands for, without person and time.

    Parameters
    ----------
    mark : MarkSent
    class_id : str
    images : mapping of str to str
        Digest of each image by the name that the page has for it.
    names : mapping of str to str
        Name for people, of each image by its digest.

    Raises
    ------
    Stop
        If there is no such verdict, or an image is none that the page shows or none that can be judged.
    """
    if mark.kind != "looked" and mark.verdict not in ANSWERS[mark.kind]:
        raise Stop(422, "There is no such verdict.")
    given = {"image": [mark.image], "pair": [mark.image, mark.other], "class": [], "looked": mark.images}[mark.kind]
    if any(one not in images for one in given):
        raise Stop(422, "An image that is not on this page.")
    found = [images[one] for one in given]
    is_new = [not names[one].startswith("Original") for one in found]
    if mark.kind == "class":
        return [_row("class", mark.verdict, class_id=class_id)]
    if mark.kind == "pair":
        if found[0] == found[1] or not any(is_new):
            raise Stop(422, "A pair needs two images, one of them a new one.")
        return [_row("pair", mark.verdict, image=min(found), other=max(found))]
    if not all(is_new):
        raise Stop(422, "The original's images are not judged here.")
    verdict = mark.verdict if mark.kind == "image" else "right"
    return [_row("image", verdict, image=one, class_id=class_id) for one in found]


def _row(kind: str, verdict: str, *, image: str = "", other: str = "", class_id: str = "") -> Row:
    return {"kind": kind, "image": image, "other": other, "class_id": class_id, "verdict": verdict}


def save_marks(
    connection: Connection, account: Account, sent: Sequence[tuple[MarkSent, list[Row]]], moments: Moments, where: str
) -> int:
    """Save what somebody said. What was sent before changes nothing; "looked at" says nothing of images that have a verdict.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction that writes.
    account : Account
    sent : sequence of (MarkSent, list of dict)
        What was said, in order, with its rows.
    moments : Moments
    where : str
        The database, for messages.

    Returns
    -------
    int
        How many of them are new.
    """
    fresh = [(mark, rows) for mark, rows in sent if once(connection, account.id, mark.event, moments.next())]
    judged: set[tuple[str, str]] = set()
    if any(mark.kind == "looked" for mark, _ in fresh):
        judged = {(row["image"], row["class_id"]) for row in verdicts(connection).to_pylist() if row["kind"] == "image"}
    kept = []
    for mark, rows in fresh:
        for row in rows:
            key = (row["image"], row["class_id"])
            if mark.kind != "looked" or not judged & {key, (row["image"], "")}:
                kept.append(row | {"person": account.name, "time": moments.next()})
                judged.add(key)
    if kept:
        add_verdicts(connection, table(VERDICTS, {name: [row[name] for row in kept] for name in VERDICTS}), where)
    return len(fresh)


def images_judged(found: pa.Table) -> dict[tuple[str, str], str]:
    """The verdict that holds on each image and class; an empty class stands for all.

    Parameters
    ----------
    found : pyarrow.Table
        All verdicts.
    """
    held = current(found).to_pylist()
    return {(row["image"], row["class_id"]): row["verdict"] for row in held if row["kind"] == "image"}


def judged_as(held: Mapping[tuple[str, str], str], image: str, class_id: str) -> str:
    """The verdict on an image for a class: wrong for every class is wrong for this one."""
    everywhere, here = held.get((image, ""), ""), held.get((image, class_id), "")
    return "wrong" if "wrong" in (everywhere, here) else here or everywhere


def standing(found: pa.Table, class_id: str, keys: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    """What holds on a class and its images now, and who said what.

    Parameters
    ----------
    found : pyarrow.Table
        All verdicts.
    class_id : str
    keys, names : mapping of str to str
        The page's name, and the name for people, of each image by its digest.
    """
    about = _about(found, class_id, keys)
    held = images_judged(about)
    pairs, said = [], ""
    for row in current(about).to_pylist():
        if row["kind"] == "pair" and row["verdict"] in NEAR:
            ends = {"one": keys.get(row["image"], ""), "other": keys.get(row["other"], "")}
            pairs.append({**ends, "verdict": row["verdict"], "words": _both(row, names)})
        elif row["kind"] == "class":
            said = row["verdict"]
    judged = {key: verdict for image, key in keys.items() if (verdict := judged_as(held, image, class_id))}
    history = _history(about, names)[::-1]
    return {"images": judged, "pairs": pairs, "class": said, "history": history[:MOST], "more": max(0, len(history) - MOST)}


def _about(found: pa.Table, class_id: str, keys: Mapping[str, str]) -> pa.Table:
    """Verdicts on a class, and on its images for it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    images = pa.array(list(keys), pa.string())
    near = pc.or_(pc.is_in(found["image"], value_set=images), pc.is_in(found["other"], value_set=images))
    pair = pc.and_(pc.equal(found["kind"], "pair"), near)
    image = pc.and_(pc.equal(found["kind"], "image"), pc.is_in(found["image"], value_set=images))
    here = pc.or_(pc.equal(found["class_id"], class_id), pc.equal(found["class_id"], ""))
    of_class = pc.and_(pc.equal(found["kind"], "class"), pc.equal(found["class_id"], class_id))
    return found.filter(pc.or_(pc.or_(pair, of_class), pc.and_(image, here)))


def _both(row: Mapping[str, str], names: Mapping[str, str]) -> str:
    shown = sorted(names.get(row[end], ELSEWHERE) for end in ("image", "other"))
    first, last = sorted(shown, key=lambda name: name == ELSEWHERE)
    return f"{first} and {last}"


def _history(about: pa.Table, names: Mapping[str, str]) -> list[dict[str, str]]:
    """Who said what and when, first to last."""
    found, before = [], dict[tuple[str, ...], tuple[str, str]]()
    for row in about.to_pylist():
        key = (row["kind"], *sorted((row["image"], row["other"])), row["class_id"])
        person, verdict = before.get(key, ("", ""))
        taken_back = TAKEN_BACK.get((row["kind"], verdict, row["verdict"])) if person == row["person"] else None
        said = taken_back or SAID[row["kind"], row["verdict"]]
        found.append({"person": row["person"], "time": row["time"], "words": _words(row, said, names)})
        before[key] = (row["person"], row["verdict"])
    return found


def _words(row: Mapping[str, str], said: str, names: Mapping[str, str]) -> str:
    if row["kind"] == "class":
        return said
    shown = _both(row, names) if row["kind"] == "pair" else names.get(row["image"], ELSEWHERE)
    return f"{shown}: {said}"
