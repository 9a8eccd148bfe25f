"""Which way up an image is, as its EXIF data tell, and whether these are sound.

Pillow says that EXIF data are broken by a warning of the whole process. Here it is found out beforehand, so that threads can
tell it of each image.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEADER = b"Exif\0\0"
ORIENTATION = 0x0112
SHORT = 3
# Bytes of one value of each type, TIFF 6.0, section 2.
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
UPRIGHT = 1
# Markers of a JPEG file.
FILL, APP1, END_OF_HEADERS = 0xFF, 0xE1, (0xDA, 0xD9)


@dataclass(frozen=True, slots=True)
class Exif:
    """What the first directory of EXIF data says.

    Parameters
    ----------
    orientation : int
        1 to 8; 1 (upright) where nothing is said.
    fault : str
        What is broken; empty where all is sound.
    """

    orientation: int = UPRIGHT
    fault: str = ""


def read_exif(data: bytes) -> Exif:
    """Read the orientation of EXIF data as far as they are sound.

    Parameters
    ----------
    data : bytes
        With or without the six leading bytes that JPEG files have.
    """
    data = data.removeprefix(HEADER)
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    if order is None:
        return Exif(fault="no TIFF header")
    orientation, fault = UPRIGHT, ""
    try:
        (start,) = struct.unpack_from(f"{order}L", data, 4)
        (count,) = struct.unpack_from(f"{order}H", data, start)
        for place in range(start + 2, start + 2 + 12 * count, 12):
            tag, kind, values, at = struct.unpack_from(f"{order}HHLL", data, place)
            size = SIZES.get(kind, 0) * values
            if size > 4 and at + size > len(data):
                fault = "a value lies behind its end"
            if tag == ORIENTATION:
                orientation, fault = _orientation(order, data, place, fault)
    except struct.error:
        return Exif(orientation, "it is cut off")
    return Exif(orientation, fault)


def _orientation(order: str, data: bytes, place: int, fault: str) -> tuple[int, str]:
    kind, values, found = struct.unpack_from(f"{order}HLH", data, place + 2)
    if (kind, values) != (SHORT, 1):
        return UPRIGHT, "an orientation that is not one number"
    return (found, fault) if 1 <= found <= 8 else (UPRIGHT, f"an orientation of {found}")


def exif_of_jpeg(raw: bytes) -> tuple[list[int], bytes]:
    """Where in a JPEG file EXIF data begin, and what they are; those of more than 64 KiB are in several parts."""
    places, parts = [], []
    place = 2
    while raw[place : place + 1] == b"\xff" and place + 4 <= len(raw):
        marker = raw[place + 1]
        if marker in END_OF_HEADERS:
            break
        if marker == FILL:
            place += 1
            continue
        (length,) = struct.unpack_from(">H", raw, place + 2)
        if marker == APP1 and raw.startswith(HEADER, place + 4):
            places.append(place + 4)
            parts.append(raw[place + 4 + len(HEADER) : place + 2 + length])
        place += 2 + length
    return places, b"".join(parts)
