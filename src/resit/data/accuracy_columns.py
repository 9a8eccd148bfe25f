"""Which columns of an accuracy table are models, test sets, figures, counts and standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resit.data.columns import find_column, plain
from resit.data.tables import Table
from resit.errors import InputError, UsageError

METRICS: dict[str, tuple[str, ...]] = {
    "top1": (
        *("top1", "top_1", "acc1", "acc@1", "top1_acc", "top1_accuracy", "top_1_accuracy", "prec1", "accuracy", "acc"),
        *("top1_(%)", "top1_%", "accuracy_(%)", "acc_(%)", "score"),
    ),
    "top5": ("top5", "top_5", "acc5", "acc@5", "top5_acc", "top5_accuracy", "top_5_accuracy", "prec5", "top5_(%)", "top5_%"),
}
COUNTS = {
    "top1": ("correct_top1", "top1_correct", "correct1", "n_correct", "num_correct", "correct"),
    "top5": ("correct_top5", "top5_correct", "correct5"),
}
ERRORS = {
    "top1": (
        "se_top1",
        "top1_se",
        "top1_stderr",
        "stderr",
        "std_err",
        "se",
        "standard_error",
        "accuracy_stderr",
        "acc_stderr",
        "sem",
    ),
    "top5": ("se_top5", "top5_se", "top5_stderr"),
}
COMPLEMENTS = {"top1": ("top1_err", "top1_error", "error"), "top5": ("top5_err", "top5_error")}
N = ("n", "n_images", "n_examples", "num_examples", "num_images", "images", "examples", "count", "total", "support")
STRUCTURE = ("model", "variant", "test_set", "n")


@dataclass(frozen=True)
class MetricColumns:
    """Columns of one metric; None: there is none. ``complement`` is one minus the accuracy, and tells the unit."""

    accuracy: str | None = None
    correct: str | None = None
    standard_error: str | None = None
    complement: str | None = None


@dataclass(frozen=True)
class AccuracyColumns:
    """Roles of the columns of an accuracy table."""

    model: str
    variant: str | None
    test_set: str | None
    n: str | None
    metrics: Mapping[str, MetricColumns]

    @property
    def used(self) -> set[str]:
        """All columns that have a role."""
        named = {self.model, self.variant, self.test_set, self.n}
        for metric in self.metrics.values():
            named |= {metric.accuracy, metric.correct, metric.standard_error, metric.complement}
        return {column for column in named if column is not None}


def accuracy_columns(table: Table, given: Mapping[str, str] | None) -> AccuracyColumns | None:
    """Find the roles, by the columns' names or as the user says; None where there is no column of models.

    Raises
    ------
    InputError
        If the same figure stands in two columns.
    UsageError
        If the user names a column that is not there.
    """
    given = dict(given or {})
    for role, column in given.items():
        if column not in table.columns:
            raise UsageError(
                f"columns[{role!r}] is {column!r}, but the columns are {', '.join(table.columns)}",
                where=table.source,
                fix="Name one of these.",
            )
    free = [column for column in table.columns if column not in given.values()]
    model = given.get("model") or find_column(free, "model")
    if model is None:
        return None
    free = [column for column in free if column != model]
    names = [*METRICS, *(role for role in given if _is_metric(role))]
    metrics = {name: _metric(name, free, given, table.source) for name in dict.fromkeys(names)}
    return AccuracyColumns(
        model=model,
        variant=given.get("variant") or find_column(free, "variant"),
        test_set=given.get("test_set") or find_column(free, "test_set"),
        n=given.get("n") or _only(free, N, table.source),
        metrics={name: metric for name, metric in metrics.items() if metric.accuracy or metric.correct},
    )


def rows_are_models(table: Table, columns: AccuracyColumns) -> bool:
    """Whether each row is another model, variant or test set, as in a table of accuracies and not in one of answers."""
    keys = [table.texts(column).tolist() for column in (columns.model, columns.variant, columns.test_set) if column]
    return len(set(zip(*keys, strict=True))) == len(table)


def _is_metric(role: str) -> bool:
    return role not in STRUCTURE and not role.startswith(("correct_", "se_"))


def _metric(name: str, free: Sequence[str], given: Mapping[str, str], source: str) -> MetricColumns:
    if name in given or f"correct_{name}" in given:
        return MetricColumns(given.get(name), given.get(f"correct_{name}"), given.get(f"se_{name}"))
    if any(map(_is_metric, given)) or any(role.startswith("correct_") for role in given):
        return MetricColumns()
    return MetricColumns(
        _only(free, METRICS.get(name, ()), source),
        _only(free, COUNTS.get(name, ()), source),
        given.get(f"se_{name}") or _only(free, ERRORS.get(name, ()), source),
        _only(free, COMPLEMENTS.get(name, ()), source),
    )


def _only(columns: Sequence[str], names: Sequence[str], source: str) -> str | None:
    """The one column that has one of the names.

    Raises
    ------
    InputError
        If there are two: the same figure twice under one key.
    """
    found = [column for column in columns if plain(column) in names]
    if len(found) > 1:
        raise InputError(
            f"columns {' and '.join(map(repr, found))} both mean {names[0]}",
            where=source,
            fix=f"Say which one holds: columns={{{names[0]!r}: {found[0]!r}}} (--column {names[0]}={found[0]}).",
        )
    return found[0] if found else None
