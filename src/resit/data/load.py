"""Reads what people have: predictions or accuracies, in a folder or a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from resit.data.accuracies import Accuracies
from resit.data.accuracy_columns import accuracy_columns, rows_are_models
from resit.data.accuracy_table import accuracies_of_table
from resit.data.assemble import assemble
from resit.data.class_lists import resolve_classes
from resit.data.columns import answer_columns, find_column
from resit.data.guard import reading
from resit.data.label_spaces import label_space_of
from resit.data.labels import find_classes, find_labels, read_labels
from resit.data.paths import default_name, split_set
from resit.data.predictions import Predictions
from resit.data.read_answers import open_source
from resit.data.tables import TABLE_SUFFIXES, Table, read_table
from resit.errors import InputError, UsageError


def load_predictions(
    path: str | Path,
    *,
    labels: object = None,
    classes: str | Path | None = None,
    name: str | None = None,
    models: Sequence[str] = (),
    keep: int = 5,
) -> Predictions:
    """Read the answers of one or more models on one test set.

    Parameters
    ----------
    path : path
        A folder of one file a model, or a file of one or all models. ``FILE::SET`` takes one test set of a table of several.
    labels : path, array or list, optional
        Accepted labels; ``FILE::COLUMN`` says which column of a table. Its other columns are group columns.
        Default: the labels found beside the answers, or in the same table.
    classes : path or str, optional
        Class list (columns label, wnid, name), or the name of one that ships with resit, such as ``imagenet-1k``.
        Default: ``classes.csv`` in or beside the folder.
    name : str, optional
        Name of the test set. Default: the folder's or file's name.
    models : sequence of str, optional
        Globs: only these models are read.
    keep : int, optional
        How many classes to keep of scores.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        If a file cannot be read, or answers, labels and classes do not fit together.
    UsageError
        If a glob matches no model.
    """
    place, test_set = split_set(path)
    found = labels if labels is not None else find_labels(place)
    sheet = None if found is None else read_labels(found)
    source = open_source(place, models=models, keep=keep, expected=sheet.n if sheet else None, test_set=test_set)
    if labels is None:
        sheet = sheet if place.suffix.lower() == ".npz" and sheet else source.labels or sheet
    stored = sheet.manifest if sheet else {}
    class_list = classes or (None if stored else find_classes(place))
    class_map = resolve_classes(class_list)
    known_name = name or test_set or stored.get("name") or default_name(place)
    return assemble(source, sheet, class_map, known_name, place, relabelled=labels is not None)


def load_accuracies(
    path: str | Path,
    *,
    test_set: str | None = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    unit: str | None = None,
    n: int | None = None,
    label_space: str | None = None,
) -> Accuracies:
    """Read what models scored on one test set.

    Parameters
    ----------
    path : path
        CSV or Parquet: one row a model (a leaderboard, such as timm's), one row a model and test set, or one column a test set.
        ``FILE::SET`` takes one test set.
    test_set : str, optional
        The same as ``::SET``.
    name : str, optional
        Name of the test set. Default: the set that was chosen, else the file's name.
    columns : mapping of str to str, optional
        Column of each role: model, variant, test_set, top1, top5, n, correct_top1, correct_top5, se_top1, se_top5. Any other
        role is a metric of that name.
    unit : {'percent', 'fraction'}, optional
        Default: inferred for whole columns.
    n : int, optional
        Number of examples, so that the number right is known.
    label_space : str, optional
        Set of classes that the figures are over. Default: that of a test set known by its name, such as ``imagenet-a``.

    Returns
    -------
    Accuracies

    Raises
    ------
    InputError
        If the file cannot be read, contradicts itself, or holds several test sets and none was chosen.
    UsageError
        If the arguments do not fit the file.
    """
    place, from_path = split_set(path)
    if test_set and from_path and test_set != from_path:
        raise UsageError(f"two test sets: {from_path!r} and {test_set!r}", where=path, fix="Say one.")
    chosen = test_set or from_path
    return accuracies_of_table(
        _table(place),
        name=name or chosen or default_name(place),
        test_set=chosen,
        columns=columns,
        unit=unit,
        n=n,
        label_space=label_space or label_space_of(chosen, default_name(place), name),
    )


def load(
    path: str | Path,
    *,
    labels: object = None,
    classes: str | Path | None = None,
    name: str | None = None,
    models: Sequence[str] = (),
    keep: int = 5,
    columns: Mapping[str, str] | None = None,
    unit: str | None = None,
    n: int | None = None,
) -> Predictions | Accuracies:
    """Read predictions or accuracies, whichever the content is.

    Parameters
    ----------
    path : path
        See :func:`load_predictions` and :func:`load_accuracies`.
    labels, classes, models, keep
        As in :func:`load_predictions`.
    columns, unit, n
        As in :func:`load_accuracies`.
    name : str, optional
        Name of the test set.

    Returns
    -------
    Predictions or Accuracies

    Raises
    ------
    InputError, UsageError
        As these two.
    """
    place, _ = split_set(path)
    with reading(place):
        is_table = place.suffix.lower() in TABLE_SUFFIXES and not place.is_dir()
    if labels is None and is_table and _holds_accuracies(_table(place), columns):
        return load_accuracies(path, name=name, columns=columns, unit=unit, n=n)
    predictions = load_predictions(path, labels=labels, classes=classes, name=name, models=models, keep=keep)
    if n is not None and n != predictions.n:
        raise UsageError(f"n = {n}, but there are {predictions.n} examples", where=path, fix="Leave n out for predictions.")
    return predictions


def _table(path: Path) -> Table:
    with reading(path):
        is_folder, is_there = path.is_dir(), path.exists()
    if is_folder:
        raise InputError("a folder where a table of accuracies is needed", where=path, fix="Give the CSV or Parquet file.")
    if path.suffix.lower() not in TABLE_SUFFIXES and is_there:
        raise InputError(
            f"a {path.suffix or 'nameless'} file where a table of accuracies is needed",
            where=path,
            fix=f"Known are {', '.join(TABLE_SUFFIXES)}.",
        )
    return read_table(path)


def _holds_accuracies(table: Table, columns: Mapping[str, str] | None) -> bool:
    """Whether a row is a model and no example: there is a column of models, and none of answers or of examples."""
    if columns:
        return True
    roles = accuracy_columns(table, None)
    if roles is None or find_column(table.columns, "prediction") is not None:
        return False
    has_examples = find_column(table.columns, "id") is not None
    if not roles.metrics:
        return not has_examples and not answer_columns(table.columns, table.source)
    counts_only = not any(metric.accuracy for metric in roles.metrics.values()) and roles.n is None
    return rows_are_models(table, roles) if has_examples or counts_only else True
