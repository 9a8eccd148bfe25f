"""The one place where what libraries say about a bad file becomes an InputError that says what, where, and what to do."""

from __future__ import annotations

import csv
import errno
import json
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resit.errors import InputError, ResitError

MIB, GIB = 2**20, 2**30
# What is parsed as text takes many times its size in memory.
SIZE_LIMITS = {".json": GIB // 4, ".csv": 2 * GIB, ".tsv": 2 * GIB, ".jsonl": 2 * GIB, ".ndjson": 2 * GIB}
UNREADABLE = (
    ValueError,
    TypeError,
    KeyError,
    SyntaxError,
    NotImplementedError,
    EOFError,
    RecursionError,
    OverflowError,
    csv.Error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Turn any error of the library that reads ``path`` into an InputError.

    Raises
    ------
    InputError
        If the file is missing, not permitted, cut off, of another format or too large for memory.
    """
    try:
        yield
    except ResitError:
        raise
    except FileNotFoundError as error:
        raise InputError("no such file or folder", where=path, fix="Check the path and the current folder.") from error
    except PermissionError as error:
        raise InputError(
            "permission denied",
            where=path,
            fix="Make it readable, for example with `chmod u+r`, and folders with `chmod u+rx`.",
        ) from error
    except MemoryError as error:
        raise InputError("does not fit in memory", where=path, fix="Split it into one file a model.") from error
    except UnicodeDecodeError as error:
        raise not_utf8(path, f"byte {error.start}") from error
    except json.JSONDecodeError as error:
        what = f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise InputError(what, where=path, fix="It may be cut off; write it again, or store .npy or Parquet.") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError("a link that leads back to itself", where=path, fix="Remove it, or point it to a file.") from error
        raise _not_readable(path, error.strerror or str(error)) from error
    except UNREADABLE as error:
        if "utf8" in str(error).lower().replace("-", ""):
            raise not_utf8(path) from error
        raise _not_readable(path, str(error)) from error


def not_utf8(path: Path | str, at: str = "") -> InputError:
    """Error for text in another encoding than UTF-8."""
    what = f"text that is not UTF-8 ({at})" if at else "text that is not UTF-8"
    return InputError(what, where=path, fix="Save it as UTF-8, for example with `iconv -f LATIN1 -t UTF-8`.")


def _not_readable(path: Path | str, reason: str) -> InputError:
    kind = Path(path).suffix.removeprefix(".") or "file"
    first = (reason.strip().splitlines() or ["no reason given"])[0].rstrip(".")
    return InputError(
        f"cannot be read as {kind}: {first}", where=path, fix="It may be cut off or of another format than its name says."
    )


def refuse_odd_name(path: object) -> None:
    """Refuse a path or name whose bytes are not UTF-8, as such a name can be neither printed nor stored.

    Raises
    ------
    InputError
        If it is such a name.
    """
    text = str(path)
    shown = text.encode("utf-8", "backslashreplace").decode()
    if shown != text:
        raise InputError("a name that is not UTF-8", where=shown, fix="Rename it.")


def refuse_unfit(path: Path) -> None:
    """Refuse, before a byte is parsed, what is no file, is empty, too large for its format, or binary under a text name.

    Raises
    ------
    InputError
        In each of these cases.
    """
    with reading(path):
        found = path.stat()
        size = found.st_size
        if not stat.S_ISREG(found.st_mode):
            raise InputError("not a regular file", where=path, fix="Store it as a file; pipes and devices are not read.")
        with path.open("rb") as file:
            head = file.read(1024)
    suffix = path.suffix.lower()
    if size == 0:
        raise InputError("empty file", where=path, fix="Write it again or remove it.")
    if suffix in SIZE_LIMITS and head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(
            "text in UTF-16, not UTF-8", where=path, fix="Save it as UTF-8, for example with `iconv -f UTF-16 -t UTF-8`."
        )
    if suffix in SIZE_LIMITS and b"\0" in head:
        raise InputError(
            f"binary data under a {suffix} name",
            where=path,
            fix=f"Give it its true ending{_true_ending(head)}, or write it as text.",
        )
    if size > SIZE_LIMITS.get(suffix, size):
        raise InputError(
            f"{size / GIB:.1f} GiB of {suffix[1:]}, the limit is {SIZE_LIMITS[suffix] // MIB} MiB",
            where=path,
            fix="Store it as .npy or Parquet, one file a model.",
        )


def _true_ending(head: bytes) -> str:
    known = {b"\x93NUMPY": ".npy", b"PAR1": ".parquet", b"PK\x03\x04": ".npz", b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg"}
    return next((f" ({ending})" for magic, ending in known.items() if head.startswith(magic)), "")
