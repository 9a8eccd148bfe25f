"""File names for models: reversible, plain ASCII, different on file systems that ignore case."""

from __future__ import annotations

import re
import string

from resit.data.models import ModelId
from resit.errors import OutputError, UsageError

PLAIN = set(string.ascii_lowercase + string.digits + "._-")
LONGEST = 255
RESERVED = re.compile(r"(labels|classes|models|result|manifest|con|prn|aux|nul|com\d|lpt\d)(\.|@|$)|\.")
CODE = re.compile(rb"%([0-9a-f]{2})|\+([a-z])")


def file_name(model: ModelId, suffix: str) -> str:
    """File name of a model: ``ResNet/50`` is ``+res+net%2f50``, a variant follows after ``@``.

    Parameters
    ----------
    model : ModelId
    suffix : str
        Ending, with its point.

    Raises
    ------
    UsageError
        If the model has no name.
    OutputError
        If the name is too long for a file.
    """
    if not model.model:
        raise UsageError("a model without a name", fix="Give each model a name.")
    name = _encode(model.model) + (f"@{_encode(model.variant)}" if model.variant else "")
    if RESERVED.match(name):
        name = f"%{ord(name[0]):02x}{name[1:]}"
    if len(name + suffix) > LONGEST:
        raise OutputError(f"the model's name is too long for a file ({len(name)} characters)", where=model, fix="Rename it.")
    return name + suffix


def model_of(stem: str) -> ModelId:
    """Model of a file name without its ending: the inverse of :func:`file_name`."""
    name, _, variant = stem.partition("@")
    return ModelId(_decode(name), _decode(variant))


def _encode(text: str) -> str:
    return "".join(map(_encode_character, text))


def _encode_character(character: str) -> str:
    if character in PLAIN:
        return character
    if character in string.ascii_uppercase:
        return f"+{character.lower()}"
    return "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def _decode(text: str) -> str:
    plain = CODE.sub(lambda match: bytes([int(match[1], 16)]) if match[1] else match[2].upper(), text.encode())
    return plain.decode("utf-8", "surrogatepass")
