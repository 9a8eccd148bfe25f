"""Whatever was stored, what models see is 8-bit RGB, by one policy."""

from __future__ import annotations

import contextlib
import io
import pickle
import re
import struct
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from image_files import ORIENTATION, broken_exif, chunk, encoded, exif, noise, png
from PIL import Image, ImageFile, ImageOps

from resit.data import decode as module
from resit.data.decode import Unreadable, decode, fingerprint
from resit.errors import InputError, UsageError

STARTS = [b"\xff\xd8\xff\xe1", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"II*\0", b"BM", b"RIFF"]
# Which file formats keep a mode as it is.
STORED = {
    "1": ("PNG", "TIFF", "BMP", "PPM"),
    "L": ("PNG", "TIFF", "JPEG", "GIF", "BMP", "PPM", "JPEG2000"),
    "LA": ("PNG", "TIFF", "JPEG2000"),
    "P": ("PNG", "GIF", "BMP", "TIFF"),
    "PA": ("TIFF",),
    "RGB": ("PNG", "JPEG", "WEBP", "BMP", "TIFF", "PPM", "JPEG2000"),
    "RGBA": ("PNG", "WEBP", "TIFF", "JPEG2000"),
    "RGBX": ("TIFF",),
    "CMYK": ("JPEG", "TIFF"),
    "YCbCr": ("JPEG", "TIFF"),
    "LAB": ("TIFF",),
    "I;16": ("PNG", "TIFF", "JPEG2000"),
    "I;16B": ("TIFF",),
}


def pixels(raw: object, **options: object) -> np.ndarray:
    image = decode(raw, **options).image
    assert image.mode == "RGB"
    return np.asarray(image)


@pytest.mark.parametrize(("mode", "kind"), [(mode, kind) for mode, kinds in STORED.items() for kind in kinds])
@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**16), size=st.tuples(st.integers(1, 9), st.integers(1, 9)))
def test_every_mode_becomes_8_bit_rgb_of_the_same_size(mode: str, kind: str, seed: int, size: tuple[int, int]):
    width, height = size
    colours = noise(height, width, seed)
    if mode in ("I;16", "I;16B"):
        wide = np.random.default_rng(seed).integers(0, 2**16, (height, width), dtype=np.uint16)
        image = Image.fromarray(wide.astype(">u2") if mode == "I;16B" else wide)
    elif mode == "LAB":
        image = Image.frombytes("LAB", size, colours.tobytes())
    else:
        image = Image.fromarray(colours[..., 0] if mode in ("LA", "PA") else colours).convert(mode)
    raw = encoded(image, kind)
    found = pixels(raw)
    assert found.shape == (height, width, 3)
    assert found.dtype == np.uint8
    assert np.array_equal(found, pixels(raw))


def test_every_mode_that_pillow_has_becomes_rgb_or_is_refused():
    modes = ("1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "LAB", "HSV")
    for mode in (*modes, "I;16", "I;16L", "I;16B", "I;16N"):
        assert module._rgb(Image.new(mode, (3, 2)), "").mode == "RGB"
    for mode in ("I", "F"):
        with pytest.raises(Unreadable):
            module._rgb(Image.new(mode, (3, 2)), "")


def test_case_12_content_decides_and_not_the_name(tmp_path: Path):
    colours = noise()
    path = tmp_path / "photo.jpeg"
    path.write_bytes(encoded(colours, "PNG"))
    assert np.array_equal(pixels(path.read_bytes()), colours)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "JPEG2000"])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_case_13_a_truncated_image_is_an_error(kind: str, part: float):
    raw = encoded(noise(64, 64), kind)
    with pytest.raises(Unreadable) as caught:
        decode(raw[: int(len(raw) * part)])
    assert "\n" not in caught.value.what
    assert len(caught.value.what) < 120


@pytest.mark.parametrize("raw", [b"", b"hello", b"<html>not found</html>", b"\xff\xd8", b"%!PS-Adobe-3.0 EPSF-3.0\n"])
def test_case_13_what_is_no_image_is_an_error(raw: bytes):
    with pytest.raises(Unreadable, match=r"no image|cannot be decoded"):
        decode(raw)
    assert issubclass(Unreadable, InputError)


