"""Unpacks archives: nothing leaves the folder, and nothing half unpacked gets its final name."""

from __future__ import annotations

import json
import shutil
import stat
import tarfile
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from resit.data.download import require_space, writing
from resit.data.guard import reading
from resit.data.paths import short_list
from resit.data.tar_end import refuse_early_end
from resit.errors import InputError, OutputError, UsageError

STATE = ".resit-unpacked.json"
MOVING, DONE = "moving", "done"


def unpack(archive: Path, kind: str, into: Path, folder: Path) -> bool:
    """Unpack an archive into a folder.

    Parameters
    ----------
    archive : Path
    kind : {'tar', 'zip'}
    into : Path
        Where its content goes.
    folder : Path
        The test set's folder, where is kept what was unpacked.

    Returns
    -------
    bool
        False where it was unpacked before.

    Raises
    ------
    InputError
        If it cannot be read, is encrypted, or has a member that would leave the folder.
    OutputError
        If something of that name is there already, or the disk is full.
    """
    if is_unpacked(archive.name, folder):
        return False
    broken_off = read_state(folder).get(archive.name, {}).get("state") == MOVING
    temporary = folder / f".unpacking-{archive.name}"
    with writing(temporary):
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
    try:
        with reading(archive):
            if kind == "tar":
                _untar(archive, temporary)
            else:
                _unzip(archive, temporary)
        _move(archive.name, temporary, into, folder, ours=broken_off)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return True


def is_unpacked(name: str, folder: Path) -> bool:
    """Whether an archive was unpacked in a test set's folder, and everything that was in it is still there."""
    known = read_state(folder).get(name, {})
    return known.get("state") == DONE and all((folder / entry).exists() for entry in known.get("entries", ()))


def read_state(folder: Path) -> dict[str, dict[str, Any]]:
    """Of each archive that was unpacked in a test set's folder: its state, and what was in it."""
    try:
        found = json.loads((folder / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: known for name, known in dict(found).items() if isinstance(known, dict)}


def _write_state(folder: Path, name: str, state: str, entries: list[str]) -> None:
    path = folder / STATE
    content = {**read_state(folder), name: {"state": state, "entries": entries}}
    with writing(path):
        fresh = path.with_name(path.name + ".new")
        fresh.write_text(json.dumps(content, indent=1), encoding="utf-8")
        fresh.replace(path)


def _move(name: str, temporary: Path, into: Path, folder: Path, *, ours: bool) -> None:
    """Give what was unpacked its final names; what a broken call of ours left there is replaced."""
    entries = sorted(temporary.iterdir())
    there = [entry.name for entry in entries if (into / entry.name).exists()]
    if there and not ours:
        fix = "Move it away, or use it as it is."
        raise OutputError(f"{short_list(there)} is there already", where=into, fix=fix)
    inside = [str((into / entry.name).relative_to(folder)) for entry in entries]
    _write_state(folder, name, MOVING, inside)
    with writing(into):
        into.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            target = into / entry.name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            entry.replace(target)
    _write_state(folder, name, DONE, inside)


def _untar(archive: Path, into: Path) -> None:
    if not hasattr(tarfile, "data_filter"):
        raise UsageError("this version of Python cannot unpack safely", where=archive, fix="Use Python 3.11.4 or newer.")
    try:
        with tarfile.open(archive, "r:*") as tar, writing(into):
            tar.extractall(into, filter="data")
            refuse_early_end(tar, archive)
    except tarfile.FilterError as error:
        fix = "Do not use it: it is not what it says."
        raise InputError(f"a member that would leave the folder ({error})", where=archive, fix=fix) from error
    except tarfile.TarError as error:
        raise InputError(f"cannot be read as tar: {error}", where=archive, fix="It may be cut off: fetch it again.") from error


def _unzip(archive: Path, into: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        members = packed.infolist()
        for member in members:
            _refuse(member, archive)
        require_space(into / "x", sum(member.file_size for member in members))
        with writing(into):
            packed.extractall(into)


def _refuse(member: zipfile.ZipInfo, archive: Path) -> None:
    if member.flag_bits & 1:
        fix = "Unpack it yourself with its password."
        raise InputError("an encrypted archive", where=archive, fix=fix)
    parts = {*PurePosixPath(member.filename).parts, *PureWindowsPath(member.filename).parts}
    absolute = PurePosixPath(member.filename).is_absolute() or PureWindowsPath(member.filename).anchor
    if absolute or ".." in parts or stat.S_ISLNK(member.external_attr >> 16):
        fix = "Do not use it: it is not what it says."
        raise InputError(f"a member that would leave the folder ({member.filename})", where=archive, fix=fix)
