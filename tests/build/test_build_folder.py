"""A build's folder: made whole or not at all, images by their digest, the store where the configuration says."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from extras import needs
from resit.build.clock import now
from resit.build.config import BuildConfig
from resit.build.folder import BuildFolder, ending_of, write_whole
from resit.errors import InputError, OutputError
from store_rows import images

needs("sqlalchemy", "alembic", "psycopg")

CONFIG = BuildConfig.model_validate({"name": "mytest", "per_class": 2, "original": {"source": "test.parquet"}})


def picture(kind: str = "PNG", mode: str = "RGB", seed: int = 0) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(file, kind)
    return file.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> BuildFolder:
    return BuildFolder.create(tmp_path / "build", CONFIG)


def test_a_build_has_all_its_parts_and_opens_again(folder: BuildFolder):
    names = {path.name for path in folder.path.iterdir()}
    assert names == {"build.yaml", "build.schema.json", "build.sqlite", "images", "exports"}
    again = BuildFolder.open(folder.path)
    assert again == folder
    assert BuildFolder.open(folder.path / "build.yaml") == folder
    with again.store() as store:
        assert store.images().num_rows == 0


def test_a_second_build_in_a_folder_is_refused_and_the_first_stays(folder: BuildFolder):
    with folder.store() as store:
        store.add_images(images("a"))
    before = (folder.path / "build.yaml").read_bytes()
    with pytest.raises(OutputError, match=r"build.yaml: a build already"):
        BuildFolder.create(folder.path, CONFIG.model_copy(update={"name": "other"}))
    assert (folder.path / "build.yaml").read_bytes() == before
    with folder.store() as store:
        assert store.images().num_rows == 1


def test_making_a_build_goes_on_where_it_was_interrupted(folder: BuildFolder):
    # The configuration is written last.
    (folder.path / "build.yaml").unlink()
    with pytest.raises(InputError, match=r"no build here: build.yaml is missing.*resit build init"):
        BuildFolder.open(folder.path)
    assert BuildFolder.open(BuildFolder.create(folder.path, CONFIG).path) == folder


def test_what_is_no_folder_of_a_build_is_told(tmp_path: Path):
    with pytest.raises(InputError, match="no build here"):
        BuildFolder.open(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        BuildFolder.create(tmp_path / "file", CONFIG)


def test_a_build_whose_database_is_gone_is_told(folder: BuildFolder):
    (folder.path / "build.sqlite").unlink()
    with pytest.raises(InputError, match=r"build.sqlite: no such file"):
        folder.store()


def test_the_database_may_be_another_file_of_the_folder_or_on_a_server(tmp_path: Path, postgresql: str):
    from databases import schema_of_its_own

    for at, database in enumerate(("events.db", schema_of_its_own(postgresql))):
        config = CONFIG.model_copy(update={"database": database})
        made = BuildFolder.create(tmp_path / str(at), config)
        with made.store() as store:
            store.add_images(images("a"))
        with BuildFolder.open(made.path).store() as store:
            assert store.images().num_rows == 1
        assert not (made.path / "build.sqlite").exists()
    assert (tmp_path / "0" / "events.db").exists()


def test_an_image_lies_under_the_digest_of_its_bytes(folder: BuildFolder):
    data = picture()
    digest = folder.put_image(data)
    assert digest == hashlib.sha256(data).hexdigest()
    path = folder.path / "images" / digest[:2] / f"{digest}.png"
    assert path.read_bytes() == data
    assert folder.image_path(digest, "png") == folder.image_path(digest, ".png") == folder.find_image(digest) == path


def test_an_image_that_is_there_stays_and_an_empty_one_is_written_again(folder: BuildFolder):
    data = picture()
    path = folder.find_image(folder.put_image(data))
    os.utime(path, (1, 1))
    folder.put_image(data)
    assert path.stat().st_mtime == 1
    path.write_bytes(b"")
    folder.put_image(data)
    assert path.read_bytes() == data


def test_an_image_that_is_missing_is_told(folder: BuildFolder):
    with pytest.raises(InputError, match=f"no image {'0' * 64}"):
        folder.find_image("0" * 64)


@pytest.mark.parametrize(
    ("kind", "mode", "ending"),
    [
        *(("JPEG", "RGB", "jpg"), ("PNG", "RGBA", "png"), ("GIF", "P", "gif"), ("BMP", "RGB", "bmp"), ("TIFF", "RGB", "tif")),
        *(
            ("WEBP", "RGB", "webp"),
            ("AVIF", "RGB", "avif"),
            ("JPEG2000", "RGB", "jp2"),
            ("PPM", "RGB", "ppm"),
            ("PPM", "L", "ppm"),
        ),
    ],
)
def test_case_12_the_ending_follows_the_content(kind: str, mode: str, ending: str):
    assert ending_of(picture(kind, mode)) == ending


@pytest.mark.parametrize("data", [b"", b"<!doctype html><html>", b"RIFF....WAVE", b"%PDF-1.7", b"P7\n"])
def test_what_is_no_image_is_not_kept(folder: BuildFolder, data: bytes):
    with pytest.raises(InputError, match=f"no image: {len(data)} bytes"):
        folder.put_image(data)
    assert list((folder.path / "images").rglob("*")) == []


def test_threads_that_keep_the_same_image_at_once_keep_it_once(folder: BuildFolder):
    data = [picture(seed=n % 3) for n in range(60)]
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(folder.put_image, data))
    assert {path.stem for path in (folder.path / "images").rglob("*.*")} == digests
    assert len(digests) == 3


def test_case_36_a_file_that_cannot_be_written_leaves_the_one_before(tmp_path: Path):
    path = tmp_path / "file"
    write_whole(path, b"before")
    code = (
        "import resource, signal, sys; from pathlib import Path; from resit.build.folder import write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_whole(Path(sys.argv[1]), b'x' * 10_000)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert f"OutputError: {path}: cannot be written: File too large" in done.stderr
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("file", b"before")]


def test_the_clock_tells_utc_in_the_form_that_the_store_takes():
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", now())
    assert abs((datetime.fromisoformat(now()) - datetime.now(UTC)).total_seconds()) < 60
