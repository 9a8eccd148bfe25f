"""A card: what is known of a public test set. Where its files are, how they are laid out, and what must be in them."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal
from urllib.parse import quote

from resit.data.label_spaces import UNNAMED
from resit.errors import InputError, UsageError

NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)*", re.ASCII)
FORBID = {"extra": "forbid"}
Unpack = Literal["tar", "zip"]
By = Literal["position", "number", "id", "class"]


@dataclass(frozen=True)
class Mirror:
    """One address of a file, where its bytes are not those of the other addresses.

    Parameters
    ----------
    url : str
    size : int or None
        Bytes.
    sha256, md5 : str or None
        As somebody published them; None where nobody did.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = FORBID
    url: str
    size: int | None = None
    sha256: str | None = None
    md5: str | None = None


@dataclass(frozen=True)
class CardFile:
    """A file to fetch.

    Parameters
    ----------
    name : str
        Its name in the test set's folder.
    urls : tuple of str or Mirror
        Where it is; tried in turn. None at all where people must get it themselves.
    size : int or None
        Bytes.
    sha256, md5 : str or None
        As somebody published them; None where nobody did.
    source : str
        Who published the size and hashes.
    unpack : {'tar', 'zip'} or None
        How to unpack it.
    into : str
        Folder that it is unpacked in.
    only : mapping of str to tuple of str
        Variants that need it; all where empty.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = FORBID
    name: str
    urls: tuple[str | Mirror, ...] = ()
    size: int | None = None
    sha256: str | None = None
    md5: str | None = None
    source: str = ""
    unpack: Unpack | None = None
    into: str = "."
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def mirrors(self) -> tuple[Mirror, ...]:
        """Its addresses, each with the size and hashes that hold there."""
        own = Mirror("", self.size, self.sha256, self.md5)
        return tuple(replace(own, url=found) if isinstance(found, str) else found for found in self.urls)


@dataclass(frozen=True)
class Relabel:
    """Labels that replace those of the layout.

    Parameters
    ----------
    by : {'position', 'number', 'id', 'class'}
        How they are joined to the images: in the same order; by the number in the image's id, which ``pattern`` finds; by the
        image's id; or by the label that the layout gives (the name of the folder).
    file : str
        The file of labels in the test set's folder. Empty where ``list`` is given.
    list : str
        A mapping that ships with resit: ``objectnet``.
    pattern : str
        Regular expression whose first group is the number in an id.
    first : int
        The number of the first label in the file.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = FORBID
    by: By
    file: str = ""
    list: str = ""
    pattern: str = ""
    first: int = 1


@dataclass(frozen=True)
class Numbered:
    """Images whose names are numbered, so that missing ones can be told.

    Parameters
    ----------
    pattern : str
        Regular expression whose first group is the number in an image's id.
    first, last : int
        The first and the last number.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = FORBID
    pattern: str
    first: int
    last: int


@dataclass(frozen=True)
class Card:
    """What is known of a test set.

    Parameters
    ----------
    name : str
        By which it is asked for. Letters, digits, hyphens, dots and underscores.
    title : str
        For people.
    description, homepage, licence, citation, version : str
    aliases : tuple of str
        Other names.
    layout : str or None
        How the files are laid out; None: found out.
    path : str
        Where the images or the table are in the test set's folder; ``{axis}`` stands for the chosen variant.
    address : str
        Read in place of the path, where that exists: for test sets that another library reads. ``{folder}`` is the folder.
    labels : str
        File of labels in the test set's folder, for layouts whose labels are in a file of their own.
    image_column, label_column, id_column : str or None
        Columns of a table, where they are not found by their names.
    groups : tuple of str, or mapping of str to str
        Group columns that must be there; a mapping gives them other names: from the name to the column.
    classes : str or None
        Class list: a name that ships with resit, or a file beside the card.
    subset : str or None
        Class list of those classes that answers are taken from, where they are fewer than all.
    label_space : str
        Set of classes that the labels mean.
    base : str
        Card of the test set whose images these are, where only the labels differ.
    relabel : Relabel or None
        Labels that replace those of the layout.
    n : int or None
        Number of examples.
    per_class : int, mapping of str to int, or None
        Number of examples of each class, by its id; one number where all have as many.
    numbered : Numbered or None
        How the images' names are numbered.
    variants : mapping of str to tuple of str
        Axes of variants, such as corruption and severity: asked for as ``NAME/VALUE/VALUE``.
    files : tuple of CardFile
        What to fetch.
    access : str
        What people must do themselves: an account, a password, an agreement.
    notes : tuple of str
        What everybody who uses it must know.
    folder : str
        Folder of the card's file; empty for cards that ship with resit. Not written in the file.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = FORBID
    name: str
    title: str = ""
    description: str = ""
    homepage: str = ""
    licence: str = ""
    citation: str = ""
    version: str = ""
    aliases: tuple[str, ...] = ()
    layout: str | None = None
    path: str = "."
    address: str = ""
    labels: str = ""
    image_column: str | None = None
    label_column: str | None = None
    id_column: str | None = None
    groups: tuple[str, ...] | Mapping[str, str] = ()
    classes: str | None = None
    subset: str | None = None
    label_space: str = UNNAMED
    base: str = ""
    relabel: Relabel | None = None
    n: int | None = None
    per_class: int | Mapping[str, int] | None = None
    numbered: Numbered | None = None
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[CardFile, ...] = ()
    access: str = ""
    notes: tuple[str, ...] = ()
    folder: str = ""

    def __post_init__(self) -> None:
        for fault in _faults(self):
            raise InputError(fault, where=self.where)

    @property
    def where(self) -> str:
        """What messages call it."""
        return f"the card {self.name}"

    def place_in(self, folder: Path) -> Path:
        """Where the images or the table are, if this is the test set's folder."""
        return folder / self.path

    def read_from(self, folder: Path) -> str:
        """What a layout reader is given, if this is the test set's folder: the path, or the address with the folder in it."""
        if self.address:
            return self.address.format(folder=quote(str(folder.absolute())))
        return str(self.place_in(folder))

    def variant_names(self) -> list[str]:
        """All variants as ``NAME/VALUE/VALUE``; the name alone where there are none."""
        return ["/".join((self.name, *values)) for values in product(*self.variants.values())]

    def choose(self, values: tuple[str, ...]) -> Card:
        """The card of one variant.

        Raises
        ------
        UsageError
            If there is no such variant, or none was chosen of several.
        """
        axes = "/".join(axis.upper() for axis in self.variants)
        if len(values) != len(self.variants):
            what = f"{self.name} has variants, and none was chosen" if not values else f"no variant {'/'.join(values)!r}"
            fix = f"Write {self.name}/{axes}, such as {self.variant_names()[0]}." if axes else f"{self.name} has no variants."
            raise UsageError(what, where="/".join((self.name, *values)), fix=fix)
        for (axis, known), value in zip(self.variants.items(), values, strict=True):
            if value not in known:
                raise UsageError(f"no {axis} {value!r}", where=self.name, fix=f"There are {', '.join(known)}.")
        chosen = dict(zip(self.variants, values, strict=True))
        needed = (f for f in self.files if all(chosen.get(axis) in some for axis, some in f.only.items()))
        return replace(
            self,
            name="/".join((self.name, *values)),
            path=self.path.format(**chosen),
            files=tuple(replace(file, only={}) for file in needed),
            variants={},
        )


