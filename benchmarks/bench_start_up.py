"""How long it takes until something happens: import, and the help."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

ROUNDS = 9


def seconds(*words: str) -> float:
    """Wall time of one fresh Python process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Medians of alternating runs, after one of each to warm the disk."""
    calls = {
        "nothing": ("-c", "pass"),
        "numpy, scipy.stats": ("-c", "import numpy, scipy.stats"),
        "resit": ("-c", "import resit"),
        "resit, public names used": ("-c", "from resit import compare, load_predictions"),
        "resit --help": ("-m", "resit", "--help"),
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for name in list(calls) * (ROUNDS + 1):
        taken[name].append(seconds(*calls[name]))
    median = {name: statistics.median(times[1:]) for name, times in taken.items()}
    other = median["numpy, scipy.stats"]
    yield "`import resit` / `import numpy, scipy.stats`", f"{median['resit'] / other:.2f} ×", "1.5 ×"
    yield "the same with the public names used", f"{median['resit, public names used'] / other:.2f} ×", "1.5 ×"
    yield "`resit --help`", f"{median['resit --help']:.2f} s (bare Python {median['nothing']:.2f} s)", "1 s"
