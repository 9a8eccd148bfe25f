"""Results as JSON and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from resit.errors import InputError

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Record(Protocol):
    """A frozen record that names its schema."""

    @property
    def schema(self) -> str:
        """Its schema, such as ``resit.compare/1``."""
        ...


Kind = TypeVar("Kind", bound=Record)


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def to_json(result: object) -> str:
    """A result as JSON, indented by two spaces; NaN never stands in it."""
    return _adapter(type(result)).dump_json(result, indent=2).decode() + "\n"


def from_json(kind: type[Kind], schema: str, text: str | bytes) -> Kind:
    """The result that :func:`to_json` wrote.

    Parameters
    ----------
    kind : type
        What it is.
    schema : str
        Schema that the text must name.
    text : str or bytes

    Raises
    ------
    InputError
        If the text is no JSON, or no result of the schema.
    """
    from pydantic import ValidationError

    try:
        result: Kind = _adapter(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the text"
        raise InputError(f"not a result of schema {schema}: {first['msg']} at {place}", where="result.json") from None
    if result.schema != schema:
        raise InputError(f"the schema is {result.schema!r}, not {schema!r}", where="result.json", fix="Compute it again")
    return result


def json_schema(kind: type[Any]) -> dict[str, Any]:
    """JSON Schema of a kind of result."""
    return _adapter(kind).json_schema()
