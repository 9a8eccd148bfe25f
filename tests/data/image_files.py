"""Images made for tests, as bytes and as files."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from extras import needs

ORIENTATION = 0x0112


def noise(height: int = 8, width: int = 8, seed: int = 0, channels: int = 3) -> np.ndarray[Any, Any]:
    shape = (height, width, channels) if channels > 1 else (height, width)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def encoded(image: Image.Image | np.ndarray[Any, Any], kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(buffer, kind, **options)
    return buffer.getvalue()


def numbered(index: int, kind: str = "PNG") -> bytes:
    """A small image that differs from those of other numbers."""
    return encoded(noise(6, 5, seed=index), kind)


def write_image(path: Path, index: int = 0, kind: str = "PNG") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(numbered(index, kind))
    return path


def png(width: int, height: int, depth: int, color: int, rows: bytes, *chunks: bytes) -> bytes:
    """A PNG file from raw rows, each after its filter byte, for what Pillow does not write."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + body + chunk(b"IEND", b"")


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def exif(orientation: int) -> bytes:
    found = Image.Exif()
    found[ORIENTATION] = orientation
    return found.tobytes()


def broken_exif(*, orientation: int = 1) -> bytes:
    """EXIF data that say they have three entries and end after the first."""
    entry = struct.pack("<HHLHH", ORIENTATION, 3, 1, orientation, 0)
    return b"Exif\0\0" + b"II*\0" + struct.pack("<LH", 8, 3) + entry


def keep_cache_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the library datasets keep what it makes in a folder of the test."""
    needs("datasets")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder / "cache")
