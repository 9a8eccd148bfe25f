"""Reads cards: from YAML files, and from mappings in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.data.card import Card
from resit.data.guard import reading, refuse_unfit
from resit.errors import InputError

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@cache
def _adapter() -> TypeAdapter[Card]:
    from pydantic import TypeAdapter

    return TypeAdapter(Card)


def make_card(document: Mapping[str, Any], where: object = "card") -> Card:
    """A card from a mapping of its keys.

    Raises
    ------
    InputError
        If a key is unknown, missing or of another type, or the card contradicts itself.
    """
    from pydantic import ValidationError

    if not isinstance(document, Mapping):
        raise InputError("not a mapping of keys to values", where=where, fix="A card starts with `name: …`.")
    if "/" in str(document.get("name", "")):
        raise InputError(f"a slash in the name {document['name']!r}", where=where, fix="Slashes are for variants.")
    if "folder" in document:
        raise InputError("the key folder is not written in a card", where=where, fix="Leave it out.")
    try:
        card: Card = _adapter().validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if not str(part).startswith("function-"))
        known = ", ".join(sorted(f.name for f in fields(Card) if f.name != "folder"))
        fix = f"The keys of a card are {known}." if first["type"] == "unexpected_keyword_argument" else ""
        raise InputError(f"{place}: {first['msg']}", where=where, fix=fix) from None
    except InputError as error:
        raise InputError(error.what, where=where, fix=error.fix) from None
    return card


def read_card(path: Path) -> Card:
    """Read a card from a YAML file.

    Raises
    ------
    InputError
        If it is no YAML, has a key twice, or is no card.
    """
    refuse_unfit(path)
    with reading(path):
        card = make_card(parse_yaml(path.read_text(encoding="utf-8"), path), path)
    return replace(card, folder=str(path.parent))


def parse_yaml(text: str, where: object) -> Any:
    """What a YAML text says, where no key may be written twice.

    Raises
    ------
    InputError
        If it is no YAML, or has a key twice.
    """
    yaml: Any = import_module("yaml")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_twice(yaml.compose(text, loader), where)
        return yaml.load(text, loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark else ""
        raise InputError(f"not valid YAML{line}: {getattr(error, 'problem', error)}", where=where) from error


def _refuse_twice(node: Any, where: object) -> None:
    """Refuse a mapping with a key that is there twice: YAML would drop one without a word."""
    if node is None or isinstance(node.value, str):
        return
    pairs = [item if isinstance(item, tuple) else (None, item) for item in node.value]
    keys = [key.value for key, _ in pairs if key is not None]
    twice = [key for place, key in enumerate(keys) if key in keys[:place]]
    if twice:
        raise InputError(f"the key {twice[0]!r} is there twice", where=where, fix="Remove one.")
    for _, value in pairs:
        _refuse_twice(value, where)
