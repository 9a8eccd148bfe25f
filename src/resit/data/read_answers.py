"""From a folder or file of answers to one sheet for each model, read one at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.accuracy_columns import accuracy_columns, rows_are_models
from resit.data.answer_table import CONTENT, MODEL, all_models, one_model
from resit.data.arrays import open_npy, open_npz
from resit.data.columns import answer_columns, find_column, says_correct
from resit.data.entries import MOST, Entries, from_array
from resit.data.guard import reading
from resit.data.labels import LabelSheet, embedded_labels, no_labels
from resit.data.models import ModelId
from resit.data.paths import match_names, refuse_images, short_list, visible_files, visible_folders
from resit.data.read_array import as_named, only_zero_and_one, read_as_correct, sheet_of_array
from resit.data.read_json import read_json
from resit.data.sheets import AnswerSheet, Source
from resit.data.tables import PARQUET_SUFFIXES, TABLE_SUFFIXES, Table, parquet_schema, read_table
from resit.errors import InputError, Notice

ANSWER_SUFFIXES = (".json", ".npy", ".npz", *TABLE_SUFFIXES)
LABEL_ARRAYS = ("labels", "label", "targets", "target", "y", "y_true", "ground_truth", "gt")
MISTAKEN = {"result", "manifest"}
NOT_ANSWERS = {"labels", "classes", "models", "result", "manifest"}


def open_source(path: Path, *, models: Sequence[str], keep: int, expected: int | None, test_set: str | None = None) -> Source:
    """Find out how a folder or file holds its answers.

    Parameters
    ----------
    path : Path
    models : sequence of str
        Globs: only these models are read.
    keep : int
        How many classes to keep of scores.
    expected : int or None
        Number of labels, where known.
    test_set : str, optional
        Test set to take from a table of several.

    Raises
    ------
    InputError
        If it holds none, or in a form that is not known.
    """
    with reading(path):
        path.stat()
    if path.is_dir():
        return _folder(path, models, keep, expected)
    suffix = path.suffix.lower()
    if suffix in TABLE_SUFFIXES:
        return all_models(read_table(path), path.stem, models, test_set, labelled=expected is not None)
    if suffix == ".npz":
        return _archive(path, open_npz(path), models, keep, expected)
    if suffix == ".npy":
        array, named = open_npy(path), says_correct(path.stem)
        if _is_matrix(array, None if named else expected):
            by_name = named and not _is_matrix(array, expected)
            matrix = _matrix(path, array, _model_names_beside(path), models)
            return replace(matrix, notices=(read_as_correct(path),)) if by_name else matrix
        if expected is None and not (named and array.size <= MOST and only_zero_and_one(array)):
            raise no_labels(path)  # before much is read for nothing
    return Source(1, iter([read_one_model(path, keep, expected)]))


def _folder(folder: Path, globs: Sequence[str], keep: int, expected: int | None) -> Source:
    files, notices = _answer_files(folder)
    if globs:
        names = {file: model_name(file) for file in files}
        chosen = match_names(list(names.values()), globs, str(folder))
        files = [file for file in files if names[file] in chosen]
    first = read_table(files[0]) if files[0].suffix.lower() in TABLE_SUFFIXES else None
    if first is not None:
        _refuse_accuracies(first, folder)
    labels = embedded_labels(first) if first is not None and len(first.columns) > 2 else None
    return Source(len(files), (read_one_model(file, keep, expected) for file in files), labels, tuple(notices))


def _answer_files(folder: Path) -> tuple[list[Path], list[Notice]]:
    """Files of a folder that may hold answers; the labels of folders in it do not."""
    visible, notices = visible_files(folder)
    inner = visible_folders(folder)
    not_answers = NOT_ANSWERS | {f"{name}{end}".lower() for name in inner for end in ("", "_labels", "-labels", "_classes")}
    held = [file for file in visible if file.stem.lower() not in not_answers]
    files = [file for file in held if file.suffix.lower() in ANSWER_SUFFIXES]
    refuse_images(folder, visible)
    notices += _left_out(folder, inner, [file for file in visible if file not in held])
    if not files:
        what = "no files of answers" if visible else "only folders" if inner else "an empty folder"
        fix = f"One file a model is needed, in one of {', '.join(ANSWER_SUFFIXES)}."
        raise InputError(what, where=folder, fix=f"Give one of its folders: {short_list(inner)}." if inner else fix)
    others = [file.name for file in held if file not in files]
    if others:
        notices.append(Notice("files-ignored", str(folder), f"Files that hold no answers were ignored: {short_list(others)}."))
    return files, notices


def _left_out(folder: Path, inner: Sequence[str], skipped: Sequence[Path]) -> Iterator[Notice]:
    """Notices of answers that may be meant as a model's and are not read."""
    names = {name.lower() for name in inner}
    hidden = [
        file.name
        for file in skipped
        if file.suffix.lower() in ANSWER_SUFFIXES
        and (file.stem.lower() in MISTAKEN or (file.suffix.lower() not in TABLE_SUFFIXES and file.stem.lower() in names))
    ]
    if hidden:
        message = f"Files were not read as answers, for their names: {short_list(hidden)}. Rename them if they are models."
        yield Notice("files-ignored", str(folder), message)
    with reading(folder):
        full = [
            f"{name}/"
            for name in inner
            if any(file.suffix.lower() in ANSWER_SUFFIXES for file in (folder / name).iterdir() if file.is_file())
        ]
    if full:
        message = f"Folders in it hold files that were not read: {short_list(full)}. Move those up if they are models."
        yield Notice("folders-ignored", str(folder), message)


