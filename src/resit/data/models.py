"""Who answers: the identity of a model, and the table of what is known about models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple


class ModelId(NamedTuple):
    """A model and, where one name has several rows, its variant, such as an image size."""

    model: str
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.model} ({self.variant})" if self.variant else self.model

    def fits(self, glob: str) -> bool:
        """Whether the name, or the name with its variant, is this or matches this glob."""
        return any(name == glob or fnmatchcase(name, glob) for name in (self.model, str(self)))


@dataclass(frozen=True)
class ModelTable:
    """What is known of each model: family, kind, date, training data, and any other column.

    Parameters
    ----------
    rows : mapping of ModelId to mapping of str to str
        The columns of each model; a value that is not known is absent. A row without a variant holds for all variants.
    name : str, optional
        Where the table comes from.
    """

    rows: Mapping[ModelId, Mapping[str, str]]
    name: str = ""

    def get(self, model: ModelId, column: str) -> str | None:
        """Value of a column for a model, or None where it is not known."""
        row = self.rows.get(model) or self.rows.get(ModelId(model.model)) or {}
        return row.get(column)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that at least one model has."""
        return tuple(dict.fromkeys(column for row in self.rows.values() for column in row))
