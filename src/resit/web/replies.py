"""What routes answer in JSON, for the description of the pages to programs."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Verdict = Literal["same", "near", "different", "unsure"]


class Reply(BaseModel):
    """Base of what is answered."""

    model_config = ConfigDict(extra="forbid")


class Failed(Reply):
    """Why a request was not done, in a sentence or two for people."""

    error: str


class Me(Reply):
    """Who is signed in, and the token that requests which write must bring."""

    name: str
    role: Literal["annotator", "reviewer", "admin"]
    csrf: str


class Saved(Reply):
    """How much of what was sent is on the disk: all of it."""

    saved: int


class Ahead(Reply):
    """Addresses of the images of the page that comes next; none where it is not known yet."""

    images: list[str]


class SavedNew(Saved):
    """How much of what was sent is on the disk, and how much of it was new."""

    new: int


class Finished(Reply):
    """It is finished; new is false where it was before."""

    finished: Literal[True]
    new: bool


class Running(Reply):
    """A step that runs in the background."""

    name: str
    message: str


class Jobs(Reply):
    """What runs in the background, if anything does."""

    running: Running | None


class PairGiven(Reply):
    """Two images that may be near-duplicates."""

    id: str
    metric: str
    distance: float
    reference: str
    classes: tuple[list[str], list[str]] = Field(description="Names of the classes of each of the two.")
    doubted: bool


class Progress(Reply):
    """How far the review of one metric is."""

    metric: str
    target: float
    pairs: int
    judged: int


class Pairs(Reply):
    """Pairs to look at. Ready is false while the list is being made: ask again in some seconds."""

    ready: bool
    pairs: list[PairGiven]
    left: int
    elsewhere: int
    doubted: int
    progress: list[Progress]
    message: str


class NearPair(Reply):
    """Two images that were judged to be near-duplicates; one that is not on the page has no name."""

    one: str
    other: str
    verdict: Verdict
    words: str


class SaidBy(Reply):
    """Who said what, and when."""

    person: str
    time: str
    words: str


class Standing(Reply):
    """What holds on a class and its images."""

    images: dict[str, Literal["wrong", "right"]]
    pairs: list[NearPair]
    class_: Literal["", "problematic", "fine"] = Field(alias="class")
    history: list[SaidBy]
    more: int = Field(description="Older entries of the history that are not listed.")
    last: int | None = Field(description="Number of the last revision.")


class Votes(Reply):
    """What is told of the votes, and by models, of each image."""

    told: dict[str, list[str]]
