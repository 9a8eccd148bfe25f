"""Whether a tar file was read to its end: the library stops without a word at a header that it cannot read."""

from __future__ import annotations

import tarfile
from pathlib import Path

from resit.errors import InputError

BLOCK = tarfile.BLOCKSIZE
# Zeros fill the last record, which is 10 KiB unless somebody asked for larger ones.
LOOKED_AT = 2**20


def refuse_early_end(archive: tarfile.TarFile, path: Path) -> None:
    """Refuse a tar file that ends, is damaged, or goes on after its end: some of its files were not seen.

    Parameters
    ----------
    archive : tarfile.TarFile
        All of whose members were listed.
    path : Path
        For messages.

    Raises
    ------
    InputError
        If the members are followed by anything but zeros.
    """
    if archive.fileobj is None:
        return
    archive.fileobj.seek(archive.offset)
    rest = archive.fileobj.read(LOOKED_AT)
    seen = len(archive.getmembers())
    if len(rest) < BLOCK:
        what = f"no end of the archive after {seen:,} members"
        raise InputError(what, where=path, fix="It may be cut off: fetch it again, or write it again.")
    if any(rest[:BLOCK]):
        what = f"a damaged header after {seen:,} members"
        raise InputError(what, where=path, fix="The files behind it cannot be found: fetch it again, or write it again.")
    if any(rest):
        what = f"more behind the end of the archive, after {seen:,} members"
        raise InputError(what, where=path, fix="Are several tar files in one? Join them with `tar --concatenate`.")
