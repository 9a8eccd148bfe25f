"""What changed between two revisions of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resit.build.diff import Diff, diff
from resit.build.keys import rows_in
from resit.build.sampling.records import KEPT
from resit.build.steps.opened import Build

if TYPE_CHECKING:
    import pyarrow as pa


def changes(build: Build, old: int, new: int) -> Diff:
    """Compare two revisions; images that came between them have the fate with which they came.

    Parameters
    ----------
    build : Build
    old, new : int
        Numbers of revisions, the one that was first and the one to compare it with.

    Raises
    ------
    InputError
        If there is no such revision.
    """
    before, after = build.store.selection(old), build.store.selection(new)
    return diff(before.selected, _with_first_fates(build, after.selected, after.parent, old), after.excluded)


def _with_first_fates(build: Build, selected: pa.Table, parent: int | None, old: int) -> pa.Table:
    """The selection with the fate of kept images replaced by that of the ancestor, after ``old``, that drew them."""
    import pyarrow as pa

    fate = np.array(selected["fate"].to_pylist(), object)
    while parent is not None and parent > old and (fate == KEPT).any():
        ancestor = build.store.selection(parent)
        places = rows_in(selected, ancestor.selected)
        earlier = np.append(np.array(ancestor.selected["fate"].to_pylist(), object), KEPT)[places]
        fate = np.where(fate == KEPT, earlier, fate)
        parent = ancestor.parent
    return selected.set_column(selected.schema.get_field_index("fate"), "fate", pa.array(fate.tolist(), pa.string()))
