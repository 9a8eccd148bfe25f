"""What benchmarks share: whole processes measured, and the real data found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# A process begins with the peak of the one that starts it, so a small one stands between.
BETWEEN = """
import resource, subprocess, sys, time
start = time.perf_counter()
status = subprocess.call([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def whole_process(*words: str) -> tuple[float, float]:
    """Wall seconds and peak memory in GB of one fresh Python process with these arguments."""
    found = subprocess.run([sys.executable, "-c", BETWEEN, *words], stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode:
        sys.exit(f"python {' '.join(words)} failed")
    seconds, peak = found.stdout.split()
    return float(seconds), int(peak) * 1024 / 1e9


def shared_data() -> Path | None:
    """Folder of real data: RESIT_SHARED_DATA, else ../shared/data beside the repository; None where it is missing."""
    folder = Path(os.environ.get("RESIT_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data")
    return folder if folder.is_dir() else None
