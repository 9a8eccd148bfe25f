"""Settings of a model: what stands behind the question mark of ``PREFIX:NAME?key=value&key=value``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import unquote

from resit.errors import UsageError

EXAMPLE = "Write PREFIX:NAME?key=value&key=value; write & inside of a value as %26."


def split_spec(spec: str) -> tuple[str, str, Mapping[str, str]]:
    """Prefix, name and settings of a spec.

    Parameters
    ----------
    spec : str
        ``PREFIX:NAME`` or ``PREFIX:NAME?key=value&key=value``. The last question mark begins the settings. Values may be
        percent-encoded; a plus sign is a plus sign.

    Raises
    ------
    UsageError
        If it is not of this form, or a key comes twice.
    """
    prefix, colon, rest = spec.partition(":")
    if not colon or not prefix or not rest:
        raise UsageError("a model is written PREFIX:NAME, such as timm:resnet50.a1_in1k", where=spec or "model")
    name, mark, query = rest.rpartition("?")
    if not mark:
        return prefix, rest, {}
    settings: dict[str, str] = {}
    for part in query.split("&"):
        key, equals, value = part.partition("=")
        if not equals or not key or not value or not name:
            raise UsageError(f"{part!r} is not a setting", where=spec, fix=EXAMPLE)
        if key in settings:
            raise UsageError(f"the setting {key!r} comes twice", where=spec, fix="Give it once.")
        settings[key] = unquote(value)
    return prefix, name, settings


def refuse_unknown(settings: Mapping[str, str], known: Collection[str], where: str) -> None:
    """Refuse settings that an adapter does not know.

    Raises
    ------
    UsageError
        If there is one.
    """
    for key in settings:
        if key not in known:
            fix = f"The settings here are {', '.join(sorted((*known, 'name')))}."
            raise UsageError(f"no setting {key!r}", where=where, fix=fix)


def number(settings: Mapping[str, str], key: str, default: float, where: str) -> float:
    """A setting as a number.

    Raises
    ------
    UsageError
        If it is none.
    """
    try:
        return float(settings.get(key, default))
    except ValueError as error:
        raise UsageError(f"{key}={settings[key]} is not a number", where=where) from error


def whole(settings: Mapping[str, str], key: str, default: int, where: str) -> int:
    """A setting as a whole number.

    Raises
    ------
    UsageError
        If it is none.
    """
    try:
        return int(settings.get(key, default))
    except ValueError as error:
        raise UsageError(f"{key}={settings[key]} is not a whole number", where=where) from error


def yes_no(settings: Mapping[str, str], key: str, default: bool, where: str) -> bool:
    """A setting as true or false.

    Raises
    ------
    UsageError
        If it is neither.
    """
    value = settings.get(key, str(default)).lower()
    if value not in ("true", "false"):
        raise UsageError(f"{key}={settings[key]} is neither true nor false", where=where)
    return value == "true"
