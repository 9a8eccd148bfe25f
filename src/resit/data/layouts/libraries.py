"""Test sets that other libraries read: places such as ``hf:uoft-cs/cifar10@test`` and ``torchvision:CIFAR10?root=data``."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

from resit.errors import InputError

WORDS = {"true": True, "false": False, "none": None}
HF, TORCHVISION = "hf:", "torchvision:"


def split_options(place: str) -> tuple[str, dict[str, Any]]:
    """The part before ``?`` and the options after it; true, false, none and whole numbers are taken as such.

    Raises
    ------
    InputError
        If an option has no value or is there twice.
    """
    head, _, tail = place.partition("?")
    if not tail:
        return head, {}
    try:
        pairs = parse_qsl(tail, keep_blank_values=True, strict_parsing=True)
    except ValueError as error:
        raise InputError(f"options that cannot be read: {tail!r}", where=place, fix="Write ?name=value&name=value.") from error
    if len(dict(pairs)) < len(pairs):
        raise InputError("an option twice", where=place, fix="Say it once.")
    return head, {name: _value(text) for name, text in pairs}


def _value(text: str) -> Any:
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return WORDS.get(text.lower(), text)
