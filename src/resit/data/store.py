"""Stores predictions: one Parquet file a model, which other tools read without us, and the labels beside."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resit.data.answer_table import CONTENT, MODEL, PROVENANCE, VARIANT
from resit.data.benchmark import Benchmark
from resit.data.filenames import file_name
from resit.data.guard import reading, refuse_odd_name
from resit.data.labels import MANIFEST
from resit.data.predictions import Predictions
from resit.data.tables import parquet_schema, read_table
from resit.errors import OutputError

if TYPE_CHECKING:
    import pyarrow as pa

ERROR, CONFIDENCE = "error", "confidence"


def save_predictions(predictions: Predictions, folder: str | Path, *, errors: Mapping[int, str] | None = None) -> Path:
    """Write predictions to a folder that :func:`load_predictions` reads.

    One Parquet file a model with columns id (where examples have ids) and top1 … topk: class ids, best first, null where there
    is no valid answer, in as few bytes as the number of classes needs; and confidence (float32) of the first answer, where it
    is known. The file's metadata says how the answers were made, and on what. ``labels.parquet`` holds the benchmark. Each file
    appears only when it is complete; files of other models stay.

    Parameters
    ----------
    predictions : Predictions
    folder : path
        Made where it is missing.
    errors : mapping of int to str, optional
        What went wrong, by row of the example; a column ``error`` holds it.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    OutputError
        If the folder cannot be written, or holds answers on another benchmark or out of other classes.
    UsageError
        If a model has no name.
    """
    target = Path(folder)
    for model in predictions.models:
        refuse_odd_name(model)
    names = [file_name(model, ".parquet") for model in predictions.models]
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_written(target, error) from error
    refuse_other_benchmark(target, predictions.benchmark)
    _write(target / "labels.parquet", _labels(predictions.benchmark))
    for row, name in enumerate(names):
        _write(target / name, _answers(predictions, row, errors or {}))
    return target


def refuse_other_benchmark(folder: Path, benchmark: Benchmark) -> None:
    """Refuse a folder that holds answers on another benchmark, or out of other classes.

    Raises
    ------
    OutputError
        If it is such a folder.
    """
    labels = folder / "labels.parquet"
    if not labels.exists():
        return
    stored = read_table(labels).document(MANIFEST)
    name = stored.get("name", "unknown")
    told_apart = benchmark.ids is not None or benchmark.images_fingerprint
    others = not told_apart and stored.get("labels", "") not in ("", benchmark.labels_fingerprint)
    if others or stored.get("content") != benchmark.content_fingerprint:
        other = (
            "other images, or in another order, under this name" if name == benchmark.name else f"another benchmark ({name})"
        )
        raise OutputError(
            f"holds answers on {other}",
            where=folder,
            fix="Choose another folder; each benchmark needs one of its own.",
        )
    if stored.get("label_space", benchmark.label_space) != benchmark.label_space:
        raise OutputError(
            f"holds answers out of {stored['label_space']}, not {benchmark.label_space}",
            where=folder,
            fix="They are not comparable: choose another folder.",
        )
    if [key for key, _ in stored.get("classes", ())] != [info.id for info in benchmark.classes]:
        raise OutputError(
            "holds answers that number the classes in another way",
            where=folder,
            fix="Give the class list that it was made with, or choose another folder.",
        )


def renew_labels(folder: Path, benchmark: Benchmark) -> bool:
    """Put the benchmark's labels and groups in the place of those that lie beside stored answers, where they differ.

    Returns
    -------
    bool
        Whether others were replaced.

    Raises
    ------
    OutputError
        If the answers are on another benchmark, or the labels cannot be written.
    """
    import pyarrow.parquet as pq

    path = folder / "labels.parquet"
    refuse_other_benchmark(folder, benchmark)
    if not path.exists():
        return False
    with reading(path):
        stored = pq.read_table(path)
    now = _labels(benchmark)
    if stored.equals(now) and stored.schema.metadata == now.schema.metadata:
        return False
    _write(path, now)
    return True


def stored_errors(path: Path) -> dict[int, str]:
    """What went wrong with examples of a file of answers, by row, as :func:`save_predictions` was told.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    if ERROR not in parquet_schema(path)[0]:
        return {}
    texts = read_table(path, [ERROR]).column(ERROR).to_pylist()
    return {row: text for row, text in enumerate(texts) if text}


def _answers(predictions: Predictions, row: int, errors: Mapping[int, str]) -> pa.Table:
    import pyarrow as pa

    model, benchmark = predictions.models[row], predictions.benchmark
    dtype = np.min_scalar_type(max(0, benchmark.n_classes - 1, int(predictions.answers.max(initial=0))))
    columns: dict[str, Any] = {} if benchmark.ids is None else {"id": _text(benchmark.ids)}
    for rank in range(int(predictions.depth[row])):
        answers = predictions.answers[row, :, rank]
        columns[f"top{rank + 1}"] = pa.array(answers.astype(dtype), mask=answers < 0)
    sure = None if predictions.confidence is None else predictions.confidence[row]
    if sure is not None and not np.isnan(sure).all():
        columns[CONFIDENCE] = pa.array(sure.astype(np.float32), mask=np.isnan(sure))
    if errors:
        columns[ERROR] = pa.array([errors.get(example) for example in range(benchmark.n)], pa.string())
    metadata = {
        MODEL: model.model,
        VARIANT: model.variant,
        PROVENANCE: json.dumps(dict(predictions.provenance.get(model, {})), ensure_ascii=False),
        CONTENT: benchmark.content_fingerprint,
        MANIFEST: _manifest(benchmark),
    }
    return pa.table(columns).replace_schema_metadata(metadata)


def _labels(benchmark: Benchmark) -> pa.Table:
    import pyarrow as pa

    columns: dict[str, Any] = {} if benchmark.ids is None else {"id": _text(benchmark.ids)}
    accepted = benchmark.labels >= 0
    offsets = np.concatenate([[0], np.cumsum(accepted.sum(axis=1))]).astype(np.int32)
    columns["labels"] = pa.ListArray.from_arrays(offsets, benchmark.labels[accepted])
    columns |= {f"group:{name}": _text(column) for name, column in benchmark.groups.items()}
    return pa.table(columns).replace_schema_metadata({MANIFEST: _manifest(benchmark)})


def _text(column: npt.NDArray[np.str_]) -> pa.Array:
    import pyarrow as pa

    return pa.array(column.tolist(), pa.string())


def _manifest(benchmark: Benchmark) -> str:
    manifest: Mapping[str, Any] = {
        "name": benchmark.name,
        "version": benchmark.version,
        "label_space": benchmark.label_space,
        "n": benchmark.n,
        "content": benchmark.content_fingerprint,
        "images": benchmark.images_fingerprint,
        "labels": benchmark.labels_fingerprint,
        "classes": [[info.id, info.name] for info in benchmark.classes],
        "origin": benchmark.origin,
    }
    return json.dumps(manifest, ensure_ascii=False)


def _write(path: Path, table: pa.Table) -> None:
    """Write beside under a hidden name, then rename, so that a half-written file is never read."""
    import pyarrow.parquet as pq

    half = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
    try:
        with half.open("wb") as file:
            pq.write_table(table, file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as error:
        raise _not_written(path, error) from error
    finally:
        with suppress(OSError):
            half.unlink(missing_ok=True)


def _not_written(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"cannot be written: {error.strerror or error}",
        where=path,
        fix="Check its permissions and the free space; nothing was replaced.",
    )
