"""What people are told of a class: its name, what it is, other names, and where to read more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from resit.data.columns import plain
from resit.data.tables import read_table
from resit.errors import InputError

if TYPE_CHECKING:
    from resit.build.steps.opened import Build

COLUMNS = ("text", "synonyms", "link", "parent")


@dataclass(frozen=True, slots=True)
class ClassText:
    """What people are told of a class.

    Parameters
    ----------
    name : str
    text : str
        What it is; empty where nothing is known.
    synonyms : str
    link : str
        Address of a page on it.
    parent : str
        What it is a kind of: classes of one parent stand together where people pick one.
    """

    name: str
    text: str = ""
    synonyms: str = ""
    link: str = ""
    parent: str = ""


def class_texts(build: Build, path: str | Path | None) -> Mapping[str, ClassText]:
    """What people are told of each class of a build.

    Parameters
    ----------
    build : Build
    path : path or None
        A table with the column class_id and any of text, synonyms, link and parent.

    Raises
    ------
    InputError
        If it cannot be read, names a class that is none or twice, or a link is none.
    """
    names = build.class_names
    found = {key: ClassText(name) for key, name in names.items()}
    if path is None:
        return found
    table = read_table(Path(path))
    named = {plain(name): name for name in table.columns}
    if "class_id" not in named or not named.keys() & set(COLUMNS):
        what = f"no column class_id, or none of {', '.join(COLUMNS)}, among {', '.join(table.columns)}"
        raise InputError(what, where=path, fix="It says what people look for in each class.")
    ids = table.texts(named["class_id"]).tolist()
    columns = {name: table.texts(named[name]).tolist() for name in COLUMNS if name in named}
    if strange := sorted(set(ids) - names.keys()):
        raise InputError(f"ids of no class: {', '.join(strange[:5])}", where=path, fix="Write them as in the class list.")
    if len(set(ids)) < len(ids):
        raise InputError("a class that is there twice", where=path, fix="Give each class one row.")
    for row, key in enumerate(ids):
        values = {name: (column[row] or "").strip() for name, column in columns.items()}
        if values.get("link") and urlsplit(values["link"]).scheme not in ("http", "https"):
            raise InputError(f"{values['link']!r} is no address of a page", where=path, fix="A link starts with https://.")
        found[key] = ClassText(names[key], **values)
    return found
