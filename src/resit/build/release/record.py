"""What a release is made of, how, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.data.benchmark import ClassInfo
from resit.data.card import NAME
from resit.data.label_spaces import UNNAMED
from resit.errors import Notice, UsageError
from resit.store.records import Selection

if TYPE_CHECKING:
    import pyarrow as pa

SHORTEST_SALT = 16


@dataclass(frozen=True)
class Material:
    """The tables of a build.

    Parameters
    ----------
    images : pyarrow.Table
        IMAGES: the pool of candidates, and the originals.
    selection : Selection
        The revision to release.
    counts, votes, pairs, verdicts : pyarrow.Table
        COUNTS, VOTES, PAIRS and VERDICTS.
    classes : tuple of ClassInfo
        All classes, in the order of the original test set.
    root : Path
        Folder that the paths of candidates start from.
    time : str
        Of the build's last event, ISO 8601, UTC. The release takes no other time.
    """

    images: pa.Table
    selection: Selection
    counts: pa.Table
    votes: pa.Table
    pairs: pa.Table
    verdicts: pa.Table
    classes: tuple[ClassInfo, ...]
    root: Path
    time: str


@dataclass(frozen=True)
class ReleaseSettings:
    """How a release is made, and what it says of itself.

    Parameters
    ----------
    name, version : str
        Of the new test set. The name is made of letters, digits, hyphens, dots and underscores.
    per_class : int
        How many images each class should have.
    salt : str
        Secret of the build, from which pseudonyms of people and the images to hold out come. At least 16 characters; it is
        not released, and the release is the same again only with the same salt.
    label_space : str, optional
        Set of classes that the labels mean, as the original test set names it.
    title, description, licence, homepage, citation, contact : str, optional
        Of the new test set as a whole. What is empty is marked as open.
    original : str, optional
        Name of the original test set.
    config : mapping, optional
        The build's configuration, for the datasheet.
    answers : mapping of str to str, optional
        Answers of people to questions of the datasheet, by the question's key. They go before what is known from the build.
    minimum_votes : int, optional
        From how many votes on an image has enough.
    seed : int, optional
        Of the images to hold out.
    hold_out : float, optional
        Share of each class's images, rounded down, that goes to the private release. 0: none.
    leave_out : tuple of str, optional
        Attributes of images that are not released.
    imagefolder, webdataset : bool, optional
        Whether the images are also written as a folder a class, and as tar files.
    allow_short : bool, optional
        Whether a selection may be released that lacks images.

    Raises
    ------
    UsageError
        If the name, the salt or the share is none.
    """

    name: str
    version: str
    per_class: int
    salt: str = field(repr=False)
    label_space: str = UNNAMED
    title: str = ""
    description: str = ""
    licence: str = ""
    homepage: str = ""
    citation: str = ""
    contact: str = ""
    original: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    minimum_votes: int = 10
    seed: int = 0
    hold_out: float = 0.0
    leave_out: tuple[str, ...] = ()
    imagefolder: bool = False
    webdataset: bool = False
    allow_short: bool = False

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or "/" in self.name:
            fix = "Use letters, digits, hyphens, dots and underscores."
            raise UsageError(f"a name that cannot be a test set's: {self.name!r}", where="release", fix=fix)
        if not self.version:
            raise UsageError("no version", where="release", fix="Give one, such as 1.0.0.")
        if len(self.salt) < SHORTEST_SALT:
            what = f"a salt of {len(self.salt)} characters"
            raise UsageError(what, where="release", fix=f"Give at least {SHORTEST_SALT}, and keep them secret.")
        if not 0 <= self.hold_out < 1:
            raise UsageError(f"a share of {self.hold_out} to hold out", where="release", fix="Give one from 0 to below 1.")


@dataclass(frozen=True, slots=True)
class Released:
    """What was released.

    Parameters
    ----------
    folder : Path
    images : int
        Images in it.
    private : Path or None
        Folder of the images held out; None where there are none.
    held_out : int
        Images in that folder.
    withheld : int
        Candidates that are not in the public release since they are held out, or were judged to show the same as one that is.
    files : int
        Files of the public release.
    fresh : bool
        Whether anything was written; False: the same release was there already.
    notices : tuple of Notice
    """

    folder: Path
    images: int
    private: Path | None
    held_out: int
    withheld: int
    files: int
    fresh: bool
    notices: tuple[Notice, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.images:,} images in {self.files:,} files: {self.folder}"]
        if not self.fresh:
            lines[0] += " (was there already, the same)"
        if self.private is not None:
            lines.append(f"{self.held_out:,} images held out: {self.private}; {self.withheld:,} candidates are in it only")
        return "\n".join([*lines, *map(str, self.notices)])
