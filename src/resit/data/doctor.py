"""What is wrong with files, and what to do about it: a finding for each path, never an exception for bad input."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from resit.data.accuracies import Accuracies
from resit.data.aliases import suggest_aliases
from resit.data.checks import check
from resit.data.label_spaces import UNNAMED
from resit.data.load import load
from resit.data.paths import counted, short_list
from resit.data.predictions import Predictions
from resit.errors import Notice, ResitError


@dataclass(frozen=True)
class Finding:
    """What one path holds.

    Parameters
    ----------
    path : str
        As it was given.
    kind : str
        ``predictions``, ``correctness``, ``accuracies``, or ``unreadable``.
    summary : str
        What was read, in one line; empty where it could not be.
    notices : tuple of Notice
        What looks wrong.
    error : str or None
        Why it could not be read, and what to do.
    """

    path: str
    kind: str
    summary: str
    notices: tuple[Notice, ...] = ()
    error: str | None = None


def examine(*paths: str | Path, labels: object = None, **options: Any) -> tuple[Finding, ...]:
    """Read each path and say what was found.

    Parameters
    ----------
    *paths : path
        Folders and files, as :func:`load` takes them.
    labels : path, array or list, optional
        Labels of all paths.
    **options
        As :func:`load` takes them.

    Returns
    -------
    tuple of Finding
        One for each path, in the same order. Models that are not on all paths are told at the later path.
    """
    read: list[Predictions | Accuracies | str] = [_try(path, labels, options) for path in paths]
    extra: dict[int, list[Notice]] = {place: [] for place in range(len(paths))}
    for (i, one), (j, other) in combinations(enumerate(read), 2):
        if not isinstance(one, str) and not isinstance(other, str) and i == 0:
            extra[j] += _unmatched(one, other)
    return tuple(_finding(str(path), data, extra[place]) for place, (path, data) in enumerate(zip(paths, read, strict=True)))


def _try(path: str | Path, labels: object, options: dict[str, Any]) -> Predictions | Accuracies | str:
    try:
        return load(path, labels=labels, **options)
    except ResitError as error:
        return str(error)


def _finding(path: str, data: Predictions | Accuracies | str, extra: list[Notice]) -> Finding:
    if isinstance(data, str):
        return Finding(path, "unreadable", "", error=data)
    if isinstance(data, Accuracies):
        return Finding(path, "accuracies", _accuracies_line(data), (*data.notices, *extra))
    kind = "correctness" if data.is_correctness else "predictions"
    return Finding(path, kind, _predictions_line(data), (*data.notices, *check(data), *extra))


def _predictions_line(data: Predictions) -> str:
    benchmark, deepest = data.benchmark, int(data.depth.max(initial=0))
    what = "right and wrong" if data.is_correctness else f"{deepest} answer{'s' if deepest != 1 else ''} an example"
    several = "" if benchmark.single_label else ", several accepted labels"
    ids = "ids" if benchmark.ids is not None else "no ids, by position"
    space = "" if data.is_correctness else f", {benchmark.label_space}"
    return f"{data.name}: {counted(len(data.models), 'model')}, {counted(data.n, 'example')}, {what}{space}{several}, {ids}"


def _accuracies_line(data: Accuracies) -> str:
    space = f" {data.label_space}," if data.label_space != UNNAMED else ""
    return f"{data.name}: {', '.join(data.metrics)} of {counted(len(data.models), 'model')},{space} from {data.unit}"


def _unmatched(original: Predictions | Accuracies, new: Predictions | Accuracies) -> list[Notice]:
    """Models that are on one of two sets only, and what may be the same model under two names."""
    original_only = sorted(str(model) for model in set(original.models) - set(new.models))
    new_only = sorted(str(model) for model in set(new.models) - set(original.models))
    if not original_only and not new_only:
        return []
    parts = [
        f"{len(names)} only on {name} ({short_list(names)})"
        for name, names in ((original.name, original_only), (new.name, new_only))
        if names
    ]
    aliases = "".join(f" --alias {alias}" for alias in suggest_aliases(original_only, new_only))
    repair = f" Some look like one model under two names; if they are, compare with{aliases}." if aliases else ""
    return [
        Notice(
            "unmatched-models", new.name, f"Models on one set only are left out of a comparison: {'; '.join(parts)}.{repair}"
        )
    ]
