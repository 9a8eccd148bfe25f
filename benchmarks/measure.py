"""What benchmarks share: whole processes measured, and the real data found."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path


def whole_process(*words: str) -> tuple[float, float]:
    """Wall seconds and peak memory in GB of one fresh Python process with these arguments."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"python {' '.join(words)} failed")
    return time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e9


def shared_data() -> Path | None:
    """Folder of real data: RESIT_SHARED_DATA, else ../shared/data beside the repository; None where it is missing."""
    folder = Path(os.environ.get("RESIT_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data")
    return folder if folder.is_dir() else None
