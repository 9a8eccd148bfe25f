"""Downloads one file: mirrors in turn, broken downloads go on, and nothing unchecked gets the final name."""

from __future__ import annotations

import hashlib
import http.client
import json
import shutil
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from resit.data.card import Mirror
from resit.errors import InputError, OutputError, ResitError, UsageError

Progress = Callable[[str, int, int | None], None]
BLOCK = 2**20
AGAIN = (408, 425, 429, 500, 502, 503, 504)
SCHEMES = ("http://", "https://", "file://")
MAGIC: dict[str, tuple[tuple[int, bytes], ...]] = {
    ".tar": ((257, b"ustar"), (0, b"\x1f\x8b"), (0, b"BZh"), (0, b"\xfd7zXZ\0")),
    ".zip": ((0, b"PK\x03\x04"), (0, b"PK\x05\x06")),
    ".npz": ((0, b"PK\x03\x04"),),
    ".npy": ((0, b"\x93NUMPY"),),
    ".parquet": ((0, b"PAR1"),),
    ".json": ((0, b"["), (0, b"{")),
}
SUFFIXES = {".tgz": ".tar", ".tar.gz": ".tar", ".tar.bz2": ".tar", ".tar.xz": ".tar"}


@dataclass(frozen=True)
class Options:
    """How patient a download is.

    Parameters
    ----------
    timeout : float
        Seconds without a byte after which a connection is given up.
    attempts : int
        Tries of each mirror.
    wait : float
        Seconds before the second try; each further one waits twice as long, a minute at most.
    progress : callable, optional
        Told the file's name, bytes so far, and bytes in all or None.
    """

    timeout: float = 60.0
    attempts: int = 4
    wait: float = 1.0
    progress: Progress | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Checked:
    """What was found of a file.

    Parameters
    ----------
    size : int
    sha256 : str
    checks : tuple of str
        What was compared with what was published: ``size``, ``sha256``, ``md5``; empty where nothing was.
    """

    size: int
    sha256: str
    checks: tuple[str, ...]


class _Again(Exception):  # noqa: N818
    """A try that failed for a reason that may pass."""


def download(mirrors: Sequence[Mirror], target: Path, options: Options = Options()) -> tuple[Mirror, Checked]:
    """Download a file from the first mirror that has it.

    Parameters
    ----------
    mirrors : sequence of Mirror
    target : Path
        Where it goes. What is half done lies beside it as ``.part``, and the next call goes on with it.
    options : Options

    Returns
    -------
    Mirror
        The mirror that it came from.
    Checked
        What was checked.

    Raises
    ------
    InputError
        If no mirror has the file as it was published; nothing has the final name then.
    OutputError
        If the disk is full or cannot be written.
    UsageError
        If an address is of another kind than http, https and file.
    """
    reasons = []
    for mirror in mirrors:
        if not mirror.url.startswith(SCHEMES):
            raise UsageError(f"an address that is not {', '.join(SCHEMES)}", where=mirror.url)
        try:
            return mirror, _from(mirror, target, options)
        except InputError as error:
            reasons.append(f"{mirror.url}: {error.what}")
    fix = "Try again later, or get it by hand and put it there."
    raise InputError(f"could not be fetched ({'; '.join(reasons)})", where=target, fix=fix)


def _from(mirror: Mirror, target: Path, options: Options) -> Checked:
    part = target.with_name(target.name + ".part")
    last = ""
    for attempt in range(max(options.attempts, 1)):
        if attempt:
            time.sleep(min(options.wait * 2 ** (attempt - 1), 60.0))
        try:
            _transfer(mirror, part, target.name, options)
            break
        except _Again as error:
            last = str(error)
    else:
        raise InputError(f"{last}, {options.attempts} times", where=mirror.url)
    try:
        checked = check_file(part, mirror, target.name)
    except InputError:
        _forget(part)
        raise
    with writing(target):
        part.replace(target)
    _state_of(part).unlink(missing_ok=True)
    return checked


def _transfer(mirror: Mirror, part: Path, name: str, options: Options) -> None:
    """Bring the rest of the file into ``part``."""
    have, validator = _begun(part, mirror)
    if have and have == mirror.size:
        return
    headers = {"User-Agent": "resit", "Accept-Encoding": "identity"}
    if have:
        headers |= {"Range": f"bytes={have}-"} | ({"If-Range": validator} if validator else {})
    request = urllib.request.Request(mirror.url, headers=headers)
    with _asking(part), urllib.request.urlopen(request, timeout=options.timeout) as reply:
        _receive(reply, mirror, part, have, name, options)


class _asking:  # noqa: N801
    """Sorts what can go wrong while asking into what may pass and what will not."""

    def __init__(self, part: Path) -> None:
        self.part = part

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, (ResitError, _Again)):
            return
        if isinstance(error, urllib.error.HTTPError):
            if error.code == 416:
                _forget(self.part)
            elif error.code not in AGAIN:
                raise InputError(f"the server said {error.code} {error.reason}") from error
            raise _Again(f"the server said {error.code} {error.reason}") from error
        reason = getattr(error, "reason", error)
        if isinstance(reason, FileNotFoundError):
            raise InputError("no such file") from error
        if isinstance(error, (OSError, http.client.HTTPException)):
            raise _Again(f"the connection failed ({reason or type(error).__name__})") from error


