"""What came of collecting."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resit.errors import Notice

if TYPE_CHECKING:
    import pyarrow as pa

# Candidates that could not be had; the class is empty where it is not known.
FAILED = {"url": "string", "class_id": "string", "reason": "string"}
# Classes with fewer candidates than wanted, and the last stage that they were searched in.
SHORTAGES = {"class_id": "string", "candidates": "int64", "wanted": "int64", "stage": "string"}
SAME_AS_ORIGINAL = {"image": "string", "class_id": "string"}


@dataclass(frozen=True)
class Collected:
    """What came of collecting from one source. The candidates themselves were saved in batches.

    Parameters
    ----------
    source : str
    found : int
        What the source gave, with what it could not give.
    new : int
        Candidates that are new: image and class were not known together.
    known : int
        Those that were known before.
    repeated : int
        Those that the source gave more than once, by address or by content.
    failed : pyarrow.Table
        Columns url, class_id, reason.
    shortages : pyarrow.Table
        Columns class_id, candidates, wanted, stage.
    originals : pyarrow.Table
        Candidates whose bytes are those of an original, with columns image and class_id. They are kept: only people's verdicts
        on near-duplicates exclude.
    notices : tuple of Notice
    """

    source: str
    found: int
    new: int
    known: int
    repeated: int
    failed: pa.Table
    shortages: pa.Table
    originals: pa.Table
    notices: tuple[Notice, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.source} {self.found:,} found: {self.new:,} new, {self.known:,} known, {self.repeated:,} again"]
        reasons = Counter(sorted(self.failed["reason"].to_pylist()))
        lines += [f"  {count:,} failed: {reason}" for reason, count in reasons.most_common()]
        lines += [
            f"  class {row['class_id']}: {row['candidates']:,} of {row['wanted']:,} candidates, after the stage {row['stage']}"
            for row in self.shortages.to_pylist()
        ]
        if len(self.originals):
            lines.append(f"  {len(self.originals):,} have the very bytes of an original")
        return "\n".join([*lines, *map(str, self.notices)])
