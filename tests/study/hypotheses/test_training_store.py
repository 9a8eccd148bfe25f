"""Finished trainings: taken where all that decides them is the same, done again where it is not or where they were changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import trained_made as made

from extras import needs
from resit.data.image_sources.arrays import ArrayImages
from resit.study.hypotheses import cross_validation

needs("sklearn")
HERE = Path(__file__).parent


class Named(ArrayImages):
    """Images of the same names and sizes, whatever is in them."""

    fingerprint = "the same"  # type: ignore[assignment]


def train(seed: int):
    one = made.benchmark("train", 80, seed)
    return replace(one, images=Named(np.stack([one.images[row] for row in range(80)])))


def trained(store: Path, seed: int, said: list[str]):
    sets = made.benchmark("old", 40, 1), made.benchmark("new", 20, 2)
    rules = replace(made.FEW, store=store, seeds=1, resamples=50)
    return cross_validation.run(made.material(*sets, train(seed)), rules, said.append)


def test_images_of_the_same_names_and_sizes_are_not_the_same_inputs(tmp_path: Path):
    trained(tmp_path, 3, [])
    first = set(tmp_path.rglob("*.npz"))
    trained(tmp_path, 4, said := [])
    assert len([*tmp_path.rglob("*.npz")]) == 2 * len(first)
    assert not [one for one in said if "finished before" in one]
    trained(tmp_path, 3, said)
    assert [one for one in said if "finished before" in one]


def test_answers_that_were_changed_are_not_taken(tmp_path: Path):
    whole = trained(tmp_path, 3, [])
    path = sorted(tmp_path.rglob("*.npz"))[0]
    with np.load(path) as stored:
        parts = {name: stored[name] for name in stored.files}
    for changed in (np.full(len(parts["answers"]), np.nan), (parts["answers"] + 1) % made.CLASSES, parts["answers"] + 100):
        np.savez_compressed(path, **{**parts, "answers": changed})
        again = trained(tmp_path, 3, said := [])
        assert again.verdict == whole.verdict
        assert "3 of 4 trainings were finished before" in said


def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path):
    environment = os.environ | {"PYTHONPATH": f"{HERE}:{HERE.parents[1]}"}
    child = subprocess.Popen([sys.executable, str(HERE / "trained_job.py"), str(tmp_path), "slow"], env=environment)
    folder = tmp_path / "trainings"
    for _ in range(3_000):
        if folder.exists() and len(list(folder.glob("*.npz"))) >= 2:
            break
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    done = len(list(folder.glob("*.npz")))
    assert 2 <= done < 8
    again = subprocess.run(
        [sys.executable, str(HERE / "trained_job.py"), str(tmp_path), "quick"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert again.stdout.split() == [str(8 - done), "8"]
    assert not [path for path in folder.iterdir() if path.suffix == ".part" and path.stat().st_size == 0]
