"""Fetches the files of a known test set into the data folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from resit.data.card import Card, CardFile, Mirror
from resit.data.download import Checked, Options, Progress, check_file, download, require_space, writing
from resit.data.registry import folder_of, get_card
from resit.data.unpack import is_unpacked, unpack
from resit.errors import InputError, Notice, OutputError, UsageError


@dataclass(frozen=True)
class FetchedFile:
    """One file of a test set.

    Parameters
    ----------
    name : str
    url : str
        Where it came from; empty where it was there already.
    size : int or None
        Bytes; None where only what was unpacked of it is there.
    sha256 : str
        What was found; empty where only what was unpacked of it is there.
    checks : tuple of str
        What was compared with what was published.
    unpacked : bool
        Whether it was unpacked, now or before.
    """

    name: str
    url: str
    size: int | None
    sha256: str
    checks: tuple[str, ...]
    unpacked: bool


@dataclass(frozen=True)
class Fetched:
    """What was fetched of a test set.

    Parameters
    ----------
    name : str
    folder : str
    files : tuple of FetchedFile
    notices : tuple of Notice
    """

    name: str
    folder: str
    files: tuple[FetchedFile, ...]
    notices: tuple[Notice, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.files)} file{'s' if len(self.files) != 1 else ''} in {self.folder}"]
        for file in self.files:
            how = f"from {file.url}" if file.url else "was there"
            checks = f"checked: {', '.join(file.checks)}" if file.checks else "no hash known"
            lines.append(f"  {file.name}: {how}; {checks}{'; unpacked' if file.unpacked else ''}")
        return "\n".join([*lines, *map(str, self.notices)])

    def to_dict(self) -> Mapping[str, Any]:
        """The record as plain values, for JSON."""
        from dataclasses import asdict

        return asdict(self)


def fetch(
    name: str | Card,
    folder: str | Path | None = None,
    *,
    data: str | Path | None = None,
    keep: bool = False,
    progress: Progress | None = None,
    timeout: float = 60.0,
    attempts: int = 4,
    wait: float = 1.0,
) -> Fetched:
    """Fetch the files of a known test set, check them, and unpack them.

    What is there already is checked and not fetched again. A download that was cut off goes on where it stopped.

    Parameters
    ----------
    name : str or Card
        Name of the test set, or of a variant: ``imagenet-c/fog/3`` fetches only the archive that holds it.
    folder : path, optional
        Where the files go. Default: a folder of that name in the data folder.
    data : path, optional
        Data folder. Default: ``$RESIT_DATA``, else ``~/.resit/data``.
    keep : bool, optional
        Whether archives stay once they are unpacked. Those that you put there yourself always stay.
    progress : callable, optional
        Told a file's name, bytes so far, and bytes in all or None.
    timeout : float, optional
        Seconds without a byte after which a connection is given up.
    attempts : int, optional
        Tries of each mirror.
    wait : float, optional
        Seconds before the second try; each further one waits twice as long, a minute at most.

    Returns
    -------
    Fetched

    Raises
    ------
    InputError
        If no mirror has a file as it was published, or an archive cannot be unpacked. Nothing unchecked gets a final name.
    OutputError
        If the disk is full, cannot be written, or something of that name is there already.
    UsageError
        If the test set is not known, or you must get its files yourself.
    """
    card = name if isinstance(name, Card) else get_card(name)
    place = Path(folder) if folder is not None else folder_of(card, data)
    if not card.files:
        raise UsageError("resit cannot fetch it", where=card.name, fix=card.access or f"See {card.homepage}.")
    with writing(place):
        place.mkdir(parents=True, exist_ok=True)
    options = Options(timeout, attempts, wait, progress)
    with _alone(place):
        files = tuple(_fetch(file, card, place, options, keep=keep) for file in card.files)
    return Fetched(card.name, str(place), files, tuple(_notices(card, files)))


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Keep a second call, also of another process, out of the folder; on Windows nothing does."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            yield  # a file system without locks
            return
        raise OutputError("another call is fetching into this folder", where=place, fix="Wait until it is done.") from error
    try:
        yield
    finally:
        os.close(handle)


def _fetch(file: CardFile, card: Card, place: Path, options: Options, *, keep: bool) -> FetchedFile:
    target = place / file.name
    is_there = target.exists()
    if not is_there and is_unpacked(file.name, place):
        return FetchedFile(file.name, "", None, "", (), unpacked=True)
    if is_there:
        mirror, checked = Mirror(""), _check_own(file, target)
    elif not file.mirrors:
        raise UsageError(f"{file.name} is not in {place}", where=card.name, fix=card.access or f"See {card.homepage}.")
    else:
        require_space(target, (file.mirrors[0].size or 0) * (2 if file.unpack else 1))
        mirror, checked = download(file.mirrors, target, options)
    unpacked = file.unpack is not None
    if file.unpack is not None:
        unpack(target, file.unpack, place / file.into, place)
        if not keep and not is_there:
            target.unlink()
    return FetchedFile(file.name, mirror.url, checked.size, checked.sha256, checked.checks, unpacked)


def _check_own(file: CardFile, target: Path) -> Checked:
    """Check a file that is there: it must be what was published of one of its mirrors."""
    known = [Mirror("", file.size, file.sha256, file.md5), *(replace(mirror, url="") for mirror in file.mirrors)]
    told = [mirror for mirror in dict.fromkeys(known) if mirror != Mirror("")] or [Mirror("")]
    first: InputError | None = None
    for mirror in told:
        try:
            return check_file(target, mirror, file.name)
        except InputError as error:
            first = first or error
    assert first is not None
    raise InputError(first.what, where=target, fix="Move it away, and fetch it again.") from first


def _notices(card: Card, files: tuple[FetchedFile, ...]) -> list[Notice]:
    unchecked = [file.name for file in files if file.size is not None and not {"sha256", "md5"} & set(file.checks)]
    notices = []
    if unchecked:
        message = f"No hash of {', '.join(unchecked)} was published: only size and type were checked."
        notices.append(Notice("no-hash", card.name, message))
    if card.base:
        notices.append(Notice("base", card.name, f"These are labels; the images are those of {card.base}."))
    if card.access and any(not file.mirrors for file in card.files):
        notices.append(Notice("access", card.name, card.access))
    return notices
