"""The whole ImageNetV2 study, from files to finished report: both sets, both metrics, all resamples, all figures."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from measure import shared_data, whole_process

REPAIRS = (
    *("--alias", "fv_64k_model=fv_64k"),
    *("--worst-first", "fv_16k@matched-frequency", "--worst-first", "fv_16k@threshold-0.7"),
    *("--model-table", "imagenetv2", "--baseline", "kind=convnet"),
)


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Wall time and peak memory of the command."""
    data = shared_data()
    if data is None:
        yield "ImageNetV2, files to report", "not measured: no real data", "20 s, 2 GB"
        return
    sets = [str(data / "imagenetv2" / name) for name in ("val", "matched-frequency", "threshold-0.7")]
    with tempfile.TemporaryDirectory() as folder:
        seconds, memory = whole_process("-m", "resit", "compare", *sets, *REPAIRS, "-o", f"{folder}/report", "--quiet")
    yield "ImageNetV2, files to report", f"{seconds:.1f} s, {memory:.2f} GB", "20 s, 2 GB"
