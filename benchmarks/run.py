"""Run benchmarks and print what they measured as a table, with the machine they ran on."""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


def machine() -> str:
    """The machine in one line."""
    names = [line.partition(":")[2].strip() for line in _read("/proc/cpuinfo") if line.startswith("model name")]
    memory = next((int(line.split()[1]) / 2**20 for line in _read("/proc/meminfo") if line.startswith("MemTotal")), None)
    parts = [names[0] if names else platform.processor() or platform.machine(), f"{len(os.sched_getaffinity(0))} cores"]
    parts += [f"{memory:.0f} GiB"] if memory else []
    return ", ".join([*parts, f"Python {platform.python_version()}", platform.system()])


def _read(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []


def load(path: Path) -> ModuleType:
    """A benchmark's file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def chosen(names: list[str]) -> Iterator[Path]:
    """The files of the benchmarks that were asked for, or of all."""
    known = {path.stem.removeprefix("bench_"): path for path in sorted(HERE.glob("bench_*.py"))}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    yield from (path for name, path in known.items() if name in names or not names)


def main() -> None:
    """Print a Markdown table, a row as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks to run; default: all")
    names = parser.parse_args().names
    sys.path.insert(0, str(HERE))
    print(f"Machine: {machine()}\n\n| benchmark | measured | limit |\n|---|---|---|", flush=True)
    for path in chosen(names):
        for what, value, limit in load(path).rows():
            print(f"| {what} | {value} | {limit or ''} |", flush=True)


if __name__ == "__main__":
    main()
