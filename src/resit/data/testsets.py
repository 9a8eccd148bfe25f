"""One test set out of a table that holds several."""

from __future__ import annotations

from collections.abc import Sequence

from resit.data.paths import short_list
from resit.data.tables import Table
from resit.errors import InputError, UsageError


def rows_of_set(table: Table, column: str | None, test_set: str | None) -> Table:
    """Take the rows of one test set, where a column says which.

    Raises
    ------
    InputError
        If there are several sets and none was chosen, or there is no such set.
    UsageError
        If a set was chosen but no column tells sets apart.
    """
    if column is None and test_set is None:
        return table
    if column is None:
        raise UsageError(f"no column of test sets to choose {test_set!r} from", where=table.source, fix="Leave out ::SET.")
    sets = list(dict.fromkeys(table.texts(column).tolist()))
    if test_set is None and len(sets) == 1:
        return table
    if test_set is None or test_set not in sets:
        raise several_sets(table.source, sets, test_set)
    return table.where(column, test_set)


def several_sets(source: str, sets: Sequence[str], test_set: str | None) -> InputError:
    """Error that lists the test sets of a file and shows how to choose one."""
    what = f"no test set {test_set!r}" if test_set else f"{len(sets)} test sets in one file"
    fix = f"Choose one with FILE::SET, such as {source}::{sets[0]}"
    return InputError(f"{what}; it has {short_list(sets, 12)}", where=source, fix=fix)
