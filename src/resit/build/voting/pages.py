"""Tasks as people get to see them: an address for each image, a text for each class, and no trace of where an image is from."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from resit.data.paths import short_list
from resit.errors import InputError, Notice

if TYPE_CHECKING:
    import pyarrow as pa

# Characters of an address that stay as they are; others, such as blanks and letters outside ASCII, are percent-encoded.
SAFE = "%/:=&?~#+!$,;'@()*[]"
WORD = re.compile(r"[0-9a-f]{2,}|[0-9]+", re.IGNORECASE)


@dataclass(frozen=True)
class Page:
    """One task to show.

    Parameters
    ----------
    task, class_id : str
    text : str
        What people look for.
    urls : tuple of str
        Addresses of the images, in order.
    people : int
        How many people to show it to.
    """

    task: str
    class_id: str
    text: str
    urls: tuple[str, ...]
    people: int


@dataclass(frozen=True)
class Pages:
    """Tasks to export, ordered by task, and what to know of them."""

    pages: tuple[Page, ...]
    notices: tuple[Notice, ...]

    def by_people(self) -> dict[int, tuple[Page, ...]]:
        """Pages by how many people are to see them, as other tools take that number for all tasks of a file."""
        found: dict[int, list[Page]] = defaultdict(list)
        for page in self.pages:
            found[page.people].append(page)
        return {people: tuple(found[people]) for people in sorted(found)}


def make_pages(tasks: pa.Table, urls: Mapping[str, str], texts: Mapping[str, str], people: Mapping[str, int]) -> Pages:
    """Pages of the tasks that still need people.

    Parameters
    ----------
    tasks : pyarrow.Table
        TASKS.
    urls : mapping of str to str
        Address of each image, by its id.
    texts : mapping of str to str
        What people look for, by class id: a name, better with a short description.
    people : mapping of str to int
        How many more people each task needs, as `still_to_ask` tells; others are left out.

    Returns
    -------
    Pages
        With a notice where two classes have one text, and where addresses give away which images are controls.

    Raises
    ------
    InputError
        If an image has no address or a class no text, or two images of a page have one address.
    """
    rows: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    class_of: dict[str, str] = {}
    for task, class_id, image, role, position in zip(*(column.to_pylist() for column in tasks.columns), strict=True):
        if people.get(task, 0) > 0:
            rows[task].append((position, image, role))
            class_of[task] = class_id
    images = {image for page in rows.values() for _, image, _ in page}
    _refuse_missing(images - urls.keys(), "images without an address", "Give each image of a task its address.")
    classes = set(class_of.values())
    _refuse_missing({c for c in classes if not texts.get(c, "").strip()}, "classes without a text", "Give each class a name.")
    # A path is no address: with anything encoded in it, it leads nowhere.
    safe = {image: quote(url.strip(), safe=SAFE) if "://" in (url := urls[image]) else url for image in images}
    pages = []
    for task in sorted(rows):
        shown = tuple(safe[image] for _, image, _ in sorted(rows[task]))
        if len(set(shown)) < len(shown):
            raise InputError("two images with one address", where=f"task {task}", fix="Give each image its own address.")
        pages.append(Page(task, class_of[task], texts[class_of[task]].strip(), shown, people[task]))
    roles = [(safe[image], role) for page in rows.values() for _, image, role in page]
    return Pages(tuple(pages), (*_same_text(classes, texts), *_given_away(roles)))


def _refuse_missing(missing: set[str], what: str, fix: str) -> None:
    if missing:
        raise InputError(f"{len(missing):,} {what}: {short_list(sorted(missing))}", where="pages", fix=fix)


def _same_text(classes: set[str], texts: Mapping[str, str]) -> list[Notice]:
    found: dict[str, list[str]] = defaultdict(list)
    for class_id in sorted(classes):
        found[texts[class_id].strip()].append(class_id)
    return [
        Notice("same-text", "pages", f"Classes {short_list(ids)} are all called {text!r}: add a description to each.")
        for text, ids in found.items()
        if len(ids) > 1
    ]


def _given_away(roles: list[tuple[str, str]]) -> list[Notice]:
    """A notice where most candidates, or most controls, have a kind of address that no other image has: people would see it."""
    kinds = {side: Counter(_kind(url) for url, role in roles if (role == "candidate") == side) for side in (True, False)}
    for side, found in kinds.items():
        kind, count = max(found.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        if kinds[not side] and count > max(1, found.total() / 2) and kind not in kinds[not side]:
            whose = "candidates" if side else "controls"
            message = (
                f"Addresses like {kind} are only of {whose}, so that people can tell these: "
                "store all images in one place, under names and endings of one kind."
            )
            return [Notice("source-shown", "pages", message)]
    return []


def _kind(url: str) -> str:
    """An address with its numbers and digests left out."""
    parts = urlsplit(url)
    return f"{parts.netloc}{WORD.sub('*', parts.path)}"
