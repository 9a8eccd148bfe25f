"""What has come of a download so far: in memory, or in a file that a later call goes on with."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import TracebackType
from typing import IO

from resit.data.download import writing


class Partial:
    """The beginning of what lies at an address.

    Parameters
    ----------
    path : Path or None
        Its file, without the ending; ``.part`` has the bytes and ``.json`` says of what. None: memory, for what is small.
    url : str
    """

    def __init__(self, path: Path | None, url: str) -> None:
        self._url = url
        self._part = None if path is None else path.with_suffix(".part")
        self._state = None if path is None else path.with_suffix(".json")
        self._file: IO[bytes] = io.BytesIO()
        self.size = 0
        self.validator = ""
        self._load()

    def _load(self) -> None:
        if self._part is None or self._state is None:
            return
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
            size = self._part.stat().st_size
            same = state["url"] == self._url
            validator = str(state["validator"])
        except (OSError, ValueError, KeyError, TypeError):
            same, size, validator = False, 0, ""
        if same and size and validator:
            self.size, self.validator = size, validator
        else:
            self.forget()

    def headers(self) -> dict[str, str]:
        """What to ask with, so that only the rest comes where the server's file is still the same."""
        if not self.size or not self.validator:
            return {}
        return {"Range": f"bytes={self.size}-", "If-Range": self.validator}

    def begin(self, start: int, validator: str) -> None:
        """Be written from a place on; what was there after it is dropped.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        self.size, self.validator = start, validator
        if self._part is None or self._state is None:
            self._file.seek(start)
            self._file.truncate()
            return
        with writing(self._part):
            if not start:
                self._part.unlink(missing_ok=True)
            self._state.write_text(json.dumps({"url": self._url, "validator": validator}), encoding="utf-8")
            self._file = self._part.open("ab")

    def write(self, block: bytes) -> None:
        """Add bytes.

        Raises
        ------
        OutputError
            If the disk is full.
        """
        with writing(self._part or Path()):
            self._file.write(block)
        self.size += len(block)

    def __enter__(self) -> Partial:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._part is not None:
            with writing(self._part):
                self._file.close()

    def take(self) -> bytes:
        """All bytes; nothing of it stays."""
        if self._part is None:
            assert isinstance(self._file, io.BytesIO)
            return self._file.getvalue()
        with writing(self._part):
            data = self._part.read_bytes()
        self.forget()
        return data

    def forget(self) -> None:
        """Begin anew."""
        self.size, self.validator = 0, ""
        for path in (self._part, self._state):
            if path is not None:
                with writing(path):
                    path.unlink(missing_ok=True)
