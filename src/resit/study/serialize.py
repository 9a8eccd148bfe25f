"""A Result as JSON and back."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from resit.errors import InputError
from resit.study.result import SCHEMA, Result

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@cache
def _adapter() -> TypeAdapter[Result]:
    from pydantic import TypeAdapter

    return TypeAdapter(Result)


def to_json(result: Result) -> str:
    """The result as JSON, indented by two spaces; NaN never stands in it."""
    return _adapter().dump_json(result, indent=2).decode() + "\n"


def from_json(text: str | bytes) -> Result:
    """The result that :func:`to_json` wrote.

    Raises
    ------
    InputError
        If the text is no JSON, or no result of schema ``resit.compare/1``.
    """
    from pydantic import ValidationError

    try:
        result = _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the text"
        raise InputError(f"not a result of schema {SCHEMA}: {first['msg']} at {place}", where="result.json") from None
    if result.schema != SCHEMA:
        raise InputError(f"the schema is {result.schema!r}, not {SCHEMA!r}", where="result.json", fix="Compare again")
    return result


def json_schema() -> dict[str, Any]:
    """JSON Schema of a result."""
    return _adapter().json_schema()