@settings(deadline=None)
@given(raw=st.binary(max_size=60), start=st.sampled_from(STARTS))
def test_case_13_odd_bytes_are_an_error_and_never_another(raw: bytes, start: bytes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(Unreadable):
            decode(start + raw)


def test_case_13_the_rest_of_a_cut_off_image_is_not_made_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    with pytest.raises(UsageError, match="cut off"):
        decode(encoded(noise()))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_case_14_exif_orientation_is_applied_or_ignored(kind: str, orientation: int):
    stored = noise(16, 8)
    options = {"lossless": True} if kind == "WEBP" else {"quality": 100, "subsampling": 0} if kind == "JPEG" else {}
    raw = encoded(stored, kind, exif=exif(orientation), **options)
    upright = np.asarray(Image.open(io.BytesIO(encoded(stored, kind, **options))).convert("RGB"))
    expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(raw))))
    assert np.array_equal(pixels(raw), expected)
    assert np.array_equal(pixels(raw, orientation="ignore"), upright)
    assert decode(raw).notes == ()


def test_case_14_orientation_in_xmp_counts_as_it_does_for_pillow():
    packet = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    raw = encoded(noise(16, 8), "JPEG", xmp=packet)
    assert decode(raw).image.size == (16, 8)
    assert decode(raw, orientation="ignore").image.size == (8, 16)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"Exif\0\0garbage", "no TIFF header"),
        (broken_exif(), "cut off"),
        (b"Exif\0\0II*\0\xff\xff\xff\xff", "cut off"),
        (b"Exif\0\0MM\0*" + struct.pack(">LHHHLL", 8, 1, 0x010F, 2, 40, 9999), "behind its end"),
        (exif(9), "orientation of 9"),
        (b"Exif\0\0II*\0" + struct.pack("<LHHHLL", 8, 1, ORIENTATION, 4, 1, 6), "not one number"),
    ],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_case_14_broken_exif_loads_the_pixels_and_gives_a_note(data: bytes, fault: str, kind: str):
    stored = noise(16, 8)
    found = decode(encoded(stored, kind, exif=data))
    assert np.array_equal(np.asarray(found.image), pixels(encoded(stored, kind)))
    assert len(found.notes) == 1
    assert fault in found.notes[0]


def test_case_14_exif_in_several_parts_is_one():
    entries = struct.pack("<HHLHH", ORIENTATION, 3, 1, 6, 0) + struct.pack("<HHLL", 0x9C9B, 7, 70_000, 38)
    data = b"II*\0" + struct.pack("<LH", 8, 2) + entries + struct.pack("<L", 0) + bytes(70_000)
    parts = [b"Exif\0\0" + part for part in (data[:60_000], data[60_000:])]
    segments = b"".join(b"\xff\xff\xe1" + struct.pack(">H", len(part) + 2) + part for part in parts)
    raw = encoded(noise(16, 8), "JPEG")
    whole = decode(raw[:2] + segments + raw[2:])
    assert whole.image.size == (16, 8)
    assert whole.notes == ()
    cut = decode(raw[:2] + segments[: 3 + 2 + len(parts[0])] + raw[2:])
    assert cut.image.size == (16, 8)
    assert "behind its end" in cut.notes[0]


def test_case_14_an_orientation_before_the_break_holds():
    found = decode(encoded(noise(16, 8), "JPEG", exif=broken_exif(orientation=6)))
    assert found.image.size == (16, 8)
    assert "broken EXIF" in found.notes[0]


def test_case_14_the_policy_is_part_of_the_fingerprint():
    assert fingerprint("apply") != fingerprint("ignore")
    assert fingerprint() == fingerprint("apply")
    assert re.match(r"decode \d+: ", fingerprint())
    for call in (fingerprint, lambda word: decode(b"", orientation=word)):
        with pytest.raises(UsageError):
            call("turn")


