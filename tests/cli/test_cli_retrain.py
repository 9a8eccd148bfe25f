"""``resit retrain`` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from extras import needs
from featured import exam
from resit.cli import run
from resit.models.head_file import load_head

needs("sklearn", "safetensors")
MODEL = """
import numpy as np
from featured import PixelModel
from resit.data.benchmark import ClassInfo

def pixels():
    weight = np.zeros((6, 48))
    weight[np.arange(6), np.arange(6)] = 1
    return PixelModel(weight, np.zeros(6), tuple(ClassInfo(f"c{at}", f"class {at}") for at in range(6)))
"""


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sets of pictures with a table beside each, a class list, and a module with a model."""
    for seed, name in ((0, "homes"), (1, "others")):
        benchmark, _ = exam(240, 6, seed=seed, name=name)
        (tmp_path / name).mkdir()
        rows = ["path,label,region,home"]
        for at, pixels in enumerate(benchmark.images.pixels):
            Image.fromarray(pixels).save(tmp_path / name / f"{at:03}.png")
            region, home = (benchmark.groups[column][at] for column in ("region", "home"))
            rows.append(f"{name}/{at:03}.png,c{benchmark.labels[at, 0]},{region},{home}")
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "classes.csv").write_text("label,wnid,name\n" + "".join(f"{at},c{at},class {at}\n" for at in range(6)))
    (tmp_path / "made_model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


FEW = ("--resamples", "100", "--grid", "0.01,0.1", "--classes", "classes.csv", "--workers", "2")
WORDS = ("retrain", "--model", "python:made_model:pixels", "--on", "homes.csv", "--by", "region", *FEW)


def test_it_says_what_changed_and_where_everything_is(homes: Path, capsys: pytest.CaptureFixture[str]):
    code = run([*WORDS, "--transfer", "others.csv", "--cluster", "home", "--pair", "north,south", "-o", "out"])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert "homes (n = 240), top-1, by region: 6 classes" in out
    assert "north minus south" in out
    assert f"Report: {Path('out/report/index.html')}" in out
    assert load_head("out/head.safetensors").label_space.classes[0].id == "c0"
    assert len(list(homes.glob("out/features/*/*.npy"))) == 2
    assert json.loads((homes / "out/report/result.json").read_text())["schema"] == "resit.retrain/1"


def test_the_report_is_there_before_anything_is_printed(homes: Path, monkeypatch: pytest.MonkeyPatch):
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("resit.cli.retrain_summary.retrain_summary", stop)
    assert run([*WORDS, "-o", "out"]) == 130
    assert (homes / "out/report/index.html").exists()


def test_json_alone_on_standard_output(homes: Path, capsys: pytest.CaptureFixture[str]):
    assert run([*WORDS, "--json", "--no-report", "--balanced", "--refits", "2", "--features", "kept", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"]["balanced"] == "mean of 2 draws with groups of one size"
    assert not (homes / "retrained" / "report").exists()
    assert list((homes / "kept").rglob("*.npy"))


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--pair", "north"), 2, "not of the form GROUP,GROUP"),
        (("--grid", "a,b"), 2, "are no numbers"),
        (("--quantiles", "region=x"), 2, "no whole number"),
        (("--by", "planet"), 2, "no group column 'planet'"),
        (("--transfer", "nowhere.csv"), 2, "nowhere.csv"),
    ],
)
def test_errors_are_one_line(homes: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, message: str):
    ended = run([*WORDS, *words])
    err = capsys.readouterr().err
    assert ended == code
    assert message in err
    assert err.count("\n") == 1


def test_the_head_that_is_kept_can_be_evaluated(homes: Path, capsys: pytest.CaptureFixture[str]):
    assert run([*WORDS, "--no-report", "--quiet", "-o", "out"]) == 0
    spec = "head:out/head.safetensors?base=python:made_model:pixels"
    assert run(["evaluate", "--models", spec, "--on", "others.csv", "--classes", "classes.csv", "-o", "runs"]) == 0, (
        capsys.readouterr().err
    )
    assert "pixels (retrained)" in capsys.readouterr().out
