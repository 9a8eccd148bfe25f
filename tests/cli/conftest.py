"""What the tests of the command line share: running it in this process, and a small result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from resit.cli import run
from resit.study.result import (
    Aline,
    Baseline,
    Bootstrap,
    Caution,
    Comparison,
    Estimate,
    Fit,
    LabelSpaces,
    Repair,
    Result,
    SetInfo,
    Unmatched,
)


@dataclass
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def resit(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Run the command line in this process, as wide as the table needs and without colours."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")

    def go(*words: object) -> Ended:
        code = run([str(word) for word in words])
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return go


@pytest.fixture
def result() -> Result:
    """A result with one comparison, a repair and a warning."""
    slope = Estimate(1.11, 1.078, 1.189, "percentile")
    line = Fit("linear", 64, slope, Estimate(-0.2, -0.3, -0.1, "percentile"), 0.99, 0.01)
    comparison = Comparison(
        new=SetInfo("v2", 10_000, "predictions", "imagenet", 67),
        metric="top1",
        weighting="micro",
        label_space=LabelSpaces("imagenet", "imagenet"),
        n_models=67,
        baseline=Baseline("kind=convnet", 64),
        mean_original=0.7,
        mean_new=0.58,
        mean_change=-0.12,
        mean_change_interval=Estimate(-0.12, -0.13, -0.11, "bootstrap"),
        fits={"linear": line},
        fits_all={"linear": line},
        bootstrap=Bootstrap("models", 1000),
        spearman=0.997,
        kendall=0.98,
        real_swaps=(),
        n_pairs=2211,
        models=(),
        aline=Aline(None, None, None, None, None, None, "not asked"),
        drop_in_years=Estimate(None, reason="no dates"),
        classes=None,
        confusions=None,
        unmatched=Unmatched((), ()),
        verdict=("Better models stay better.",),
    )
    return Result(
        schema="resit.compare/1",
        level=0.95,
        seed=0,
        original=SetInfo("val", 50_000, "predictions", "imagenet", 67),
        comparisons=(comparison,),
        overlaps=(),
        repairs=(Repair("alias", "a=b", "a was read as b"),),
        warnings=(Caution("worst-first", "fv_16k", "Classes stored [worst] first."),),
        settings={},
        versions={},
    )
