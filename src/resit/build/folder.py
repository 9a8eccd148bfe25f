"""A build's folder: its configuration, its database, and its images by the digest of their bytes."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from resit.build.config import SCHEMA_NAME, BuildConfig, config_text, read_config, schema_text
from resit.errors import InputError, OutputError
from resit.store.opening import CACHE

if TYPE_CHECKING:
    from resit.store import Store

CONFIG_NAME = "build.yaml"
DATABASE_NAME = "build.sqlite"
FOLDERS = ("images", "exports")
# First bytes of the formats that resit decodes, and the ending of their files.
SIGNATURES = (
    (b"\xff\xd8\xff", "jpg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF8", "gif"),
    (b"BM", "bmp"),
    *((start, "tif") for start in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"II\0*", b"MM*\0")),
    (b"\0\0\0\x0cjP  ", "jp2"),
    (b"\xff\x4f\xff\x51", "jp2"),
    *((b"P%d" % kind, "ppm") for kind in range(1, 7)),
)


@dataclass(frozen=True)
class BuildFolder:
    """A folder in which a test set is built.

    Parameters
    ----------
    path : Path
    config : BuildConfig
        What its build.yaml says.
    """

    path: Path
    config: BuildConfig

    @classmethod
    def create(cls, path: str | Path, config: BuildConfig) -> Self:
        """Make a build: folder, configuration with its schema, and database.

        The configuration is written last. If making it was interrupted, the same call again goes on.

        Parameters
        ----------
        path : str or Path
        config : BuildConfig

        Raises
        ------
        OutputError
            If there is a build in the folder, or it cannot be written.
        """
        folder = cls(Path(path), config)
        target = folder.path / CONFIG_NAME
        if target.exists():
            raise OutputError("a build already", where=target, fix="Edit it, or name another folder.")
        try:
            for name in FOLDERS:
                (folder.path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_written(folder.path, error) from error
        write_whole(folder.path / SCHEMA_NAME, schema_text().encode())
        folder._open(create=True).close()
        write_whole(target, config_text(config).encode())
        return folder

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a build.

        Parameters
        ----------
        path : str or Path
            Its folder, or its build.yaml.

        Raises
        ------
        InputError
            If there is none, or its configuration cannot be read.
        """
        folder = Path(path).parent if Path(path).name == CONFIG_NAME else Path(path)
        target = folder / CONFIG_NAME
        if not target.exists():
            fix = "Name the folder of a build, or make one with `resit build init`."
            raise InputError(f"no build here: {CONFIG_NAME} is missing", where=folder, fix=fix)
        return cls(folder, read_config(target))

    def store(self, cache: int = CACHE) -> Store:
        """Open the build's store; use it in a ``with``.

        Parameters
        ----------
        cache : int, optional
            KiB of a SQLite file that each connection keeps in memory.

        Raises
        ------
        InputError, OutputError, UsageError
            As :func:`resit.store.open_store`.
        """
        return self._open(create=False, cache=cache)

    def _open(self, *, create: bool, cache: int = CACHE) -> Store:
        from resit.store import open_store

        database = self.config.database or DATABASE_NAME
        return open_store(database if "://" in database else self.path / database, create=create, cache=cache)

    def image_path(self, digest: str, ext: str) -> Path:
        """Where an image lies: ``images/ab/<digest>.<ext>``, in the folder.

        Parameters
        ----------
        digest : str
            Of its bytes, sha256, in hexadecimal.
        ext : str
            Ending of the file, with or without its dot.
        """
        return self.path / "images" / digest[:2] / f"{digest}.{ext.removeprefix('.')}"

    def find_image(self, digest: str) -> Path:
        """The file of an image that is in the folder.

        Raises
        ------
        InputError
            If there is none.
        """
        endings = dict.fromkeys((*(ending for _, ending in SIGNATURES), "webp", "avif"))
        for ending in endings:
            if (path := self.image_path(digest, ending)).exists():
                return path
        raise InputError(f"no image {digest}", where=self.path / "images", fix="Collect it again.")

    def put_image(self, data: bytes) -> str:
        """Keep an image under the digest of its bytes, its ending told by its content; one that is there stays.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        str
            Its digest. :meth:`find_image` has its path.

        Raises
        ------
        InputError
            If the bytes are none of an image.
        OutputError
            If it cannot be written.
        """
        digest = hashlib.sha256(data).hexdigest()
        path = self.image_path(digest, ending_of(data))
        # After a power cut a file may be there and empty.
        if path.exists() and path.stat().st_size == len(data):
            return digest
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_written(path.parent, error) from error
        write_whole(path, data)
        return digest


def ending_of(data: bytes) -> str:
    """Ending of an image's file by its first bytes, without a dot.

    Raises
    ------
    InputError
        If no format that resit decodes starts so.
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:8] == b"ftyp" and b"avif" in data[8:64]:
        return "avif"
    for signature, ending in SIGNATURES:
        if data.startswith(signature):
            return ending
    raise InputError(f"no image: {len(data):,} bytes that start with {data[:8]!r}", fix="Leave it out.")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside under a hidden name, then rename it, so that a half-written file is never read.

    Raises
    ------
    OutputError
        If it cannot be written; what was there stays.
    """
    half = path.with_name(f".{path.name[:150]}.{secrets.token_hex(4)}.part")
    try:
        with half.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as error:
        raise _not_written(path, error) from error
    finally:
        with suppress(OSError):
            half.unlink(missing_ok=True)


def _not_written(path: Path, error: OSError) -> OutputError:
    fix = "Check its permissions and the free space; nothing was replaced."
    return OutputError(f"cannot be written: {error.strerror or error}", where=path, fix=fix)
