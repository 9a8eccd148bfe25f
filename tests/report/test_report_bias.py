"""The page of a bias report: what it shows, and what it shows where there is nothing to show."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from resit.build.bias import bias_report
from resit.build.bias_record import BiasReport
from resit.report.bias import bias_files, write_bias

BEHIND = ("<script", "refresh")


def made(*, models: bool) -> BiasReport:
    rng = np.random.default_rng(0)
    s = {"o": rng.beta(6, 2, 300), "n": rng.beta(3, 2, 300)}
    sides = {}
    for name, one in s.items():
        keys = {"image": [f"{name}{i:03}" for i in range(300)], "class_id": ["a"] * 300}
        counts = pa.table({**keys, "selected": rng.binomial(10, one), "shown": np.full(300, 10)})
        right = {f"<model {at}>": (rng.random(300) < one).astype(float) for at in range(2)}
        sides[name] = (counts, pa.table({**keys, **right}))
    (old, right_old), (new, right_new) = sides["o"], sides["n"]
    given = {"correct_original": right_old, "correct_new": right_new} if models else {}
    return bias_report(old, new, new, chosen_by_votes=False, resamples=10, **given)


def test_the_page_says_what_was_found_and_tables_hold_every_model(tmp_path: Path):
    report = made(models=True)
    page = write_bias(report, tmp_path / "report", "pets, r1")
    text = page.read_text(encoding="utf-8")
    assert "pets, r1" in text
    assert text.count("<svg") == 3
    assert "&lt;model 1&gt;" in text
    assert "<model 1>" not in text
    assert not any(one in text for one in BEHIND)
    assert all(sentence.replace("'", "&#39;") in text for sentence in report.summary)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "report" / "tables" / "accuracies.csv").read_text())))
    assert [row["model"] for row in rows] == ["mean of models", "<model 0>", "<model 1>"]
    assert float(rows[2]["parametric"]) == report.models[1].parametric.value
    assert json.loads((page.parent / "result.json").read_text()) == json.loads(json.dumps(report.to_record()))
    assert (page.parent / "figures" / "drops.svg").exists()


def test_without_models_frequencies_are_shown_alone():
    files = bias_files(made(models=False), "pets, r1")
    assert {name for name in files if name.endswith(".svg")} == {"figures/frequencies.svg"}
    assert "no model&#39;s correctness on these images was given" in files["index.html"].decode()


def test_the_summary_says_in_words_which_way():
    report = made(models=True)
    assert report.summary[0].startswith("People select the new images less readily than the original's: -")
    assert report.summary[1].startswith("Observed drop, original minus new: ")
    assert [line.split()[2] for line in report.summary[2:]] == ["naive", "jackknife", "parametric"]
