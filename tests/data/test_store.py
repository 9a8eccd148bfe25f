"""Our own store: one Parquet file a model that other tools read without us."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from exam_files import refusal
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.data import CORRECTNESS, Benchmark, ClassInfo, ModelId, Predictions, load_predictions, save_predictions
from resit.data.filenames import file_name, model_of
from resit.errors import InputError, OutputError, UsageError

NAMES = [
    "timm/resnet50.a1_in1k",
    "模型",
    "ResNet",
    "resnet",
    "été",
    "a b",
    "labels",
    "con",
    "007",
    "NA",
    "50%",
    "a@b",
    ".hidden",
    "x+y",
]


def example(n: int = 6, k: int = 2, models: tuple[ModelId, ...] = (ModelId("a"), ModelId("b", "224"))) -> Predictions:
    rng = np.random.default_rng(0)
    benchmark = Benchmark(
        name="exam",
        labels=np.array([[i % 3, -1] if i else [0, 2] for i in range(n)], np.int32),
        ids=np.array([f"{i:03d}é" for i in range(n)]),
        classes=tuple(ClassInfo(f"n{i}", "crane") for i in range(3)),
        label_space="three birds",
        version="2",
        groups={"country": np.array(["NA", "DE"] * (n // 2))},
    )
    answers = np.stack([np.stack([rng.permutation(3)[:k] for _ in range(n)]) for _ in models]).astype(np.int16)
    answers[0, 1] = -1
    provenance = {models[0]: {"adapter": "timm", "weights": "sha256:é"}}
    return Predictions(benchmark, models, answers, provenance=provenance)


def assert_same(read: Predictions, written: Predictions) -> None:
    order = [read.models.index(model) for model in written.models]
    assert sorted(read.models) == sorted(written.models)
    np.testing.assert_array_equal(read.answers[order], written.answers)
    np.testing.assert_array_equal(read.depth[order], written.depth)
    np.testing.assert_array_equal(read.benchmark.labels, written.benchmark.labels)
    assert (read.benchmark.ids is None) == (written.benchmark.ids is None)
    for name in ("name", "classes", "label_space", "version", "content_fingerprint", "labels_fingerprint"):
        assert getattr(read.benchmark, name) == getattr(written.benchmark, name)
    assert {key: column.tolist() for key, column in read.benchmark.groups.items()} == {
        key: column.tolist() for key, column in written.benchmark.groups.items()
    }


def test_what_is_stored_is_read_again(tmp_path: Path):
    written = example()
    read = load_predictions(save_predictions(written, tmp_path / "new" / "store"))
    assert_same(read, written)
    assert read.provenance[ModelId("a")] == {
        "source": str(tmp_path / "new" / "store" / "a.parquet"),
        "adapter": "timm",
        "weights": "sha256:é",
    }
    assert [notice.code for notice in read.notices] == ["invalid-answers"]


def test_models_of_different_depth_keep_theirs(tmp_path: Path):
    written = example()
    answers = written.answers.copy()
    answers[1, :, 1] = -1
    written = replace(written, answers=answers, depth=np.array([2, 1]))
    folder = save_predictions(written, tmp_path)
    assert pq.read_schema(folder / "b@224.parquet").names == ["id", "top1"]
    assert_same(load_predictions(folder), written)


def test_right_and_wrong_is_stored_and_read_as_such(tmp_path: Path):
    benchmark = Benchmark("exam", np.ones((4, 1), np.int32), label_space=CORRECTNESS)
    written = Predictions(benchmark, (ModelId("a"),), np.array([[[1], [0], [1], [1]]], np.int16))
    read = load_predictions(save_predictions(written, tmp_path))
    assert read.is_correctness
    assert read.correct().tolist() == [[True, False, True, True]]


def test_case_16_names_are_reversible_and_survive_a_file_system_that_ignores_case(tmp_path: Path):
    models = tuple(ModelId(name) for name in NAMES)
    folder = save_predictions(example(models=models), tmp_path)
    files = [file.name for file in folder.iterdir()]
    assert len({name.lower() for name in files}) == len(models) + 1
    assert all(name.isascii() and not name.startswith(".") for name in files)
    assert sorted(load_predictions(folder).models) == sorted(models)


@given(st.builds(ModelId, st.text(min_size=1, max_size=20), st.text(max_size=8)))
def test_case_16_a_file_name_tells_its_model(model: ModelId):
    name = file_name(model, ".parquet")
    assert model_of(name.removesuffix(".parquet")) == model
    assert name == name.lower()
    assert not set(name) & set('/\\:*?"<>|\0 ')


@given(st.lists(st.text(min_size=1, max_size=6), min_size=2, max_size=2, unique=True))
def test_case_16_no_two_models_share_a_file(names: list[str]):
    first, second = (file_name(ModelId(name), ".parquet").lower() for name in names)
    assert first != second


def test_case_16_names_that_cannot_be_files(tmp_path: Path):
    with pytest.raises(UsageError, match="a model without a name"):
        save_predictions(example(models=(ModelId(""),)), tmp_path)
    with pytest.raises(OutputError, match="too long for a file"):
        save_predictions(example(models=(ModelId("é" * 100),)), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("classes", "kind", "size"),
    [(10, "UINT8", 1), (256, "UINT8", 1), (1000, "UINT16", 2), (65_536, "UINT16", 2), (65_537, "UINT32", 4)],
)
def test_a_stored_class_id_takes_two_bytes_at_most_for_65536_classes(tmp_path: Path, classes: int, kind: str, size: int):
    labels = np.arange(classes - 8, classes, dtype=np.int32)
    written = Predictions(Benchmark("exam", labels[:, None]), (ModelId("a"),), labels[None, :, None])
    folder = save_predictions(written, tmp_path)
    assert str(pq.read_schema(folder / "a.parquet").field("top1").type).upper() == kind
    assert pl.read_parquet(folder / "a.parquet")["top1"].to_numpy().nbytes == size * 8
    assert load_predictions(folder).correct().all()


def test_polars_reads_it_without_us(tmp_path: Path):
    written = example()
    folder = save_predictions(written, tmp_path)
    frame = pl.read_parquet(folder / "a.parquet")
    assert frame.columns == ["id", "top1", "top2"]
    assert frame["id"].to_list() == written.benchmark.ids.tolist()
    assert frame["top1"].to_list() == [None if answer < 0 else answer for answer in written.answers[0, :, 0].tolist()]
    labels = pl.read_parquet(folder / "labels.parquet")
    assert labels["labels"].to_list() == [[0, 2], [1], [2], [0], [1], [2]]
    assert labels["group:country"].to_list() == ["NA", "DE"] * 3


@pytest.mark.filterwarnings("ignore")  # of datasets and what it loads
def test_datasets_reads_it_without_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    import datasets

    written = example(models=(ModelId("timm/resnet50"), ModelId("été")))
    folder = save_predictions(written, tmp_path / "store")
    for model, row in zip(written.models, written.answers[:, :, 0].tolist(), strict=True):
        file = str(folder / file_name(model, ".parquet"))
        found = datasets.load_dataset("parquet", data_files=file, split="train", cache_dir=str(tmp_path / "cache"))
        assert found["top1"][:] == [None if answer < 0 else answer for answer in row]
        assert found["id"][:] == written.benchmark.ids.tolist()


def test_the_metadata_says_how_the_answers_were_made(tmp_path: Path):
    written = example(models=(ModelId("été/x", "224"), ModelId("b")))
    folder = save_predictions(written, tmp_path)
    metadata = {
        key.decode(): value.decode() for key, value in pq.read_schema(folder / "%c3%a9t%c3%a9%2fx@224.parquet").metadata.items()
    }
    assert metadata["resit.model"] == "été/x"
    assert metadata["resit.variant"] == "224"
    assert json.loads(metadata["resit.provenance"]) == {"adapter": "timm", "weights": "sha256:é"}
    assert metadata["resit.content"] == written.benchmark.content_fingerprint
    manifest = json.loads(metadata["resit.benchmark"])
    assert manifest["label_space"] == "three birds"
    assert manifest["classes"] == [["n0", "crane"], ["n1", "crane"], ["n2", "crane"]]


def test_better_labels_keep_the_answers(tmp_path: Path):
    written = example()
    save_predictions(written, tmp_path)
    better = replace(written.benchmark, labels=np.flip(written.benchmark.labels[:, :1], 0).copy())
    save_predictions(replace(written.select([ModelId("a")]), benchmark=better), tmp_path)
    read = load_predictions(tmp_path)
    assert len(read.models) == 2
    np.testing.assert_array_equal(read.benchmark.labels, better.labels)


def test_answers_on_another_benchmark_are_refused(tmp_path: Path):
    written = example()
    save_predictions(written, tmp_path / "one")
    other = replace(written, benchmark=replace(written.benchmark, ids=np.array([f"x{i}" for i in range(6)])))
    told = r"holds answers on other images, or in another order, under this name\. Choose another folder"
    with pytest.raises(OutputError, match=told):
        save_predictions(other, tmp_path / "one")
    renamed = replace(written, benchmark=replace(other.benchmark, name="later"))
    with pytest.raises(OutputError, match=r"holds answers on another benchmark \(exam\)\. Choose another folder"):
        save_predictions(renamed, tmp_path / "one")
    save_predictions(other.select([ModelId("a")]), tmp_path / "two")
    (tmp_path / "two" / "a.parquet").rename(tmp_path / "one" / "strange.parquet")
    with pytest.raises(InputError, match=r"strange\.parquet: answers on other examples"):
        load_predictions(tmp_path / "one")


def test_case_04_models_of_different_label_spaces_are_refused(tmp_path: Path):
    written = example()
    save_predictions(written, tmp_path / "one")
    other = replace(written.select([ModelId("b", "224")]), benchmark=replace(written.benchmark, label_space="two birds"))
    save_predictions(other, tmp_path / "two")
    (tmp_path / "two" / "b@224.parquet").replace(tmp_path / "one" / "b@224.parquet")
    error = refusal(lambda: load_predictions(tmp_path / "one"), InputError)
    assert "answers out of different sets of classes: three birds (" in error.what
    assert "two birds (" in error.what


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written = example()
    folder = save_predictions(written, tmp_path)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}

    def full(table: Any, file: IO[bytes], **_: Any) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    error = refusal(lambda: save_predictions(written, tmp_path), OutputError)
    assert "cannot be written: No space left on device" in error.what
    assert "nothing was replaced" in error.fix
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_folder_that_cannot_be_made(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    assert "cannot be written" in str(refusal(lambda: save_predictions(example(), tmp_path / "file" / "store"), OutputError))


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_any_predictions_round_trip(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory):
    n, k, classes = (
        data.draw(st.integers(1, 6)),
        data.draw(st.integers(1, 3)),
        data.draw(st.sampled_from([2, 300, 40_000, 70_000])),
    )
    integers = st.integers(0, classes - 1)
    draw: Callable[..., Any] = data.draw
    names = draw(
        st.lists(st.text(min_size=1, max_size=5).filter(lambda name: name.isprintable()), min_size=1, max_size=3, unique=True)
    )
    answers = draw(
        st.lists(
            st.lists(st.integers(-1, classes - 1), min_size=n * k, max_size=n * k), min_size=len(names), max_size=len(names)
        )
    )
    ids = draw(st.none() | st.lists(st.text(max_size=4).map(str.strip), min_size=n, max_size=n, unique=True))
    clean = None if ids is None else np.array([text.replace("\0", "") + f"#{i}" for i, text in enumerate(ids)])
    labels = np.array(draw(st.lists(integers, min_size=n, max_size=n)), np.int32)[:, None]
    known = tuple(ClassInfo(str(i), str(i)) for i in range(classes)) if classes < 1000 else ()
    benchmark = Benchmark("exam", labels, ids=clean, classes=known, label_space="mine")
    block = np.array(answers, np.int32).reshape(len(names), n, k)
    written = Predictions(benchmark, tuple(map(ModelId, names)), block)
    assert_same(load_predictions(save_predictions(written, tmp_path_factory.mktemp("store"))), written)