def _receive(reply: Any, mirror: Mirror, part: Path, have: int, name: str, options: Options) -> None:
    encoding = (reply.headers.get("Content-Encoding") or "identity").lower()
    start = have if have and reply.status == 206 and _range_start(reply) == have and encoding == "identity" else 0
    length = reply.headers.get("Content-Length") or ""
    total = start + int(length) if length.isdecimal() and encoding == "identity" else None
    if start == 0 and reply.status == 206:
        _forget(part)
        raise _Again("the server sent another range than was asked for")
    if total is not None and mirror.size is not None and total != mirror.size:
        _forget(part)
        raise InputError(f"{total:,} bytes, while {mirror.size:,} were published", where=mirror.url)
    expected = total if total is not None else mirror.size
    require_space(part, (expected or 0) - start)
    validator = _validator(reply) if encoding == "identity" else None
    with writing(part):
        _state_of(part).write_text(json.dumps({"url": mirror.url, "validator": validator}), encoding="utf-8")
        file = part.open("ab" if start else "wb")
    done = start
    with file:
        for block in _decoded(_blocks(reply), encoding):
            with writing(part):
                file.write(block)
            done += len(block)
            if options.progress:
                options.progress(name, done, expected)
    if encoding != "identity" and expected is not None and done != expected:
        _forget(part)
    if expected is not None and done < expected:
        raise _Again(f"the connection ended after {done:,} of {expected:,} bytes")


def _blocks(reply: Any) -> Iterator[bytes]:
    while block := reply.read(BLOCK):
        yield block


def _decoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    if encoding == "identity":
        yield from blocks
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise InputError(f"the server sent the encoding {encoding!r}, which was not asked for")
    decoder = zlib.decompressobj(wbits=47 if encoding != "deflate" else zlib.MAX_WBITS)
    try:
        for block in blocks:
            yield decoder.decompress(block)
        yield decoder.flush()
    except zlib.error as error:
        raise _Again(f"what the server sent cannot be decoded ({error})") from error
    if not decoder.eof:
        raise _Again("the connection ended early")


def _range_start(reply: Any) -> int:
    words = (reply.headers.get("Content-Range") or "").replace("bytes", "").strip().split("-")
    return int(words[0]) if words[0].isdecimal() else -1


def _validator(reply: Any) -> str | None:
    """What says whether the file on the server is still the same; a weak tag does not."""
    tag = reply.headers.get("ETag")
    if tag and not tag.startswith("W/"):
        return str(tag)
    modified = reply.headers.get("Last-Modified")
    return str(modified) if modified else None


def _state_of(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _begun(part: Path, mirror: Mirror) -> tuple[int, str]:
    """Bytes that were fetched before and can be gone on with, and what says that the server's file is the same."""
    try:
        state = json.loads(_state_of(part).read_text(encoding="utf-8"))
        size = part.stat().st_size
        url, validator = state["url"], state["validator"]
    except (OSError, ValueError, KeyError, TypeError):
        _forget(part)
        return 0, ""
    can_check = validator or mirror.sha256 or mirror.md5
    if url != mirror.url or not can_check or not size or (mirror.size is not None and size > mirror.size):
        _forget(part)
        return 0, ""
    return size, validator or ""


def _forget(part: Path) -> None:
    for path in (part, _state_of(part)):
        with writing(path):
            path.unlink(missing_ok=True)


def check_file(path: Path, mirror: Mirror, name: str) -> Checked:
    """Check a file's size, kind and hashes against what was published of it.

    Parameters
    ----------
    path : Path
        The file.
    mirror : Mirror
        What was published.
    name : str
        The file's final name, whose ending tells its kind.

    Raises
    ------
    InputError
        If it is of another size or kind, or a hash differs.
    """
    size = path.stat().st_size
    if mirror.size is not None and size != mirror.size:
        raise InputError(f"{size:,} bytes, while {mirror.size:,} were published", where=path)
    with path.open("rb") as file:
        _check_kind(file.read(512), name, path)
        file.seek(0)
        sha256, md5 = _digests(file, want_md5=mirror.md5 is not None)
    checks = ["size"] if mirror.size is not None else []
    for kind, expected, found in (("sha256", mirror.sha256, sha256), ("md5", mirror.md5, md5)):
        if expected is not None:
            if found != expected:
                raise InputError(f"its {kind} is {found}, while {expected} was published", where=path)
            checks.append(kind)
    return Checked(size, sha256, tuple(checks))


def _digests(file: IO[bytes], *, want_md5: bool) -> tuple[str, str]:
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    while block := file.read(BLOCK):
        sha256.update(block)
        if want_md5:
            md5.update(block)
    return sha256.hexdigest(), md5.hexdigest() if want_md5 else ""


def _check_kind(head: bytes, name: str, path: Path) -> None:
    lower = name.lower()
    ending = next((kind for end, kind in SUFFIXES.items() if lower.endswith(end)), Path(lower).suffix)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if (start.startswith((b"<!doctype html", b"<html")) or (start[:1] == b"<" and b"<html" in start)) and ending not in (
        ".html",
        ".htm",
    ):
        raise InputError("a web page came instead of the file", where=path)
    known = MAGIC.get(ending)
    content = head.lstrip() if ending == ".json" else head
    if known and not any(content[at : at + len(magic)] == magic for at, magic in known):
        raise InputError(f"what came is no {ending[1:]} file", where=path)


def require_space(path: Path, need: int) -> None:
    """Refuse to begin what the disk has no room for.

    Raises
    ------
    OutputError
        If there is less room than that many bytes, and 64 MiB to spare.
    """
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    free = shutil.disk_usage(folder).free
    if need > 0 and need + 2**26 > free:
        what = f"{need / 1e9:.2f} GB are needed and {free / 1e9:.2f} GB are free"
        raise OutputError(what, where=folder, fix="Make room, or choose another folder.")


class writing:  # noqa: N801
    """Turns what goes wrong while writing a path into an OutputError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, OSError):
            what = f"cannot be written ({error.strerror or error})"
            raise OutputError(what, where=self.path, fix="Make room, or choose a folder that you may write in.") from error
