"""Accuracy tables: a leaderboard of one test set, a long table of several, or a wide one with a column for each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from resit.data.accuracies import Accuracies, Figures, Floats
from resit.data.accuracy_columns import COMPLEMENTS, ERRORS, AccuracyColumns, MetricColumns, accuracy_columns
from resit.data.columns import plain
from resit.data.counts import counts_of_rates, refuse_other_rates, whole_counts
from resit.data.label_spaces import label_space_of
from resit.data.models import ModelId
from resit.data.numbers import Numbers, parse_numbers
from resit.data.paths import short_list
from resit.data.tables import Table
from resit.data.testsets import rows_of_set, several_sets
from resit.data.units import Unit, find_unit
from resit.errors import InputError, Notice, UsageError

ERROR_WORDS = re.compile(
    r"(?:^|[^a-z])(?:top_?[15])?(?:err|errors?|error_?rate|loss|losses|nll|mce|perplexity)(?:$|[^a-z])"  # of no accuracies
)
NOT_SETS = {
    *("", "unnamed:_0", "n", "rank", "rank_diff", "top1_diff", "top5_diff", "seed", "index", "year", "date"),
    *("param_count", "params", "parameters", "n_params", "flops", "gflops", "macs", "gmacs", "epoch", "epochs", "batch_size"),
    *("img_size", "image_size", "input_size", "resolution", "crop_pct"),
    *(name for names in (*COMPLEMENTS.values(), *ERRORS.values()) for name in names),
}


LARGEST_ERROR = 0.5
TOO_FAR = 20.0


@dataclass
class Reading:
    """What is known while one table is read. ``evidence`` are all numbers in the unit of the accuracies, by column."""

    table: Table
    columns: AccuracyColumns
    models: tuple[ModelId, ...]
    evidence: Mapping[str, Numbers]
    notices: list[Notice] = field(default_factory=list)

    @property
    def where(self) -> str:
        """The file, for messages."""
        return self.table.source


def accuracies_of_table(
    table: Table,
    *,
    name: str,
    test_set: str | None,
    columns: Mapping[str, str] | None,
    unit: str | None,
    n: int | None,
    label_space: str | None = None,
) -> Accuracies:
    """Read the figures of one test set.

    Parameters
    ----------
    table : Table
    name : str
        Name of the test set, where the table does not tell it.
    test_set : str or None
        Which set to take, where the table holds several.
    columns : mapping of str to str, or None
        Column of each role, where the names do not tell it.
    unit : str or None
        ``percent`` or ``fraction``; None: inferred.
    n : int or None
        Number of examples, where the table does not tell it.
    label_space : str, optional
        Set of classes that the figures are over. Default: that of a known test set.

    Raises
    ------
    InputError, UsageError
        If the table contradicts itself or it is not clear what it means.
    """
    roles = accuracy_columns(table, columns)
    if roles is None:
        raise InputError(
            f"no column of models among {', '.join(table.columns)}",
            where=table.source,
            fix="Call it model, or say columns={'model': …} (--column model=…).",
        )
    notices: list[Notice] = []
    if roles.metrics:
        evidence = {metric.accuracy: _numbers(table, metric.accuracy) for metric in roles.metrics.values() if metric.accuracy}
        table = rows_of_set(table, roles.test_set, test_set)
    else:
        evidence = _sets(table, roles)
        roles = _wide(table, roles, list(evidence), test_set)
        if test_set is None:
            test_set = str(roles.metrics["top1"].accuracy)
            message = f"Column {test_set!r} was taken as the accuracies; say --column top1=… if it is another."
            notices.append(Notice("column-inferred", table.source, message))
    seen = Reading(table, roles, _models(table, roles), evidence, notices)
    return replace(_read(seen, name=name, unit=unit, n=n), label_space=label_space or label_space_of(test_set, name))


def _sets(table: Table, roles: AccuracyColumns) -> dict[str, Numbers]:
    """Columns of a wide table that hold figures: its test sets."""
    others = [
        column
        for column in table.columns
        if column not in roles.used and plain(column) not in NOT_SETS and not _is_error(column)
    ]
    parsed = {column: parse_numbers(table.texts(column)) for column in others}
    return {name: found for name, found in parsed.items() if found is not None and np.isfinite(found.values).any()}


def _wide(table: Table, roles: AccuracyColumns, sets: list[str], test_set: str | None) -> AccuracyColumns:
    errors = [column for column in table.columns if _is_error(column)]
    if not sets:
        raise InputError(
            f"no column of accuracies among {', '.join(table.columns)}",
            where=table.source,
            fix=f"{errors[0]!r} sounds like an error: give 1 − error (of percents 100 − error) as top1, or name the accuracies."
            if errors
            else "Call it top1, or say columns={'top1': …} (--column top1=…).",
        )
    if test_set not in sets and (test_set is not None or len(sets) > 1):
        raise several_sets(table.source, sets, test_set)
    return AccuracyColumns(roles.model, roles.variant, None, roles.n, {"top1": MetricColumns(test_set or sets[0])})


def _is_error(column: str) -> bool:
    return ERROR_WORDS.search(plain(column)) is not None


def _models(table: Table, roles: AccuracyColumns) -> tuple[ModelId, ...]:
    names = table.texts(roles.model).tolist()
    if "" in names:
        raise InputError(
            f"no model in row {names.index('') + 1}",
            where=table.source,
            fix=f"Fill column {roles.model!r} in, or remove the row.",
        )
    variants = table.texts(roles.variant).tolist() if roles.variant else [""] * len(names)
    return tuple(map(ModelId, names, variants))


def _read(seen: Reading, *, name: str, unit: str | None, n: int | None) -> Accuracies:
    _collapse(seen)
    rates = {
        metric: _numbers(seen.table, columns.accuracy) for metric, columns in seen.columns.metrics.items() if columns.accuracy
    }
    found = _unit(seen, rates, unit)
    asked = _asked(seen, n)
    metrics = {
        metric: _figures(seen, metric, rates.get(metric), found, asked, stated_n=n is not None)
        for metric in seen.columns.metrics
    }
    metrics = {metric: figures for metric, figures in metrics.items() if np.isfinite(figures.accuracy).any()}
    if not metrics:
        raise InputError("no figure in any row", where=seen.where, fix="Check the columns, or the test set that was chosen.")
    accuracies = Accuracies(
        name=name,
        models=seen.models,
        metrics=metrics,
        unit=found.name,
        provenance={"source": seen.where, "unit": f"{found.name} ({found.how})"},
        notices=tuple(seen.notices),
    )
    return _without_empty(accuracies)


def _collapse(seen: Reading) -> None:
    """Keep one of the rows that say the same of one model; refuse rows that say different things."""
    groups: dict[ModelId, list[int]] = {}
    for row, model in enumerate(seen.models):
        groups.setdefault(model, []).append(row)
    if len(groups) == len(seen.models):
        return
    figures = sorted(seen.columns.used - {seen.columns.model})
    rows = list(zip(*(seen.table.texts(column).tolist() for column in figures), strict=True))
    conflicts = [model for model, own in groups.items() if len({rows[row] for row in own}) > 1]
    if conflicts:
        raise InputError(
            f"rows of one model that differ: {short_list(conflicts)}", where=seen.where, fix=_telling_apart(seen, groups)
        )
    twice = [model for model, own in groups.items() if len(own) > 1]
    message = f"Rows that are there twice and say the same were counted once: {short_list(twice)}."
    seen.notices.append(Notice("duplicates-collapsed", seen.where, message))
    kept = [own[0] for own in groups.values()]
    seen.table = Table(seen.table.source, seen.table.data.take(kept), seen.table.metadata)
    seen.models = tuple(groups)


def _telling_apart(seen: Reading, groups: Mapping[ModelId, list[int]]) -> str:
    """Advice that names a column by which the rows of each model differ."""
    for column in seen.table.columns:
        texts = seen.table.texts(column).tolist() if column not in seen.columns.used else []
        if texts and all(len({texts[row] for row in own}) == len(own) for own in groups.values()):
            return f"If they are variants, say columns={{'variant': {column!r}}} (--column variant={column})."
    return "Keep one row for each model, or tell them apart by a column called variant."


def _numbers(table: Table, column: str) -> Numbers:
    texts = table.texts(column)
    numbers = parse_numbers(texts)
    if numbers is None:
        odd = next(text for text in texts.tolist() if parse_numbers(np.array([text])) is None)
        raise InputError(
            f"column {column!r} holds {odd!r}, which is not a number", where=table.source, fix="Correct or empty it."
        )
    return numbers


def _unit(seen: Reading, rates: Mapping[str, Numbers], stated: str | None) -> Unit:
    if not rates:
        return Unit("count", "counts")
    metrics = seen.columns.metrics
    columns = {str(metrics[metric].accuracy): numbers for metric, numbers in rates.items()}
    if stated is None and _are_scores(seen, rates):
        return Unit("score", "outside of 0 to 100, with standard errors")
    complements = {
        str(metrics[metric].accuracy): _numbers(seen.table, complement)
        for metric in rates
        if (complement := metrics[metric].complement) is not None
    }
    unit = find_unit(columns, complements, stated, seen.where, seen.evidence)
    seen.notices += [unit.notice] if unit.notice else []
    return unit


def _are_scores(seen: Reading, rates: Mapping[str, Numbers]) -> bool:
    with_error = all(seen.columns.metrics[metric].standard_error for metric in rates)
    return with_error and any(np.any((numbers.values < 0) | (numbers.values > 100)) for numbers in rates.values())


def _asked(seen: Reading, n: int | None) -> Floats:
    """Number of examples of each row, NaN where it is not known."""
    if n is not None:
        if n < 1:
            raise UsageError(f"n = {n} is no number of examples", where=seen.where, fix="Give how many examples the set has.")
        if seen.columns.n is not None:
            own = whole_counts(_numbers(seen.table, seen.columns.n), seen.columns.n, seen.where)
            other = own[np.isfinite(own) & (own != n)]
            if other.size:
                raise InputError(
                    f"n = {n} was stated, but column {seen.columns.n!r} says {other[0]:g}",
                    where=seen.where,
                    fix="Leave n out, or say columns={'n': …} (--column n=…) if another column counts the examples.",
                )
        return np.full(len(seen.models), float(n))
    if seen.columns.n is None:
        return np.full(len(seen.models), np.nan)
    return whole_counts(_numbers(seen.table, seen.columns.n), seen.columns.n, seen.where)


def _figures(seen: Reading, metric: str, rates: Numbers | None, unit: Unit, asked: Floats, *, stated_n: bool) -> Figures:
    columns, scale = seen.columns.metrics[metric], unit.scale
    error = np.full(len(asked), np.nan)
    if columns.standard_error is not None:
        error = _numbers(seen.table, columns.standard_error).values / scale
    if columns.correct is not None:
        correct = whole_counts(_numbers(seen.table, columns.correct), columns.correct, seen.where)
        _check_share(correct, asked, columns.correct, seen)
        if rates is not None:
            refuse_other_rates(rates, scale, correct, asked, seen.models, seen.where)
    elif rates is not None:
        correct = counts_of_rates(rates, scale, asked, seen.models, seen.where, seen.notices, stated_n=stated_n)
    none = asked == 0
    correct[none] = np.nan
    accuracy = np.full(len(asked), np.nan) if rates is None else np.where(none, np.nan, rates.values / scale)
    np.divide(correct, asked, out=accuracy, where=np.isfinite(correct) & (columns.correct is not None))
    if columns.standard_error is not None:
        _check_errors(seen, error, accuracy, asked, unit)
    return Figures(accuracy, correct, np.where(np.isfinite(accuracy) & ~none, asked, np.nan), error)


def _check_errors(seen: Reading, error: Floats, accuracy: Floats, asked: Floats, unit: Unit) -> None:
    """Refuse standard errors that are negative, or in another unit than the accuracies."""
    negative = np.flatnonzero(error < 0)
    if negative.size:
        raise InputError(
            f"{seen.models[negative[0]]} has a negative standard error", where=seen.where, fix="Check the columns, or empty it."
        )
    if unit.name == "score":
        return
    fraction = np.where((accuracy > 0) & (accuracy < 1) & (asked > 0), accuracy, np.nan)
    expected = np.sqrt(fraction * (1 - fraction) / asked)
    far = (error > TOO_FAR * expected) | ((error > 0) & (error < expected / TOO_FAR))
    odd = np.flatnonzero((error > LARGEST_ERROR) | far)
    if odd.size:
        row = odd[0]
        hint = "" if np.isnan(expected[row]) else f"; that of {asked[row]:g} examples is about {expected[row] * unit.scale:.2g}"
        raise InputError(
            f"{seen.models[row]} has a standard error of {error[row] * unit.scale:g} ({unit.name}){hint}",
            where=seen.where,
            fix="It seems to be in another unit than the accuracy: write both in percent or both as fractions.",
        )


def _check_share(correct: Floats, asked: Floats, column: str, seen: Reading) -> None:
    if np.isfinite(correct).any() and not np.isfinite(asked[np.isfinite(correct)]).all():
        raise InputError(
            f"column {column!r} counts, but of how many?", where=seen.where, fix="Add a column n, or give n=… (--n)."
        )
    over = np.flatnonzero(correct > asked)
    if over.size:
        row = over[0]
        raise InputError(
            f"{seen.models[row]} has {correct[row]:g} right of {asked[row]:g}", where=seen.where, fix="Check the columns and n."
        )


def _without_empty(accuracies: Accuracies) -> Accuracies:
    """Leave out models without any figure, with a notice."""
    known = np.any([np.isfinite(figures.accuracy) for figures in accuracies.metrics.values()], axis=0)
    if known.all():
        return accuracies
    empty = [model for model, is_known in zip(accuracies.models, known, strict=True) if not is_known]
    kept = accuracies.select([model for model, is_known in zip(accuracies.models, known, strict=True) if is_known])
    where = accuracies.provenance["source"] if accuracies.provenance else accuracies.name
    notice = Notice("no-figure", where, f"Models without a figure were left out: {short_list(empty)}.")
    return replace(kept, notices=(*kept.notices, notice))
