"""Images in tar files, read where they lie: nothing is unpacked."""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from resit.data.guard import reading, refuse_unfit
from resit.data.image_sources.places import digest, refuse_large
from resit.data.tar_end import refuse_early_end
from resit.errors import InputError

PACKED = {b"\x1f\x8b": "gunzip", b"BZh": "bunzip2", b"\xfd7z": "unxz", b"(\xb5/\xfd": "unzstd"}


@dataclass(frozen=True, slots=True)
class Member:
    """One file in a tar file.

    Parameters
    ----------
    name : str
    shard : int
        Position of the tar file among all.
    offset, size : int
        Where its bytes begin, and how many they are.
    """

    name: str
    shard: int
    offset: int
    size: int


def index_tar(path: Path, shard: int = 0) -> list[Member]:
    """The files in a tar file, from its headers alone.

    Raises
    ------
    InputError
        If it is cut off, no tar file, or packed, as nothing in a packed file can be read without all that is before.
    """
    refuse_unfit(path)
    with reading(path), path.open("rb") as file:
        head = file.read(4)
        unpack = next((command for magic, command in PACKED.items() if head.startswith(magic)), None)
        if unpack:
            raise InputError(
                "a packed tar file, in which single images cannot be found",
                where=path,
                fix=f"Unpack it to .tar with `{unpack}`.",
            )
        file.seek(0)
        try:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                found = [item for item in archive if not item.isdir()]
                refuse_early_end(archive, path)
        except tarfile.TarError as error:
            raise InputError(f"cannot be read as tar: {error}", where=path, fix="It may be cut off: fetch it again.") from error
    odd = [item.name for item in found if not item.isreg() or item.issparse()]
    if odd:
        raise InputError(
            f"{len(odd)} links or other special files, such as {odd[0]!r}", where=path, fix="Write it again with plain files."
        )
    return [Member(item.name, shard, item.offset_data, item.size) for item in found]


def read_member(path: str | Path, member: Member) -> bytes:
    """Bytes of one file in a tar file.

    Raises
    ------
    OSError
        If it cannot be read, is too large for an image, or the tar file has become shorter.
    """
    refuse_large(member.size)
    with Path(path).open("rb") as file:
        file.seek(member.offset)
        data = file.read(member.size)
    if len(data) != member.size:
        raise OSError(f"{path} ends before {member.name} does; it has changed since it was listed")
    return data


class TarImages:
    """Images in tar files (shards).

    Parameters
    ----------
    paths : sequence of path
        The shards.
    members : sequence of Member
        The images in the test set's order.

    Notes
    -----
    The fingerprint is of the members' names and sizes, whichever shard they are in.
    """

    def __init__(self, paths: Sequence[str | Path], members: Sequence[Member]) -> None:
        self.paths = tuple(str(Path(path).absolute()) for path in paths)
        self.members = tuple(members)

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: int) -> bytes:
        member = self.members[index]
        return read_member(self.paths[member.shard], member)

    def where(self, index: int) -> str:
        """Shard and name of an image."""
        member = self.members[index]
        return f"{self.paths[member.shard]}/{member.name}"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the names and sizes."""
        return digest("tar", [member.name for member in self.members], [member.size for member in self.members])
