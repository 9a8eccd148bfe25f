"""Files that cannot be read end in one clear line."""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exam_files import LABELS, refusal, write_csv, write_folder

from resit.data import arrays, load, load_accuracies, load_predictions, tables
from resit.data.doctor import examine
from resit.errors import InputError, UsageError

GIB = 2**30


def sparse(path: Path, head: bytes = b"", size: int = 3 * GIB) -> None:
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)


def truncated(path: Path, content: Callable[[Path], object]) -> None:
    content(path)
    path.write_bytes(path.read_bytes()[:-20])


BAD = {
    "empty.json": (lambda p: p.write_bytes(b""), "empty file"),
    "binary.json": (lambda p: p.write_bytes(bytes(range(256)) * 8), r"binary data under a \.json name"),
    "image.json": (lambda p: p.write_bytes(b"\x89PNG\r\n\x1a\n\0\0"), r"true ending \(\.png\)"),
    "cut.json": (lambda p: p.write_text("[1, 2, "), "not valid JSON: .* line 1"),
    "deep.json": (lambda p: p.write_text("[" * 100_000), "cannot be read as json|not valid JSON"),
    "number.json": (lambda p: p.write_text("5"), "JSON that is not a list with an item for each example"),
    "latin.json": (lambda p: p.write_bytes('["caf\xe9"]'.encode("latin-1")), "text that is not UTF-8"),
    "latin.csv": (lambda p: p.write_bytes("id,pred\ncaf\xe9,1\n".encode("latin-1")), "text that is not UTF-8"),
    "ragged.csv": (lambda p: p.write_text("id,pred\na,1\nb,2,3\n"), "cannot be read as csv"),
    "headonly.csv": (lambda p: p.write_text("id,pred\n"), "a table without rows"),
    "nonsense.npy": (lambda p: p.write_bytes(b"nonsense" * 10), "cannot be read as npy"),
    "cut.npy": (lambda p: truncated(p, lambda q: np.save(q, np.arange(100))), "cannot be read as npy"),
    "cube.npy": (lambda p: np.save(p, np.zeros((6, 2, 2), int)), r"an array of shape \(6, 2, 2\)"),
    "dates.npy": (lambda p: np.save(p, np.zeros(6, "M8[D]")), "an array of datetime64"),
    "cut.npz": (lambda p: truncated(p, lambda q: np.savez(q, a=np.arange(100))), "cannot be read as npz"),
    "cut.parquet": (
        lambda p: truncated(p, lambda q: pq.write_table(pa.table({"pred": LABELS}), q)),
        "cannot be read as parquet",
    ),
    "huge.json": (sparse, r"binary data under a \.json name"),
    "huge.csv": (sparse, r"binary data under a \.csv name"),
    "huge.npy": (sparse, "cannot be read as npy"),
    "huge.parquet": (sparse, "cannot be read as parquet"),
    "long.json": (lambda p: sparse(p, b"[" + b"1, " * 500), r"3\.0 GiB of json, the limit is 256 MiB"),
    "long.csv": (lambda p: sparse(p, b"id,pred\n" + b"a,1\n" * 500), r"3\.0 GiB of csv, the limit is 2048 MiB"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused(tmp_path: Path, name: str):
    make, message = BAD[name]
    folder = write_folder(tmp_path, {})
    make(folder / name)
    error = refusal(lambda: load_predictions(folder), InputError)
    assert error.where.endswith(name)
    assert error.fix
    [finding] = examine(folder / name, labels=LABELS)
    assert finding.kind == "unreadable"
    assert finding.error
    assert "\n" not in finding.error
    with pytest.raises(InputError, match=message):
        raise error


def test_a_huge_array_of_another_length_is_refused_by_its_header(tmp_path: Path):
    folder = write_folder(tmp_path, {})
    np.lib.format.open_memmap(folder / "huge.npy", "w+", np.float32, (GIB // 1000, 750))
    with pytest.raises(InputError, match=f"{GIB // 1000} answers, but 6 labels"):
        load_predictions(folder)


def test_pickles_are_never_loaded(tmp_path: Path):
    folder = write_folder(tmp_path, {})
    np.save(folder / "objects.npy", np.array([{}], object), allow_pickle=True)
    assert "objects" in str(refusal(lambda: load_predictions(folder), InputError)).lower()
    (folder / "objects.npy").unlink()
    np.savez(folder / "objects.npz", a=np.array([{}], object))
    assert "allow_pickle" in str(refusal(lambda: load_predictions(folder), InputError))
    (folder / "objects.npz").unlink()
    (folder / "plain.npy").write_bytes(pickle.dumps(LABELS))
    refusal(lambda: load_predictions(folder), InputError)


def test_an_empty_folder(tmp_path: Path):
    with pytest.raises(InputError, match=r"an empty folder\. One file a model is needed"):
        load_predictions(tmp_path)


def test_a_folder_of_other_files(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match="no files of answers"):
        load_predictions(tmp_path)


@pytest.mark.parametrize("place", [".", "n01440764"])
def test_a_folder_of_images(tmp_path: Path, place: str):
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / place / "x.JPEG").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(InputError, match="a folder of images; predictions are needed here"):
        load_predictions(tmp_path)


def test_no_such_path(tmp_path: Path):
    for read in (load, load_predictions, load_accuracies):
        for name in ("nothing", "nothing.csv", "nothing.csv::v4"):
            assert "no such file or folder" in str(refusal(lambda read=read, name=name: read(tmp_path / name), InputError))


@pytest.fixture
def as_nobody() -> Iterator[Callable[[], None]]:
    """Give up root's right to read everything, where the tests run as root, until the test ends."""
    before = os.geteuid()
    yield lambda: os.seteuid(65534) if before == 0 else None
    if before == 0:
        os.seteuid(0)


@pytest.mark.parametrize("locked", ["exam/good.json", "exam", "exam_labels.npy", "."])
def test_unreadable_permissions(as_nobody: Callable[[], None], locked: str):
    with tempfile.TemporaryDirectory() as root:  # pytest's own folders cannot be entered by others
        folder = write_folder(Path(root), {"good": LABELS})
        for path in (Path(root), folder):
            path.chmod(0o755)
        load(folder)  # so that nothing is imported without rights
        place = Path(root) / locked
        place.chmod(0)
        as_nobody()
        for read in (load, load_predictions, lambda path: examine(path)[0]):
            if read in (load, load_predictions):
                message = str(refusal(lambda read=read: read(folder), InputError))
            else:
                message = read(folder).error
            assert "permission denied. Make it readable" in message
        if os.getuid() == 0:
            os.seteuid(0)
        place.chmod(0o755)


def test_a_permission_that_is_refused_while_reading(folder: Path, monkeypatch: pytest.MonkeyPatch):
    opened = Path.open

    def refuse(path: Path, *args: Any, **options: Any) -> Any:
        if path.name == "good.json":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"good\.json: permission denied\. Make it readable"):
        load_predictions(folder)


@pytest.mark.parametrize("target", ["gone.json", "loop.json"])
def test_links_that_lead_nowhere(folder: Path, target: str):
    (folder / "loop.json").symlink_to(folder / target)
    error = refusal(lambda: load_predictions(folder), InputError)
    assert error.where.endswith("loop.json")
    assert ("no such file" in error.what) == (target == "gone.json")
    assert ("a link that leads back to itself" in error.what) == (target == "loop.json")


def test_a_folder_that_links_to_itself_is_not_followed(folder: Path):
    (folder / "again").symlink_to(folder)
    assert len(load_predictions(folder).models) == 2
    loop = folder.parent / "loop"
    loop.symlink_to(loop)
    for read in (load, load_predictions, load_accuracies):
        assert "leads back to itself" in str(refusal(lambda read=read: read(loop), InputError))


def test_a_pipe_is_not_waited_for(folder: Path):
    os.mkfifo(folder.parent / "pipe.json")
    with pytest.raises(InputError, match=r"pipe\.json: not a regular file"):
        load_predictions(folder.parent / "pipe.json", labels=LABELS)


def test_a_folder_of_folders_names_them(tmp_path: Path):
    write_folder(tmp_path, {"good": LABELS}, name="v4")
    write_folder(tmp_path, {"good": LABELS}, name="v6")
    with pytest.raises(InputError, match=r"no files of answers\. Give one of its folders: v4, v6"):
        load_predictions(tmp_path)


def test_a_folder_of_accuracy_tables(tmp_path: Path):
    write_csv(tmp_path / "imagenet.csv", "model,img_size,top1,top5", ["a,224,70.1,90.2", "b,224,72.1,91.2"])
    with pytest.raises(InputError, match=r"a folder of accuracy tables, such as imagenet\.csv.*one by one"):
        load_predictions(tmp_path)


def test_an_archive_that_unpacks_to_more_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = write_folder(tmp_path, {})
    np.savez_compressed(folder / "bomb.npz", a=np.zeros(2**21))
    assert (folder / "bomb.npz").stat().st_size < 2**16
    monkeypatch.setattr(arrays, "LARGEST_ARCHIVE", 2**20)
    with pytest.raises(InputError, match=r"bomb\.npz: 16 MiB once unpacked"):
        load_predictions(folder)


def test_a_parquet_file_of_more_rows_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = write_folder(tmp_path, {})
    pq.write_table(pa.table({"pred": pa.array(np.zeros(2**20, np.int8))}), folder / "bomb.parquet")
    monkeypatch.setattr(tables, "MOST_CELLS", 2**16)
    with pytest.raises(InputError, match=r"bomb\.parquet: 1,048,576 rows of 1 columns"):
        load_predictions(folder)


def test_one_endless_text_does_not_fill_the_memory(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=[0] * 100_000)
    write_csv(folder / "a.csv", "id,pred", [f"{i},0" for i in range(99_999)] + [f"{'x' * 100_000},0"])
    with pytest.raises(InputError, match=r"a\.csv: a text of 100,000 characters among 100,000"):
        load_predictions(folder)


def test_case_11_hidden_files_and_folders_are_ignored_with_a_notice(folder: Path):
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".good.json.123.part").write_text("[1,")
    (folder / "README.md").write_text("about")
    predictions = load_predictions(folder)
    assert len(predictions.models) == 2
    hidden, others = predictions.notices
    assert hidden.code == "hidden-ignored"
    assert ".ipynb_checkpoints" in hidden.message
    assert others.code == "files-ignored"
    assert "README.md" in others.message


@pytest.mark.parametrize(
    ("scores", "rows"),
    [([[np.nan, 1.5, 0.2], [0.1, 0.7, 0.2]], 1), ([[0.2, np.inf, 0.1], [-np.inf, 0.5, 0.1]], 2)],
)
def test_case_21_scores_that_are_not_finite_are_wrong_and_reported(tmp_path: Path, scores: list[list[float]], rows: int):
    folder = write_folder(tmp_path, {}, labels=[1, 1])
    np.save(folder / "model.npy", np.array(scores))
    predictions = load_predictions(folder)
    assert predictions.correct().sum() == 2 - rows
    assert (predictions.answers[0, :rows] == -1).all()
    [notice] = predictions.notices
    assert notice.code == "invalid-scores"
    assert notice.message.startswith(f"{rows} of 2 rows of scores hold NaN or infinity")


def test_missing_answers_are_wrong_and_reported(tmp_path: Path):
    predictions = load_predictions(write_folder(tmp_path, {"model": [0, None, [2, 1], 0, 1, -1]}))
    assert predictions.correct().tolist() == [[True, False, True, True, True, False]]
    assert "2 of 6 examples have no valid answer" in predictions.notices[0].message


def test_a_column_name_twice(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "id,pred,pred", ["a,1,1"])
    with pytest.raises(InputError, match="column 'pred' is there more than once"):
        load_predictions(path, labels=[1])


def test_answer_columns_that_skip_a_rank(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "id,top1,top3", ["a,1,1"])
    with pytest.raises(InputError, match="skip or repeat a rank"):
        load_predictions(path, labels=[1])


def test_half_of_a_choice(folder: Path):
    with pytest.raises(UsageError, match="half of FILE::SET is missing"):
        load(f"{folder}x::")


def test_other_kinds_of_labels(folder: Path):
    with pytest.raises(InputError, match="labels of type int"):
        load_predictions(folder, labels=3)
    (folder.parent / "truth.json").write_text(json.dumps("abc"))
    with pytest.raises(InputError, match="JSON that is not a list"):
        load_predictions(folder, labels=folder.parent / "truth.json")
