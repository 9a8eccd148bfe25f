"""Images wherever they lie: from any thread, after pickling, and with a fingerprint that is cheap and tells them apart."""

from __future__ import annotations

import functools
import http.server
import io
import os
import pickle
import random
import shutil
import tarfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exam_files import refusal
from image_files import encoded, keep_cache_in, noise, numbered, write_image

from extras import needs
from resit.data.decode import decode
from resit.data.image_sources import ArrayImages, DatasetImages, FileImages, ParquetImages, TarImages, TorchvisionImages
from resit.data.image_sources import parquet as parquet_module
from resit.data.image_sources.tar import index_tar
from resit.data.images import Images
from resit.errors import InputError

N = 24


def files(root: Path) -> FileImages:
    for index in range(N):
        write_image(root / "images" / f"{index:02}.png", index)
    return FileImages([f"images/{index:02}.png" for index in range(N)], root)


def addresses(root: Path) -> FileImages:
    fsspec = needs("fsspec")
    system = fsspec.filesystem("memory")
    for index in range(N):
        system.pipe_file(f"/{root.name}/{index}.png", numbered(index))
    return FileImages([f"{index}.png" for index in range(N)], f"memory://{root.name}")


def write_parquet(root: Path, *, binary: bool = False, files: int = 3, group: int = 4) -> list[Path]:
    root.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, rows in enumerate(np.array_split(np.arange(N), files)):
        images: list[Any] = [numbered(int(row)) for row in rows]
        if not binary:
            images = [{"bytes": one, "path": None} for one in images]
        paths.append(root / f"part-{number}.parquet")
        pq.write_table(pa.table({"image": images, "label": rows}), paths[-1], row_group_size=group)
    return paths


def in_parquet(root: Path) -> ParquetImages:
    return ParquetImages(write_parquet(root), "image")


def in_binary_parquet(root: Path) -> ParquetImages:
    return ParquetImages(write_parquet(root, binary=True, files=1, group=100), "image")


def in_tar(root: Path) -> TarImages:
    root.mkdir(exist_ok=True)
    paths, members = [], []
    for shard in range(3):
        paths.append(root / f"{shard}.tar")
        with tarfile.open(paths[-1], "w") as archive:
            for index in range(shard * 8, shard * 8 + 8):
                raw = numbered(index)
                item = tarfile.TarInfo(f"{index}.png")
                item.size = len(raw)
                archive.addfile(item, io.BytesIO(raw))
        members += index_tar(paths[-1], shard)
    return TarImages(paths, members)


def in_array(root: Path) -> ArrayImages:
    root.mkdir(exist_ok=True)
    np.save(root / "images.npy", np.stack([noise(6, 5, index) for index in range(N)]))
    return ArrayImages(root / "images.npy")


def in_dataset(root: Path) -> DatasetImages:
    needs("datasets")
    write_parquet(root, files=1)
    return DatasetImages(str(root), None, "train", "image")


def in_torchvision(root: Path) -> TorchvisionImages:
    needs("torchvision")
    for index in range(N):
        write_image(root / "class" / f"{index:02}.png", index)
    return TorchvisionImages("ImageFolder", {"root": str(root)})


KINDS: dict[str, Callable[[Path], Images]] = {
    made.__name__: made
    for made in (files, addresses, in_parquet, in_binary_parquet, in_tar, in_array, in_dataset, in_torchvision)
}
every = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def source(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Images:
    if kind == "in_dataset":
        keep_cache_in(tmp_path, monkeypatch)
    return KINDS[kind](tmp_path / kind)


def pixels(raw: object) -> np.ndarray:
    return np.asarray(decode(raw).image)


@every
def test_images_are_as_they_were_stored(source: Images):
    assert len(source) == N
    for index in range(N):
        assert np.array_equal(pixels(source[index]), noise(6, 5, index))
        assert source.where(index)
    assert len({source.where(index) for index in range(N)}) == N
    with pytest.raises(IndexError):
        source[N]


@every
def test_eight_threads_read_what_one_reads(source: Images):
    rows = random.Random(0).choices(range(N), k=400)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(source.__getitem__, rows))
    for row, raw in zip(rows, found, strict=True):
        assert np.array_equal(pixels(raw), noise(6, 5, row))


@every
def test_a_pickled_source_opens_its_files_again(source: Images):
    source[3]
    again = pickle.loads(pickle.dumps(source))
    assert len(again) == N
    assert np.array_equal(pixels(again[N - 1]), noise(6, 5, N - 1))
    assert again.fingerprint == source.fingerprint
    assert len(pickle.dumps(source)) < 20_000


