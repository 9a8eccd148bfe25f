"""Files by path or address: reading them and asking for their sizes."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from resit.data.guard import GIB
from resit.errors import InputError

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
HTTP = re.compile(r"https?://", re.IGNORECASE)
UNKNOWN = -1
# The largest image that is decoded has under 90 million pixels: half of this with 16 bits in each of three channels.
MOST_BYTES = GIB


def is_url(text: str) -> bool:
    """Whether a text is an address such as ``s3://…`` or ``https://…``, and no path."""
    return bool(URL.match(text))


def join(root: str, name: str) -> str:
    """Path or address of a name in a folder; a full path or address is taken as it is."""
    if is_url(name) or not root:
        return name
    return f"{root.rstrip('/')}/{name}" if is_url(root) else os.path.join(root, name)  # noqa: PTH118


def read_place(place: str) -> bytes:
    """Bytes of a file by its path or address.

    Raises
    ------
    OSError
        If it cannot be read, is a pipe or device, or is too large for an image.
    """
    if not is_url(place):
        try:
            return _read_file(Path(place))
        except ValueError as error:  # a path with a zero byte in it
            raise OSError(str(error)) from error
    try:
        system, path = _file_system(place)
        return bytes(system.cat_file(path))
    except OSError:
        raise
    except Exception as error:  # each kind of store has errors of its own
        raise OSError(f"{type(error).__name__}: {error}") from error


def _read_file(path: Path) -> bytes:
    found = path.stat()
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise OSError("not a regular file")  # opening a pipe would wait for ever
    refuse_large(found.st_size)
    with path.open("rb") as file:
        return file.read()


def refuse_large(size: int) -> None:
    """Refuse, before a byte is read, what is too large for an image.

    Raises
    ------
    OSError
        If it has more than `MOST_BYTES` bytes.
    """
    if size > MOST_BYTES:
        raise OSError(f"{size / GIB:.1f} GiB, too large for an image: at most {MOST_BYTES / GIB:g} GiB are read")


def _file_system(place: str) -> tuple[Any, str]:
    found: tuple[Any, str] = import_module("fsspec.core").url_to_fs(place)
    return found


def check_protocols(places: Iterable[str]) -> None:
    """Refuse addresses for which a library is missing, before the work begins.

    Raises
    ------
    InputError
        With what to install.
    """
    for protocol in sorted({place.split("://")[0] for place in places if is_url(place)}):
        try:
            import_module("fsspec").get_filesystem_class(protocol)
        except ImportError as error:
            fix = "Install fsspec and, for a cloud's store, its library (s3fs, gcsfs, adlfs), for example `pip install s3fs`."
            raise InputError(f"a library that reads it is missing: {error}", where=f"{protocol}://", fix=fix) from error
        except ValueError as error:
            raise InputError(
                f"addresses of an unknown kind: {error}", where=f"{protocol}://", fix="Check its spelling."
            ) from error


def sizes_of(places: Sequence[str]) -> list[int]:
    """Size in bytes of each file, -1 where it is not known.

    One question is asked for each local file, and one for each folder of a store. The sizes of ``http`` addresses are not asked
    for: that would be one request an image.
    """
    remote = _remote_sizes({place for place in places if is_url(place) and not HTTP.match(place)})
    return [remote.get(place, UNKNOWN) if is_url(place) else _local_size(place) for place in places]


def _local_size(place: str) -> int:
    try:
        return os.stat(place).st_size  # noqa: PTH116
    except (OSError, ValueError):
        return UNKNOWN


def _remote_sizes(places: set[str]) -> dict[str, int]:
    folders: dict[str, list[str]] = {}
    for place in sorted(places):
        folders.setdefault(place.rsplit("/", 1)[0], []).append(place)
    found: dict[str, int] = {}
    for folder, inside in folders.items():
        try:
            system, path = _file_system(folder)
            listed = {item["name"].rsplit("/", 1)[-1]: item.get("size") for item in system.ls(path, detail=True)}
        except Exception:  # such as a folder that may not be listed: what is not known is -1
            continue
        found |= {place: int(size) for place in inside if (size := listed.get(place.rsplit("/", 1)[-1])) is not None}
    return found


def digest(*parts: object) -> str:
    """Short digest of some texts and numbers; lists are taken item by item."""
    found = hashlib.sha256()
    for part in parts:
        items = part if isinstance(part, list | tuple) else [part]
        found.update("\0".join(map(str, items)).encode("utf-8", "surrogatepass"))
        found.update(b"\0\0")
    return found.hexdigest()[:16]