def test_case_15_alpha_is_composited_on_white():
    rgba = np.array([[[200, 100, 0, 0], [200, 100, 0, 255], [200, 100, 0, 51]]], np.uint8)
    expected = [[[255, 255, 255], [200, 100, 0], [244, 224, 204]]]  # c·a + 255·(1 − a), a = 0.2
    assert pixels(encoded(rgba, "PNG")).tolist() == expected
    assert pixels(encoded(rgba, "TIFF")).tolist() == expected
    assert pixels(rgba).tolist() == expected
    grey = np.array([[[100, 0], [100, 255], [100, 51]]], np.uint8)
    assert pixels(encoded(Image.fromarray(grey), "PNG")).tolist() == [[[255] * 3, [100] * 3, [224] * 3]]


@pytest.mark.parametrize("kind", ["PNG", "GIF"])
def test_case_15_the_transparent_colour_of_a_palette_is_white(kind: str):
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 40, 50, 60])
    image.putdata([0, 1])
    assert pixels(encoded(image, kind)).tolist() == [[[10, 20, 30], [40, 50, 60]]]
    assert pixels(encoded(image, kind, transparency=1)).tolist() == [[[10, 20, 30], [255, 255, 255]]]
    if kind == "PNG":
        assert pixels(encoded(image, kind, transparency=b"\x33\xff")).tolist() == [[[206, 208, 210], [40, 50, 60]]]


def test_case_15_one_transparent_colour_of_rgb_and_grey_is_white():
    rgb = np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8)
    assert pixels(encoded(rgb, transparency=(4, 5, 6))).tolist() == [[[1, 2, 3], [255] * 3]]
    assert pixels(encoded(rgb[..., 0], transparency=4)).tolist() == [[[1] * 3, [255] * 3]]
    wide = np.array([[0x0102, 0x0103]], np.uint16)
    assert pixels(encoded(wide, transparency=0x0103)).tolist() == [[[1] * 3, [255] * 3]]
    two_bits = png(4, 1, 2, 0, b"\0" + bytes([0b00011011]), chunk(b"tRNS", b"\0\1"))
    assert pixels(two_bits)[0, :, 0].tolist() == [0, 255, 170, 255]
    wide_colours = np.array([[[256, 0, 0], [0, 256, 0]]], ">u2").tobytes()
    with pytest.raises(Unreadable, match="16-bit colour"):
        decode(png(2, 1, 16, 2, b"\0" + wide_colours, chunk(b"tRNS", struct.pack(">HHH", 256, 0, 0))))


@pytest.mark.parametrize("order", ["<u2", ">u2"])
def test_case_15_16_bit_grey_is_scaled_and_not_clipped(order: str):
    wide = np.array([[0, 255, 256, 32768, 65535]], order)
    expected = [0, 0, 1, 128, 255]
    for raw in (encoded(Image.fromarray(wide), "TIFF"), encoded(Image.fromarray(wide.astype("<u2")), "PNG"), wide):
        assert pixels(raw)[0, :, 0].tolist() == expected
    grey_map = b"P5 5 1 65535\n" + wide.astype(">u2").tobytes()
    assert Image.open(io.BytesIO(grey_map)).mode == "I"
    assert pixels(grey_map)[0, :, 0].tolist() == expected


def test_case_15_16_bit_colour_is_scaled_alike():
    wide = np.array([[[0, 256, 65535]]], np.uint16)
    assert pixels(png(1, 1, 16, 2, b"\0" + wide.astype(">u2").tobytes())).tolist() == [[[0, 1, 255]]]
    assert pixels(wide).tolist() == [[[0, 1, 255]]]


def test_case_15_pixels_whose_range_is_not_known_are_refused():
    for array in (np.zeros((2, 2), np.float32), np.zeros((2, 2), np.int32)):
        with pytest.raises(Unreadable, match="range is not known"):
            decode(encoded(Image.fromarray(array), "TIFF"))


def test_case_15_white_is_0_in_some_16_bit_tiffs():
    raw = encoded(Image.fromarray(np.array([[0, 65535]], np.uint16)), "TIFF", tiffinfo={262: 0})
    assert Image.open(io.BytesIO(raw)).tag_v2[262] == 0
    assert pixels(raw)[0, :, 0].tolist() == [255, 0]


