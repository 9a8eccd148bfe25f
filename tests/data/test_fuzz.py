"""Whatever is in a file, reading it gives data or a ResitError, and what is written is read again."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exam_files import write_csv
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.data import load, load_accuracies, load_model_table, load_predictions
from resit.data.doctor import examine
from resit.data.read_answers import ANSWER_SUFFIXES
from resit.errors import ResitError

LABELS = [0, 1, 2]
SLOW = settings(max_examples=100, deadline=None, derandomize=True)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples, as thousands would take long to remove."""
    return tmp_path_factory.mktemp("scratch")


def npz(path: Path) -> None:
    np.savez(path, a=np.arange(3), ids=np.array(["a", "b", "c"]))


WHOLE: dict[str, Callable[[Path], object]] = {
    ".json": lambda path: path.write_text('{"a": [1, 2], "b": ["x"], "c": null}'),
    ".npy": lambda path: np.save(path, np.arange(6.0).reshape(3, 2)),
    ".npz": npz,
    ".csv": lambda path: path.write_text('model,id,top1,top5\n"a",1,0.5,90%\nb,2,,"1,000"\n'),
    ".tsv": lambda path: path.write_text("id\tpred\na\t1\nb\t2\nc\t[0]\n"),
    ".parquet": lambda path: pq.write_table(pa.table({"id": ["a", "b", "c"], "pred": [[1], [2, 0], None]}), path),
    ".pq": lambda path: pq.write_table(pa.table({"model": ["a", "b"], "top1": [0.5, None]}), path),
}


def read_every_way(path: Path) -> None:
    ways: tuple[Callable[[], Any], ...] = (
        lambda: load(path),
        lambda: load_predictions(path, labels=LABELS),
        lambda: load_predictions(path, labels=["a", "b", "c"]),
        lambda: load_predictions(path.parent / "exam.npy", labels=path),
        lambda: load_accuracies(path, n=100),
        lambda: load_model_table(path),
    )
    np.save(path.parent / "exam.npy", np.array(LABELS))
    for way in ways:
        with contextlib.suppress(ResitError):
            way()
    assert examine(path)[0].path == str(path)


@pytest.mark.parametrize("suffix", ANSWER_SUFFIXES)
@given(content=st.binary(min_size=0, max_size=200))
@SLOW
def test_any_bytes_are_refused_politely(scratch: Path, suffix: str, content: bytes):
    path = scratch / f"file{suffix}"
    path.write_bytes(content)
    read_every_way(path)


@pytest.mark.parametrize("suffix", WHOLE)
@given(data=st.data())
@SLOW
def test_any_damage_to_a_whole_file_is_refused_politely(scratch: Path, suffix: str, data: st.DataObject):
    path = scratch / f"file{suffix}"
    WHOLE[suffix](path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    read_every_way(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(content=JSON)
@SLOW
def test_any_json_is_read_or_refused_politely(scratch: Path, content: Any):
    path = scratch / "file.json"
    path.write_text(json.dumps(content))
    read_every_way(path)


CELLS = st.sampled_from(
    ["", "0", "1", "2", "70.5", "0.9", "90%", "1,000", "-1", "a", "NA", "true", "[0, 1]", "1;2", "9" * 40, '"', "nan"]
)
HEADS = st.sampled_from(
    ["id", "model", "pred", "label", "top1", "top2", "n", "correct", "se_top1", "dataset", "rank", "img_size", "x", ""]
)


@given(head=st.lists(HEADS, min_size=1, max_size=5), data=st.data())
@SLOW
def test_any_table_is_read_or_refused_politely(scratch: Path, head: list[str], data: st.DataObject):
    rows = data.draw(st.lists(st.lists(CELLS, min_size=len(head), max_size=len(head)), max_size=4))
    path = scratch / "file.csv"
    path.write_text("\n".join(",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in [head, *rows]))
    read_every_way(path)


ARRAYS = st.sampled_from(
    [np.int8, np.int64, np.uint64, np.float16, np.float64, np.bool_, np.str_, np.bytes_, np.complex64, "M8[s]"]
)


@given(dtype=ARRAYS, shape=st.lists(st.integers(0, 4), max_size=3), data=st.data())
@SLOW
def test_any_array_is_read_or_refused_politely(scratch: Path, dtype: Any, shape: list[int], data: st.DataObject):
    size = int(np.prod(shape))
    items = st.sampled_from([0, 1, 2, 100, 2**63 - 1, 2.0**60, np.nan, np.inf])
    values = np.array(data.draw(st.lists(items, min_size=size, max_size=size)), float).reshape(shape)
    path = scratch / "file.npy"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of casts that do not fit
        np.save(path, values.astype(dtype))
    read_every_way(path)


@given(data=st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_random_answers_are_the_same_from_every_kind_of_file(scratch: Path, data: st.DataObject):
    n, k = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    classes = st.integers(0, 40_000) | st.integers(0, 9)
    answers = np.array(data.draw(st.lists(st.lists(classes, min_size=k, max_size=k), min_size=n, max_size=n)))
    labels = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    ids = data.draw(
        st.lists(
            st.text("aé模/\\'&= .0", min_size=1, max_size=5).map(lambda text: f"x{text}x"), min_size=n, max_size=n, unique=True
        )
    )
    order = data.draw(st.permutations(range(n)))
    root = scratch
    pq.write_table(pa.table({"id": ids, "label": labels}), root / "exam.parquet")
    folder = root / "exam"
    folder.mkdir(exist_ok=True)
    np.save(folder / "array.npy", answers)
    np.savez(folder / "archive.npz", answers=answers[order], ids=np.array(ids)[order])
    (folder / "list.json").write_text(json.dumps(answers.tolist()))
    (folder / "object.json").write_text(json.dumps({ids[i]: answers[i].tolist() for i in order}))
    head = ",".join(["id", *(f"top{rank + 1}" for rank in range(k))])
    write_csv(folder / "table.csv", head, [",".join([ids[i], *map(str, answers[i])]) for i in order])
    columns = {f"top{rank + 1}": answers[order, rank] for rank in range(k)}
    pq.write_table(pa.table({"id": [ids[i] for i in order], **columns}), folder / "columns.parquet")
    pq.write_table(pa.table({"id": [ids[i] for i in order], "pred": answers[order].tolist()}), folder / "lists.parquet")
    predictions = load_predictions(folder)
    assert len(predictions.models) == 7
    for row in predictions.answers:
        np.testing.assert_array_equal(row, answers)
