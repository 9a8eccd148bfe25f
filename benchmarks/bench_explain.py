"""Every hypothesis that trains nothing, on the predictions of ImageNetV2: the whole command, with memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import shared_data, whole_process

from resit.study.hypotheses.registry import hypotheses


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Wall time and peak memory of ``resit explain`` without trainings."""
    data = shared_data()
    if data is None:
        yield "hypotheses without training on ImageNetV2", "skipped: no data (RESIT_SHARED_DATA)", None
        return
    asked = [word for one in hypotheses() if not one.trains for word in ("--only", one.name)]
    with tempfile.TemporaryDirectory() as folder:
        sets = (str(data / "imagenetv2" / "val"), str(data / "imagenetv2" / "matched-frequency"))
        words = ("-m", "resit", "explain", *sets, *asked, "-q", "-o", str(Path(folder) / "report"))
        seconds, memory = whole_process(*words)
    count = len(asked) // 2
    what = f"`explain`: {count} hypotheses, 67 models, 50,000 and 10,000 images, with report"
    yield what, f"{seconds:.1f} s, {memory:.2f} GB", "60 s, 2 GB"