def test_case_15_cmyk_and_grey():
    cmyk = Image.new("CMYK", (8, 8), (255, 0, 0, 0))
    assert pixels(encoded(cmyk, "TIFF"))[0, 0].tolist() == [0, 255, 255]
    assert np.abs(pixels(encoded(cmyk, "JPEG"))[0, 0].astype(int) - [0, 255, 255]).max() <= 2
    assert pixels(encoded(Image.new("L", (2, 2), 77), "PNG")).tolist() == [[[77] * 3] * 2] * 2
    assert pixels(encoded(Image.new("1", (1, 1), 1), "PNG")).tolist() == [[[255] * 3]]


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF"])
def test_case_15_the_first_frame_of_an_animation(kind: str):
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "lime", "blue")]
    options = {"lossless": True} if kind == "WEBP" else {}
    raw = encoded(frames[0], kind, save_all=True, append_images=frames[1:], **options)
    assert Image.open(io.BytesIO(raw)).n_frames == 3
    assert pixels(raw)[0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize("action", ["error", "ignore"])
def test_case_15_a_decompression_bomb_is_an_error_whatever_warnings_do(action: str):
    for side in (9_460, 15_000):  # Pillow only warns of the first
        raw = encoded(Image.new("1", (side, side)), "PNG")
        with warnings.catch_warnings():
            warnings.simplefilter(action)  # type: ignore[arg-type]
            before = list(warnings.filters)
            with pytest.raises(Unreadable, match="decompression bomb"):
                decode(raw)
            assert warnings.filters == before
    assert side * side > 2 * module.MOST_PIXELS > 9_460**2 > module.MOST_PIXELS


def test_arrays_of_every_known_shape():
    grey, colours = noise(3, 4, channels=1), noise(3, 4)
    assert np.array_equal(pixels(grey), np.repeat(grey[..., None], 3, axis=2))
    assert np.array_equal(pixels(grey[..., None]), pixels(grey))
    assert np.array_equal(pixels(colours), colours)
    assert np.array_equal(pixels(colours[::-1]), colours[::-1])
    assert np.array_equal(pixels(noise(1, 4, channels=1)), np.repeat(noise(1, 4, channels=1)[..., None], 3, axis=2))


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.zeros((3, 32, 32), np.uint8), "channels may come first"),
        (np.zeros((4, 4, 2), np.uint8), "shape"),
        (np.zeros((0, 4, 3), np.uint8), "shape"),
        (np.zeros(4, np.uint8), "shape"),
        (np.zeros((2, 4, 4, 3), np.uint8), "shape"),
        (np.zeros((4, 4, 3), np.float32), "float32"),
        (np.zeros((4, 4), bool), "bool"),
        (np.zeros((4, 4), np.int64), "int64"),
    ],
)
def test_other_arrays_are_refused(array: np.ndarray, reason: str):
    with pytest.raises(Unreadable, match=reason):
        decode(array)


def test_a_plain_jpeg_is_not_copied(monkeypatch: pytest.MonkeyPatch):
    raw = encoded(noise(), "JPEG")

    def refuse(*_: object) -> None:
        raise AssertionError("copied")

    for name in ("convert", "copy", "transpose", "draft"):
        monkeypatch.setattr(Image.Image, name, refuse)
    assert decode(raw).image.size == (8, 8)


def test_a_decoded_image_holds_no_file_and_can_be_pickled():
    image = decode(encoded(noise(), "JPEG")).image
    assert image.fp is None
    assert np.array_equal(np.asarray(pickle.loads(pickle.dumps(image))), np.asarray(image))


def test_threads_decode_as_one_does():
    kinds = (("JPEG", {}), ("PNG", {"exif": exif(6)}))
    raws = [encoded(noise(32, 32, seed), kind, **more) for seed in range(20) for kind, more in kinds]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(pixels, raws * 5))
    assert all(np.array_equal(one, pixels(raw)) for one, raw in zip(found, raws * 5, strict=True))


def test_real_photographs(shared_data: Path):
    files = sorted((shared_data / "imagenet-sample").glob("*/*.JPEG"))
    modes = set()
    for file in files[::10]:
        with Image.open(file) as image:
            modes.add(image.mode)
            expected = np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
        assert np.array_equal(pixels(file.read_bytes()), expected)
    assert "RGB" in modes
