"""What is sent to routes that write: a route names a record of it, and what was sent is checked and described by that."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from resit.web.stop import Stop

EVENT = r"^[0-9A-Za-z_-]{8,64}$"


class Sent(BaseModel):
    """Base of what is sent. Where a field has a description, that is what people are told if it does not fit."""

    model_config = ConfigDict(extra="ignore", strict=True)


class NothingSent(Sent):
    """Nothing but the token."""


class StepSent(Sent):
    """A form that starts a step."""

    event: str = Field(pattern=EVENT)


class RevisionStepSent(StepSent):
    """A form that starts a step from the last revision, which is empty where there is none."""

    revision: str = Field(default="", max_length=20)


class Fits:
    """A dependency of a writing route, after :func:`resit.web.identity.fields`: what was sent is a record of some kind.

    Parameters
    ----------
    kind : type of Sent
    """

    def __init__(self, kind: type[Sent]) -> None:
        self.kind = kind

    async def __call__(self, request: Request) -> None:
        """Check what was sent, and keep it with the request.

        Raises
        ------
        Stop
            If it does not fit.
        """
        try:
            request.state.sent = self.kind.model_validate(request.state.fields)
        except ValidationError as error:
            raise Stop(422, self._told(error)) from error

    def _told(self, error: ValidationError) -> str:
        first = error.errors(include_url=False, include_input=False)[0]
        place = [str(part) for part in first["loc"]]
        field = self.kind.model_fields.get(place[0]) if place else None
        if field is not None and field.description:
            return field.description
        return f"What was sent does not fit: {'.'.join(place)}: {first['msg']}."


def as_number(text: str) -> int:
    """A number in an address; 0 for what is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def sent(request: Request) -> Any:
    """What was sent, as the record that its route names."""
    return request.state.sent