def _refuse_accuracies(table: Table, folder: Path) -> None:
    roles = accuracy_columns(table, None) if find_column(table.columns, "prediction") is None else None
    if roles is not None and roles.metrics and rows_are_models(table, roles):
        raise InputError(
            f"a folder of accuracy tables, such as {Path(table.source).name}; one file of answers a model is needed here",
            where=folder,
            fix="Give the tables one by one.",
        )


def model_name(file: Path) -> str:
    """Name of the model of a file: what our own store says inside, else the file's name."""
    if file.suffix.lower() not in PARQUET_SUFFIXES:
        return file.stem
    return parquet_schema(file)[1].get(MODEL, file.stem)


def read_one_model(path: Path, keep: int, expected: int | None) -> AnswerSheet:
    """The answers in a file of one model.

    Raises
    ------
    InputError
        If the file cannot be read as such.
    """
    suffix = path.suffix.lower()
    if suffix in TABLE_SUFFIXES:
        return one_model(read_table(path, _needed_columns(path)), path.stem)
    if suffix == ".json":
        values, ids = read_json(path)
        return as_named(AnswerSheet(ModelId(path.stem), values, ids, str(path), {"source": str(path)}), path)
    if suffix == ".npy":
        return as_named(sheet_of_array(open_npy(path), path.stem, path, keep=keep, expected=expected), path)
    if suffix == ".npz":
        return _one_of_archive(path, open_npz(path), keep, expected)
    raise InputError(
        f"not a kind of file that holds answers ({suffix or 'no ending'})",
        where=path,
        fix=f"Known are {', '.join(ANSWER_SUFFIXES)}.",
    )


def _needed_columns(path: Path) -> list[str] | None:
    """Columns to read; None: all. Our own store is keyed by a fingerprint of the ids, so that these need not be read."""
    if path.suffix.lower() not in PARQUET_SUFFIXES:
        return None
    columns, metadata = parquet_schema(path)
    told = [column for column in (find_column(columns, "confidence"),) if column is not None]
    return [*answer_columns(columns, str(path)), *told] if CONTENT in metadata else None


def _one_of_archive(path: Path, arrays: Mapping[str, npt.NDArray[Any]], keep: int, expected: int | None) -> AnswerSheet:
    ids_name = find_column(list(arrays), "id")
    labels_name = _labels_of(arrays)
    names = [name for name in arrays if name not in (ids_name, labels_name) and find_column([name], "label") is None]
    if len(names) != 1:
        raise InputError(
            f"an archive of {len(names)} arrays ({short_list(names)}) where one model's answers are needed",
            where=path,
            fix="Keep one array of answers or scores, and ids if you have them.",
        )
    ids = None if ids_name is None else arrays[ids_name].astype(str)
    sheet = as_named(sheet_of_array(arrays[names[0]], path.stem, path, keep=keep, expected=expected, ids=ids), path, names[0])
    return sheet if labels_name is None else replace(sheet, labels=from_array(arrays[labels_name], path))


