"""What ``resit evaluate`` shows: what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest

from resit.cli.evaluation import show_evaluation
from resit.evaluate.record import Answered, Evaluation


@pytest.mark.parametrize(
    ("stored", "asked", "compares"),
    [([], ["one"], False), ([], ["one", "two"], True), (["one"], ["two"], True)],
)
def test_a_comparison_is_next_from_two_models_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], stored: list[str], asked: list[str], compares: bool
):
    folders = [tmp_path / "old", tmp_path / "new"]
    for folder in folders:
        folder.mkdir()
        for name in ("labels", *stored, *asked):
            (folder / f"{name}.parquet").touch()
    answered = [
        Answered(folder.name, model, "full", 7, 10, 0, 0, "asked", str(folder / f"{model}.parquet"))
        for folder in folders
        for model in asked
    ]
    show_evaluation(Evaluation(tuple(answered), tuple(map(str, folders))), quiet=False)
    said = capsys.readouterr().out
    assert ("Next: resit compare" in said) is compares
    assert ("Next: ask another model" in said) is not compares
