"""A training that went wrong: it is told, and its figures are not averaged with those of others."""

from __future__ import annotations

from resit.errors import ResitError


class Diverged(ResitError):  # noqa: N818
    """A training whose loss or scores are not finite; the message says when it happened."""
