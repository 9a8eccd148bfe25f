"""A whole build, each step in a process of its own that may be killed: ``python steps_job.py FOLDER KILLS SEED [DATABASE]``.

Processes are forked, so that what takes long to import is imported once. All that a step needs is in FOLDER already.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from steps_made import PEOPLE, answers, digest, fill, read_rows, set_target, write_rows

TIME = "2026-01-31T12:00:00Z"
LIAR = "liar"
# What changes files: half of the kills are just before or after one of these.
WRITES = frozenset({"replace", "fsync", "mkdir", "unlink", "open", "write", "execute", "executemany", "commit", "truncate"})
KILLED = (-signal.SIGKILL, -signal.SIGALRM)


def steps(root: Path, database: str | None) -> dict[str, Callable[[], None]]:
    """The steps of a build by name; those that begin with a plus are work of people, and are not killed."""
    build, review = root / "new", root / "review"
    more = ("--database", database) if database else ()

    def command(*words: object) -> Callable[[], None]:
        return lambda: run("build", *words)

    return {
        "init": command(
            "init", build, "--original", root / "original", "--counts", root / "counts.csv", "--per-class", 2,
            "--strategy", "top-images", "--against", root / "known", *more,
        ),
        "+target": lambda: set_target(build, 0.3),
        "collect": command("collect", build, "--from", f"folder:{root / 'photos'}"),
        "dedupe": command("dedupe", build),
        "export": command("label", build, "export", "--to", "csv"),
        "+vote": lambda: vote(root),
        "import": command("label", build, "import", root / "votes.csv"),
        "+reject": lambda: reject(root),
        "import more": command("label", build, "import", root / "more.csv"),
        "sample": command("sample", build),
        "lists": command("review", build, "--export", review),
        "+judge": lambda: judge(root),
        "review": command("review", build, "--import", review / "review-images.csv", "--import", review / "review-pairs.csv"),
        "sample again": command("sample", build),
        "release": command("release", build, "-o", root / "out"),
    }  # fmt: skip


def run(*words: object) -> None:
    """Run a command, and see that it ends well."""
    from resit.cli import run

    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        code = run([str(word) for word in words])
    if code:
        raise SystemExit(code)


def vote(root: Path) -> None:
    """Everybody answers the tasks; one person lies."""
    known = {key: {digest(path.read_bytes()) for path in (root / "original" / key).iterdir()} for key in ("cat", "dog")}
    yes = {(digest(path.read_bytes()), path.parent.name): int(path.stem) for path in (root / "photos").rglob("*.png")}
    rows = answers(root / "new" / "exports" / "csv" / "tasks.csv", yes, known, people=PEOPLE, liars=[LIAR])
    write_rows(root / "votes.csv", rows)
    # The liar, once rejected, sends the same under other names.
    write_rows(root / "more.csv", [{**row, "assignment": f"new {row['task']}"} for row in rows if row["person"] == LIAR])


def reject(root: Path) -> None:
    tasks = {row["task"] for row in read_rows(root / "more.csv")}
    run("build", "label", root / "new", "reject", *(f"{task}:{LIAR}" for task in sorted(tasks)), "--by", "me")


def judge(root: Path) -> None:
    """The most selected cat is wrong, all pairs are near."""
    best = digest((root / "photos" / "cat" / "9.png").read_bytes())
    fill(root / "review" / "review-images.csv", {(best, "cat"): "wrong"}, usual="right")
    fill(root / "review" / "review-pairs.csv", {}, usual="near")


class Counted:
    """Counts what changes files in a step, and kills it there if asked to."""

    def __init__(self, at: int = 0) -> None:
        self.writes, self._at = 0, at

    def __call__(self, frame: types.FrameType, event: str, arg: Any) -> None:  # noqa: ARG002
        if event.startswith("c_") and arg.__name__ in WRITES:
            self.writes += 1
            if self.writes == self._at:
                os.kill(os.getpid(), signal.SIGKILL)


def forked(step: Callable[[], None], counted: Counted | None = None, seconds: float = 0.0) -> tuple[int, int]:
    """Run a step in a process of its own, that ends after some seconds if asked to; its exit code, and what it counted."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)  # a signal that nobody handles ends a process as SIGKILL does
            threading.setprofile(counted)
            sys.setprofile(counted)
            step()
            sys.setprofile(None)
            os.write(into, str(counted.writes if counted else 0).encode())
            code = 0
        except SystemExit as error:
            code = int(error.code or 0)
        finally:
            os._exit(code)
    os.close(into)
    with os.fdopen(out) as pipe:
        told = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), int(told or 0)


def import_all() -> None:
    """Import what the steps need, and let the build's clock stand still and its secret be known."""
    from resit.build import clock
    from resit.build.steps import dedupe, gather, init, label, look, opened, people, publish, salt, sample, status  # noqa: F401
    from resit.store import migrate, store  # noqa: F401

    real = clock.now
    for module in [*sys.modules.values()]:
        if getattr(module, "now", None) is real:
            module.now = lambda: TIME
    salt.secrets = types.SimpleNamespace(token_hex=lambda size: "5a" * size)


def main(root: Path, kills: int, seed: int, database: str | None) -> None:
    """Do all steps; before each one that is not of people, kill it at random moments."""
    import_all()
    rng = np.random.default_rng(seed)
    figures = root.parent / "figures.json"
    known = json.loads(figures.read_text()) if kills else {}
    for name, step in steps(root, database).items():
        for _ in range(0 if name.startswith("+") else kills):
            seconds, writes = known[name]
            if rng.random() < 0.5:
                code, _ = forked(step, seconds=float(rng.uniform(0, seconds)))
            else:
                code, _ = forked(step, Counted(int(rng.integers(1, writes + 1))))
            if code not in (0, *KILLED):
                raise SystemExit(f"{name}: exit code {code}")
            print(name, "killed" if code else "done", flush=True)
        start = time.monotonic()
        code, writes = forked(step, None if kills else Counted())
        if code:
            raise SystemExit(f"{name}: exit code {code}")
        known[name] = (time.monotonic() - start, writes)
    if not kills:
        figures.write_text(json.dumps(known))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else None)
