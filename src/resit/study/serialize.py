"""Results as JSON and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from resit.errors import InputError

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Stored:
    """A frozen record that is written as JSON and read back; ``SCHEMA`` names its form."""

    SCHEMA: ClassVar[str]
    schema: str

    def to_json(self) -> str:
        """The result as JSON, indented by two spaces; NaN never stands in it."""
        text: bytes = _adapter(type(self)).dump_json(self, indent=2)
        return text.decode() + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The result that :meth:`to_json` wrote.

        Raises
        ------
        InputError
            If the text is no JSON, or no result of this schema.
        """
        from pydantic import ValidationError

        try:
            result: Self = _adapter(cls).validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "the text"
            raise InputError(f"not a result of schema {cls.SCHEMA}: {first['msg']} at {place}", where="result.json") from None
        if result.schema != cls.SCHEMA:
            fix = "Compute it again"
            raise InputError(f"the schema is {result.schema!r}, not {cls.SCHEMA!r}", where="result.json", fix=fix)
        return result


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def json_schema(kind: type[Any]) -> dict[str, Any]:
    """JSON Schema of a kind of result."""
    return _adapter(kind).json_schema()