def _labels_of(arrays: Mapping[str, npt.NDArray[Any]]) -> str | None:
    """Name of the array of labels beside arrays of answers."""
    if len(arrays) < 2:
        return None
    return next((name for name in arrays if name.lower() in LABEL_ARRAYS), None)


def _archive(path: Path, arrays: dict[str, npt.NDArray[Any]], globs: Sequence[str], keep: int, expected: int | None) -> Source:
    """One model; or a matrix and ``models``; or one array for each model, named after it."""
    names_key = find_column([name for name in arrays if name], "model")
    if names_key is not None:
        matrices = [array for name, array in arrays.items() if name != names_key and array.ndim == 2]
        if len(matrices) != 1:
            raise InputError(f"{len(matrices)} matrices beside {names_key!r}", where=path, fix="Keep one: models × examples.")
        return _matrix(path, matrices[0], arrays[names_key].astype(str).tolist(), globs)
    ids_key = find_column(list(arrays), "id")
    labels_key = _labels_of(arrays)
    names = [name for name in arrays if name not in (ids_key, labels_key)]
    ids = None if ids_key is None else arrays[ids_key].astype(str)
    own = None if labels_key is None else from_array(arrays[labels_key], f"{path} ({labels_key})")
    sheet = None if own is None else LabelSheet(own, ids, source=f"{path} ({labels_key})")
    if expected is None and sheet is not None:
        expected = sheet.n
    if len(names) == 1:
        return Source(1, iter([_one_of_archive(path, arrays, keep, expected)]), sheet)
    chosen = match_names(names, globs, str(path)) if globs else set(names)

    def sheets() -> Iterator[AnswerSheet]:
        for name in names:
            if name in chosen:
                found = sheet_of_array(arrays[name], name, f"{path} ({name})", keep=keep, expected=expected, ids=ids)
                yield as_named(replace(found, labels=own), path)

    return Source(len(chosen), sheets(), sheet)


def _is_matrix(array: npt.NDArray[Any], expected: int | None) -> bool:
    if array.ndim != 2 or array.shape[1] == 1:
        return False
    if array.dtype.kind == "b":
        return True
    return expected is None and array.dtype.kind in "iu" and array.size <= MOST and only_zero_and_one(array)


def _matrix(path: Path, matrix: npt.NDArray[Any], names: Sequence[str], globs: Sequence[str]) -> Source:
    """Right (1) and wrong (0), models × examples."""
    check = f"{len(names)} model names for a matrix of shape {matrix.shape}"
    if len(names) != len(matrix):
        raise InputError(
            check, where=path, fix="A matrix of right and wrong has one row for each model, one column for each example."
        )
    if not only_zero_and_one(matrix):
        raise InputError("a matrix with other values than 0 and 1", where=path, fix="Write 1 for right, 0 for wrong.")
    chosen = match_names(names, globs, str(path)) if globs else set(names)
    rows = [(name, row) for name, row in zip(names, matrix, strict=True) if name in chosen]
    sheets = (
        AnswerSheet(ModelId(name), Entries((row == 1)[:, None]), None, f"{path} ({name})", {"source": str(path)}, is_truth=True)
        for name, row in rows
    )
    return Source(len(rows), sheets)


def _model_names_beside(path: Path) -> list[str]:
    """Names of the models of a matrix: ``NAME_models.*``, ``NAME-models.*`` or ``models.*`` beside it, one a row."""
    stems = (f"{path.stem}_models", f"{path.stem}-models", "models")
    candidates = (path.with_name(stem + suffix) for stem in stems for suffix in (".txt", ".json", ".npy", *TABLE_SUFFIXES))
    found = next((candidate for candidate in candidates if candidate.is_file()), None)
    if found is None:
        raise InputError(
            "a matrix of right and wrong without the models' names",
            where=path,
            fix=f"Write them, one a line in the order of the rows, to {path.stem}_models.txt beside it.",
        )
    suffix = found.suffix.lower()
    if suffix in TABLE_SUFFIXES:
        table = read_table(found)
        return list(table.texts(find_column(table.columns, "model") or table.columns[0]).tolist())
    with reading(found):
        if suffix == ".json":
            return [str(name) for name in json.loads(found.read_bytes())]
        if suffix == ".npy":
            return list(np.load(found, allow_pickle=False).astype(str).tolist())
        return [name for line in found.read_text("utf-8-sig").splitlines() if (name := line.strip())]
