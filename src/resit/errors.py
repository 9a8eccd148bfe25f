"""What can go wrong. Every message says what, where, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass


def one_line(text: str) -> str:
    """A message in one line, whatever line breaks are in the names that it quotes."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the reader of a result must know: it did not stop the work, but it may change its meaning.

    Parameters
    ----------
    code : str
        Short, stable, kebab-case name of the kind of notice, such as ``worst-first``.
    where : str
        The file, set or model that it is about.
    message : str
        What was seen and what to do about it, in full sentences.
    """

    code: str
    where: str
    message: str

    def __str__(self) -> str:
        return one_line(f"{self.where}: {self.message}")


class ResitError(Exception):
    """Base of all errors that resit raises on purpose.

    Parameters
    ----------
    what : str
        What is wrong, without a final full stop.
    where : str, optional
        The file, option, set or model that it is about.
    fix : str, optional
        What to do next.
    """

    def __init__(self, what: str, *, where: object = "", fix: str = "") -> None:
        self.what = what
        self.where = str(where)
        self.fix = fix
        super().__init__(what)

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return one_line(f"{head}. {self.fix}" if self.fix else head)


class InputError(ResitError):
    """A file or table that cannot be read, or that contradicts itself or another."""


class UsageError(ResitError):
    """A call whose arguments do not fit together or do not fit the data."""


class OutputError(ResitError):
    """A result that could not be written; what was there before is left intact."""