@every
def test_the_same_images_elsewhere_have_the_same_fingerprint(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if kind == "in_dataset":
        keep_cache_in(tmp_path, monkeypatch)
    first, second = (KINDS[kind](tmp_path / name) for name in ("one", "another"))
    assert first.fingerprint == second.fingerprint


def test_fingerprints_differ_between_kinds(tmp_path: Path):
    found = [made(tmp_path / name).fingerprint for name, made in KINDS.items() if not name.startswith("in_dataset")]
    assert len(set(found)) == len(found)


def test_a_file_of_another_size_changes_the_fingerprint(tmp_path: Path):
    before = files(tmp_path / "a").fingerprint
    source = files(tmp_path / "b")
    (tmp_path / "b" / "images" / "05.png").write_bytes(numbered(5) + b"0")
    assert source.fingerprint != before
    fsspec = needs("fsspec")
    before = addresses(tmp_path / "c").fingerprint
    source = addresses(tmp_path / "d")
    fsspec.filesystem("memory").pipe_file("/d/5.png", numbered(5) + b"0")
    assert source.fingerprint != before


def test_the_time_of_a_file_does_not_change_the_fingerprint(tmp_path: Path):
    before = [files(tmp_path / "a").fingerprint, in_parquet(tmp_path / "b").fingerprint]
    for path in tmp_path.rglob("*.*"):
        os.utime(path, (1, 1))
    assert before == [files(tmp_path / "a").fingerprint, ParquetImages(sorted((tmp_path / "b").iterdir()), "image").fingerprint]


def test_a_full_path_below_the_root_counts_as_relative(tmp_path: Path):
    relative = files(tmp_path)
    full = FileImages([str(tmp_path / name) for name in relative.names], tmp_path)
    assert full.fingerprint == relative.fingerprint
    assert full[4] == relative[4]


def test_paths_alone_are_relative_to_the_folder_that_holds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    expected = files(tmp_path)
    full = FileImages([tmp_path / name for name in expected.names])
    assert full.names == tuple(name.removeprefix("images/") for name in expected.names)
    monkeypatch.chdir(tmp_path)
    near = FileImages(expected.names)
    monkeypatch.chdir("/")
    assert near.fingerprint == full.fingerprint
    assert near[3] == full[3] == expected[3]


def test_what_is_missing_is_an_os_error(tmp_path: Path):
    source = files(tmp_path)
    (tmp_path / "images" / "07.png").unlink()
    with pytest.raises(OSError, match="07"):
        source[7]
    assert source.sizes[7] == -1
    with pytest.raises(OSError, match=r"null|embedded"):
        FileImages(["a\0b"], tmp_path)[0]
    with pytest.raises(OSError, match="directory"):
        FileImages(["images"], tmp_path)[0]
    needs("fsspec")
    with pytest.raises(OSError, match="gone"):
        FileImages(["memory://gone.png"])[0]


def test_a_library_that_is_missing_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    refused = refusal(lambda: FileImages(["s3://bucket/a.png"]), InputError)
    assert "pip install" in refused.fix
    needs_no_library = FileImages(["a.png"])
    assert len(needs_no_library) == 1


def test_images_at_http_addresses(tmp_path: Path):
    needs("fsspec")
    needs("aiohttp")
    write_image(tmp_path / "a b.png", 3)
    handler = functools.partial(QuietHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_port}"
        source = FileImages([f"{root}/a%20b.png", f"{root}/gone.png"])
        assert source[0] == numbered(3)
        with pytest.raises(OSError, match="gone"):
            source[1]
        assert source.sizes == [-1, -1]
        server.shutdown()
    with pytest.raises(OSError, match=r"."):
        source[0]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


def test_addresses_of_an_unknown_kind_are_refused():
    needs("fsspec")
    refusal(lambda: FileImages(["gopher9://a/b.png"]), InputError)


def test_parquet_reads_large_groups_in_blocks_and_keeps_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    paths = write_parquet(tmp_path, files=1, group=100)
    size = sum(len(numbered(row)) for row in range(N))
    monkeypatch.setattr(parquet_module, "BLOCK", size // 8)
    monkeypatch.setattr(parquet_module, "KEPT", size // 4)
    source = ParquetImages(paths, "image")
    rows = [*range(N), *reversed(range(N)), *random.Random(1).choices(range(N), k=50)]
    for row in rows:
        assert source[row] == numbered(row)
        assert sum(block.nbytes for block in source._blocks.values()) <= size // 4
    assert len(source._blocks) > 1
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(source.__getitem__, rows)) == [numbered(row) for row in rows]


def test_parquet_reads_the_path_where_there_are_no_bytes(tmp_path: Path):
    write_image(tmp_path / "images" / "a.png", 3)
    images = [{"bytes": None, "path": "images/a.png"}, {"bytes": None, "path": None}, None, {"bytes": None, "path": "gone.png"}]
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    pq.write_table(pa.table({"image": pa.array(images, kind)}), tmp_path / "a.parquet")
    source = ParquetImages([tmp_path / "a.parquet"], "image")
    assert source[0] == numbered(3)
    for row in (1, 2, 3):
        with pytest.raises(OSError, match=r"no image|gone"):
            source[row]
    assert source.where(2).endswith("a.parquet (row 2)")


def test_parquet_names_the_row_in_its_file(tmp_path: Path):
    source = in_parquet(tmp_path)
    assert source.where(9).endswith("part-1.parquet (row 1)")


def test_a_parquet_file_that_is_cut_off_is_an_error(tmp_path: Path):
    path = write_parquet(tmp_path, files=1)[0]
    raw = path.read_bytes()
    path.write_bytes(raw[:-10])
    refusal(lambda: ParquetImages([path], "image"), InputError)
    path.write_bytes(raw)
    source = ParquetImages([path], "image")
    path.write_bytes(raw[:4] + b"\xff" * 200 + raw[204:])
    with pytest.raises(OSError, match=r"."):
        source[0]
    path.write_bytes(raw)
    assert source[0] == numbered(0)


def test_a_parquet_file_of_another_size_changes_the_fingerprint(tmp_path: Path):
    before = in_parquet(tmp_path / "a").fingerprint
    paths = write_parquet(tmp_path / "b")
    shutil.copy(write_parquet(tmp_path / "c", group=3)[1], paths[1])
    assert ParquetImages(paths, "image").fingerprint != before


def test_a_packed_or_broken_tar_file_is_refused(tmp_path: Path):
    in_tar(tmp_path)
    raw = (tmp_path / "0.tar").read_bytes()
    with tarfile.open(tmp_path / "packed.tar", "w:gz") as archive:
        archive.add(tmp_path / "0.tar", "0.png")
    assert "gunzip" in refusal(lambda: index_tar(tmp_path / "packed.tar"), InputError).fix
    for name, content in (("short.tar", raw[:700]), ("odd.tar", b"hello" * 500)):
        (tmp_path / name).write_bytes(content)
        refusal(lambda name=name: index_tar(tmp_path / name), InputError)


def test_links_in_a_tar_file_are_refused(tmp_path: Path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("b.png")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    refusal(lambda: index_tar(tmp_path / "a.tar"), InputError)


def test_a_tar_file_that_became_shorter_is_an_os_error(tmp_path: Path):
    source = in_tar(tmp_path)
    raw = (tmp_path / "0.tar").read_bytes()
    (tmp_path / "0.tar").write_bytes(raw[: source.members[7].offset + 5])
    assert source[0] == numbered(0)
    with pytest.raises(OSError, match="changed"):
        source[7]


def test_channels_that_come_first_are_refused_unless_told(tmp_path: Path):
    images = np.stack([noise(8, 8, index) for index in range(5)])
    np.save(tmp_path / "first.npy", images.transpose(0, 3, 1, 2))
    assert "channels" in refusal(lambda: ArrayImages(tmp_path / "first.npy"), InputError).fix
    source = ArrayImages(tmp_path / "first.npy", channels="first")
    assert np.array_equal(pixels(source[2]), images[2])
    refusal(lambda: ArrayImages(images, channels="first"), InputError)
    refusal(lambda: ArrayImages(tmp_path / "first.npy", channels="last"), InputError)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 4, 4, 3), np.float32),
        np.zeros((2, 48), np.uint8),
        np.zeros((2, 4, 4, 2), np.uint8),
        np.zeros((0, 4, 4, 3), np.uint8),
        np.zeros((2, 4, 4), np.int64),
        np.zeros((2, 1, 28, 28), np.uint8),
        np.zeros((2, 3, 4, 3), np.uint8),
    ],
)
def test_arrays_that_are_no_images_are_refused(array: np.ndarray):
    refusal(lambda: ArrayImages(array), InputError)


