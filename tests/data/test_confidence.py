"""How sure a model is of its first answer: read from scores, from columns and from our own store, and joined by ids."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from exam_files import LABELS, write_csv
from scipy import special

from resit.data import Benchmark, ModelId, Predictions, load_predictions, save_predictions
from resit.data import read_array as reader
from resit.data.repairs import reverse_answers
from resit.errors import UsageError

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(0, 3, (6, 4))
PROBABILITIES = special.softmax(LOGITS, axis=1)


def folder_of(root: Path, **scores: np.ndarray) -> Path:
    folder = root / "exam"
    folder.mkdir()
    for name, array in scores.items():
        np.save(folder / f"{name}.npy", array)
    np.save(root / "exam_labels.npy", np.array(LABELS))
    return folder


def codes(found: Predictions) -> list[str]:
    return [one.code for one in found.notices]


def sure(found: Predictions) -> np.ndarray:
    assert found.confidence is not None
    assert found.confidence.dtype == np.float32
    return found.confidence


def test_probabilities_are_taken_as_they_are(tmp_path: Path):
    found = load_predictions(folder_of(tmp_path, a=PROBABILITIES))
    assert sure(found)[0] == pytest.approx(PROBABILITIES.max(axis=1), abs=1e-6)
    assert codes(found) == []


@pytest.mark.parametrize("rows", [1, 100])
def test_other_scores_are_softmaxed_and_this_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int):
    monkeypatch.setattr(reader, "CHUNK", 4 * rows)
    late = PROBABILITIES.copy()
    late[5] *= 2  # the last row alone shows that they are no probabilities
    found = load_predictions(folder_of(tmp_path, a=late))
    assert sure(found)[0] == pytest.approx(special.softmax(late, axis=1).max(axis=1), abs=1e-6)
    assert codes(found) == ["scores-as-logits"]


def test_large_logits_do_not_overflow(tmp_path: Path):
    found = load_predictions(folder_of(tmp_path, a=LOGITS * 1e4))
    assert sure(found)[0] == pytest.approx(special.softmax(LOGITS * 1e4, axis=1).max(axis=1), abs=1e-6)


def test_many_files_of_logits_are_told_once(tmp_path: Path):
    found = load_predictions(folder_of(tmp_path, a=LOGITS, b=LOGITS[::-1], c=PROBABILITIES))
    assert codes(found) == ["scores-as-logits"]
    assert "2 files" in found.notices[0].message
    assert sure(found)[2] == pytest.approx(PROBABILITIES.max(axis=1), abs=1e-6)


def test_rows_without_an_answer_have_no_confidence(tmp_path: Path):
    odd = PROBABILITIES.copy()
    odd[1, 2], odd[3] = np.nan, 0.25
    found = load_predictions(folder_of(tmp_path, a=odd))
    assert np.isnan(sure(found)[0]).tolist() == [False, True, False, True, False, False]
    assert codes(found) == ["invalid-scores"]


def test_where_no_model_tells_it_there_is_none(tmp_path: Path):
    assert load_predictions(folder_of(tmp_path, a=np.array(LABELS))).confidence is None


ROWS = [f"x{at},{at % 3},{at / 10 + 0.3:g}" for at in range(6)]


@pytest.mark.parametrize("name", ["confidence", "Conf"])
def test_a_column_is_joined_by_id_with_the_answers(tmp_path: Path, name: str):
    folder = tmp_path / "exam"
    folder.mkdir()
    write_csv(folder / "a.csv", f"id,pred,{name}", [ROWS[at] for at in (3, 1, 0, 5, 2, 4)])
    write_csv(folder / "b.csv", "id,pred", [row.rpartition(",")[0] for row in ROWS])
    write_csv(tmp_path / "exam.csv", "id,label", [f"x{at},{label}" for at, label in enumerate(LABELS)])
    found = load_predictions(folder)
    assert sure(found)[0] == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    assert np.isnan(sure(found)[1]).all()
    assert found.correct().all()


def test_padding_with_a_confidence_that_rounds_otherwise_is_no_conflict(tmp_path: Path):
    folder = tmp_path / "exam"
    folder.mkdir()
    write_csv(folder / "a.csv", "id,pred,confidence", [*ROWS, "x0,0,0.3000001", "x1,1,"])
    write_csv(tmp_path / "exam.csv", "id,label", [f"x{at},{label}" for at, label in enumerate(LABELS)])
    found = load_predictions(folder)
    assert codes(found) == ["duplicates-collapsed"]
    assert "2 examples" in found.notices[0].message
    assert sure(found)[0, :2] == pytest.approx([0.3, 0.4])


@pytest.mark.parametrize("bad", ["97.5", "-0.2", "high", "inf"])
def test_a_column_of_something_else_is_ignored_and_told(tmp_path: Path, bad: str):
    rows = [*(f"{row},{at % 3}" for at, row in enumerate(ROWS[:-1])), f"x5,2,{bad},2"]
    found = load_predictions(write_csv(tmp_path / "a.csv", "id,pred,conf,label", rows))
    assert found.confidence is None
    assert codes(found) == ["confidence-ignored"]
    assert found.correct().all()


def test_missing_confidences_are_unknown_and_rounding_is_cut_off(tmp_path: Path):
    told = ["", "1.0000001", "0.5", "nan", "0", "1"]
    rows = [f"x{at},{at % 3},{at % 3},{text}" for at, text in enumerate(told)]
    found = load_predictions(write_csv(tmp_path / "a.csv", "id,pred,label,confidence", rows))
    assert sure(found)[0] == pytest.approx([np.nan, 1, 0.5, np.nan, 0, 1], nan_ok=True)


def test_right_and_wrong_may_have_confidence_too(tmp_path: Path):
    rows = [f"x{at},{at % 2},0.{at + 2}" for at in range(4)]
    found = load_predictions(write_csv(tmp_path / "a.csv", "id,correct,confidence", rows))
    assert found.is_correctness
    assert sure(found)[0] == pytest.approx([0.2, 0.3, 0.4, 0.5])
    assert codes(found) == []
    folder = tmp_path / "many"
    folder.mkdir()
    truths = [row.replace(",0,", ",false,").replace(",1,", ",true,") for row in rows]
    write_csv(folder / "m.csv", "id,correct,confidence", truths)
    assert sure(load_predictions(folder))[0] == pytest.approx([0.2, 0.3, 0.4, 0.5])


def test_a_long_table_tells_each_models(tmp_path: Path):
    rows = [
        f"{model},x{at},{label},{label},{at / 10 + add:g}"
        for model, add in (("a", 0.1), ("b", 0.3))
        for at, label in enumerate(LABELS)
    ]
    order = np.random.default_rng(1).permutation(len(rows))
    found = load_predictions(write_csv(tmp_path / "t.csv", "model,id,pred,label,confidence", [rows[at] for at in order]))
    at = [found.benchmark.ids.tolist().index(f"x{row}") for row in range(6)]
    for model, add in (("a", 0.1), ("b", 0.3)):
        assert sure(found)[found.models.index(ModelId(model)), at] == pytest.approx(np.arange(6) / 10 + add)


def test_of_a_row_for_each_rank_the_best_ones_counts(tmp_path: Path):
    rows = [
        f"a,x{at},{rank},{(label + rank - 1) % 3},{label},{0.8 / rank:g}" for at, label in enumerate(LABELS) for rank in (2, 1)
    ]
    found = load_predictions(write_csv(tmp_path / "t.csv", "model,id,rank,pred,label,confidence", rows))
    assert found.correct().all()
    assert sure(found)[0] == pytest.approx([0.8] * 6)


def stored(confidence: np.ndarray | None = None) -> Predictions:
    benchmark = Benchmark("exam", np.array(LABELS, np.int32)[:, None], ids=np.array([f"x{at}" for at in range(6)]))
    answers = np.stack([np.array(LABELS), (np.array(LABELS) + 1) % 3], axis=1).astype(np.int16)
    return Predictions(benchmark, (ModelId("a"), ModelId("b")), np.stack([answers, answers]), confidence=confidence)


def test_the_store_keeps_it_where_it_is_known(tmp_path: Path):
    confidence = np.array([[0.1, np.nan, 0.3, 0.4, 0.5, 1], [np.nan] * 6], np.float32)
    save_predictions(stored(confidence), tmp_path / "one")
    assert pq.read_schema(tmp_path / "one" / "a.parquet").names == ["id", "top1", "top2", "confidence"]
    assert str(pq.read_schema(tmp_path / "one" / "a.parquet").field("confidence").type) == "float"
    assert pq.read_table(tmp_path / "one" / "a.parquet")["confidence"].null_count == 1
    np.testing.assert_array_equal(sure(load_predictions(tmp_path / "one")), confidence)
    save_predictions(stored(), tmp_path / "two")
    assert (tmp_path / "one" / "b.parquet").read_bytes() == (tmp_path / "two" / "b.parquet").read_bytes()
    assert load_predictions(tmp_path / "two").confidence is None


def test_chosen_models_keep_their_own():
    confidence = RNG.random((2, 6)).astype(np.float32)
    chosen = stored(confidence).select([ModelId("b"), ModelId("a")])
    np.testing.assert_array_equal(sure(chosen), confidence[::-1])


def test_what_was_told_of_the_worst_answer_is_not_kept_for_the_best():
    confidence = RNG.random((2, 6)).astype(np.float32)
    given = stored(confidence)
    turned = reverse_answers(given, ["a"])
    assert np.isnan(sure(turned)[0]).all()
    np.testing.assert_array_equal(sure(turned)[1], confidence[1])
    np.testing.assert_array_equal(sure(given), confidence)


def test_another_shape_is_refused():
    with pytest.raises(UsageError, match=r"confidence needs shape \(2, 6\), not \(6, 2\)"):
        replace(stored(), confidence=np.zeros((6, 2), np.float32))