def _faults(card: Card) -> list[str]:
    """What in a card contradicts itself, first things first."""
    faults = []
    if not NAME.fullmatch(card.name):
        faults.append(f"name {card.name!r} is not made of letters, digits, hyphens, dots and underscores")
    paths = {"path": card.path, "labels": card.labels, **{f"files.{f.name}.into": f.into for f in card.files}}
    paths |= {"relabel.file": card.relabel.file} if card.relabel else {}
    for key, path in paths.items():
        if path and (PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\\" in path):
            faults.append(f"{key}: {path!r} leads out of the test set's folder")
    for file in card.files:
        if not file.name or "/" in file.name or "\\" in file.name or file.name in (".", ".."):
            faults.append(f"files: {file.name!r} is not the name of a file")
        hashes = [(m.sha256, 64) for m in file.mirrors] + [(m.md5, 32) for m in file.mirrors]
        hashes += [(file.sha256, 64), (file.md5, 32)]
        faults += [
            f"files.{file.name}: {value!r} is not {length} hexadecimal digits"
            for value, length in hashes
            if value is not None and (len(value) != length or set(value) - set("0123456789abcdef"))
        ]
        for axis, values in file.only.items():
            stray = [value for value in values if value not in card.variants.get(axis, ())]
            if axis not in card.variants:
                faults.append(f"files.{file.name}.only: no axis {axis!r} of variants")
            elif stray:
                faults.append(f"files.{file.name}.only: no {axis} {stray[0]!r} of variants")
    if card.variants and _fields(card.path) - set(card.variants):
        faults.append(f"path: {card.path!r} names an axis that is not in variants")
    columns = list(card.groups.values()) if isinstance(card.groups, Mapping) else list(card.groups)
    if twice := sorted({column for column in columns if columns.count(column) > 1}):
        faults.append(f"groups: the column {twice[0]!r} is there twice")
    if _fields(card.address) - {"folder"}:
        faults.append(f"address: {card.address!r} has braces around another word than folder")
    patterns = {
        "relabel": card.relabel.pattern if card.relabel else "",
        "numbered": card.numbered.pattern if card.numbered else "",
    }
    faults += [f"{key}.pattern: {text!r} is no pattern with a group" for key, text in patterns.items() if not _has_group(text)]
    if card.relabel and bool(card.relabel.file) == bool(card.relabel.list):
        faults.append("relabel: needs either file or list")
    if card.relabel and (card.relabel.by == "number") != bool(card.relabel.pattern):
        faults.append("relabel: by number needs a pattern, and nothing else has one")
    return faults


def _fields(text: str) -> set[str]:
    """Words in braces; a brace alone is one that no text has."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return {"{"}


def _has_group(pattern: str) -> bool:
    try:
        return not pattern or re.compile(pattern).groups >= 1
    except re.error:
        return False
