"""What changed from one revision to another, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from resit.build.keys import IMAGE, Ints, among, rows_in

if TYPE_CHECKING:
    import pyarrow as pa

NOT_DRAWN = "not-drawn"


@dataclass(frozen=True)
class Diff:
    """What came, what went, and why.

    Parameters
    ----------
    came : pyarrow.Table
        SELECTED, of the new revision: images that the old one does not have; sorted by class and image.
    went : pyarrow.Table
        SELECTED, of the old revision, with a column reason: why the new one excluded the image, or ``not-drawn`` where it
        could have been chosen and was not; sorted by class and image.
    moved : pyarrow.Table
        Columns image, class_id, old_bin and new_bin, of images that both have, and whose votes put them in another bin.
    stayed : int
        Images that both have.
    """

    came: pa.Table
    went: pa.Table
    moved: pa.Table
    stayed: int

    @property
    def why(self) -> pa.Table:
        """Columns class_id, change, reason and images: how many came with each fate and went for each reason, by class."""
        import pyarrow as pa

        parts = []
        for change, rows, column in (("came", self.came, "fate"), ("went", self.went, "reason")):
            counted = rows.group_by(["class_id", column]).aggregate([([], "count_all")])
            parts.append(
                pa.table(
                    {
                        "class_id": counted["class_id"],
                        "change": pa.repeat(change, len(counted)),
                        "reason": counted[column],
                        "images": counted["count_all"],
                    }
                )
            )
        order = [(name, "ascending") for name in ("class_id", "change", "reason")]
        return pa.concat_tables(parts).sort_by(order)

    @property
    def changed(self) -> bool:
        """Whether an image came or went."""
        return bool(len(self.came) + len(self.went))

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON holds: how many stayed; the images that came and went, and why; and counts by class."""
        came, went = (
            rows.select(["image", "class_id", why]).to_pylist() for rows, why in ((self.came, "fate"), (self.went, "reason"))
        )
        return {"stayed": self.stayed, "came": came, "went": went, "why": self.why.to_pylist()}

    def __str__(self) -> str:
        if not self.changed:
            return f"nothing changed: {self.stayed:,} images stayed"
        lines = [f"{self.stayed:,} stayed, {len(self.came):,} came, {len(self.went):,} went"]
        for name, values in (("came", self.came["fate"]), ("went", self.went["reason"])):
            lines += [f"  {name}: {count:,} {why}" for why, count in sorted(Counter(values.to_pylist()).items())]
        return "\n".join(lines)


def diff(old: pa.Table, new: pa.Table, excluded: pa.Table) -> Diff:
    """Compare two revisions.

    Parameters
    ----------
    old, new : pyarrow.Table
        SELECTED.
    excluded : pyarrow.Table
        EXCLUDED, of the new revision.

    Returns
    -------
    Diff
    """
    import pyarrow as pa

    old, new = (rows.sort_by([("class_id", "ascending"), ("image", "ascending")]) for rows in (old, new))
    went = old.filter(pa.array(~among(old, new)))
    reasons = np.append(np.array(excluded["reason"].to_pylist(), object), NOT_DRAWN)[rows_in(went, excluded)]
    places = rows_in(old, new)
    both = places >= 0
    before = np.asarray(old["bin"], np.int64)[both]
    after: Ints = np.asarray(new["bin"], np.int64)[places[both]]
    moved = old.filter(pa.array(both)).select(IMAGE).append_column("old_bin", pa.array(before))
    return Diff(
        came=new.filter(pa.array(~among(new, old))),
        went=went.append_column("reason", pa.array(reasons.tolist(), pa.string())),
        moved=moved.append_column("new_bin", pa.array(after)).filter(pa.array(before != after)),
        stayed=int(both.sum()),
    )