def test_any_changed_byte_of_an_array_changes_its_fingerprint(tmp_path: Path):
    images = np.stack([noise(8, 8, index) for index in range(5)])
    before = ArrayImages(images).fingerprint
    np.save(tmp_path / "a.npy", images)
    assert ArrayImages(tmp_path / "a.npy").fingerprint == before
    assert ArrayImages(np.asfortranarray(images)).fingerprint == before
    assert ArrayImages(images.reshape(5, 16, 4, 3)).fingerprint != before
    images[3, 2, 1, 0] += 1
    assert ArrayImages(images).fingerprint != before


def test_of_a_large_array_blocks_are_read(monkeypatch: pytest.MonkeyPatch):
    from resit.data.image_sources import arrays

    monkeypatch.setattr(arrays, "GIB", 1000)
    monkeypatch.setattr(arrays, "BLOCK", 8)
    monkeypatch.setattr(arrays, "BLOCKS", 4)
    images = np.zeros((100, 8, 8, 3), np.uint8)
    before = ArrayImages(images).fingerprint
    images[-1, -1, -1, -1] = 1
    assert ArrayImages(images).fingerprint != before


def test_arrays_of_grey_are_read(tmp_path: Path):
    np.save(tmp_path / "a.npy", np.full((2, 4, 4), 7, np.uint8))
    assert pixels(ArrayImages(tmp_path / "a.npy")[1])[0, 0].tolist() == [7, 7, 7]


def test_what_is_read_of_an_array_is_a_copy(tmp_path: Path):
    source = in_array(tmp_path / "a")
    raw = source[0]
    raw[:] = 0
    assert source[0].any()


def test_torchvision_gives_bytes_so_that_our_policy_decodes(tmp_path: Path):
    needs("torchvision")
    clear = np.zeros((4, 4, 4), np.uint8)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "a.png").write_bytes(encoded(clear))
    source = TorchvisionImages("ImageFolder", {"root": str(tmp_path)})
    assert source[0] == encoded(clear)
    assert pixels(source[0]).min() == 255
