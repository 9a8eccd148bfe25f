import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sat

from resit.evaluate.run import evaluate

EXAM = {"n": 6000, "broken": (5, 2100)}
RUN = f"""
import sys, sat
from resit.evaluate.run import evaluate
evaluate([sat.Slow("a"), sat.Slow("b", shift=1, score_kind="logit")], [sat.made(**{EXAM!r})], sys.argv[1])
"""


def files(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".part"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def shards(folder: Path) -> int:
    return len(list(folder.rglob("0*.npz")))


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_case_34_killed_at_random_moments_the_run_resumes_to_the_same_bytes(tmp_path, kills):
    evaluate([sat.Slow("a"), sat.Slow("b", shift=1, score_kind="logit")], [sat.made(**EXAM)], tmp_path / "whole")
    rng, stages = np.random.default_rng(kills), []
    for _ in range(kills):
        run = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path / "killed")], cwd=Path(sat.__file__).parent)
        done, more = shards(tmp_path / "killed"), int(rng.integers(1, 3))
        while shards(tmp_path / "killed") < done + more and run.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.5))
        run.kill()
        run.wait()
        stages.append(shards(tmp_path / "killed"))
    assert stages[0] > 0
    subprocess.run([sys.executable, "-c", RUN, str(tmp_path / "killed")], cwd=Path(sat.__file__).parent, check=True)
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
