import errno
import io
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
import sat
from PIL import Image

import resit
from resit.data.load import load_predictions
from resit.errors import InputError, OutputError, UsageError
from resit.evaluate.run import evaluate
from resit.evaluate.settings import SHARD


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def by_hand(exam, model, k=5):
    """A plain loop: each image alone, sorted by score."""
    rows = []
    for row in range(exam.n):
        with Image.open(io.BytesIO(exam.images[row])) as image:
            scores = model.scores(np.asarray(image.convert("RGB"), np.float32)[None])[0]
        rows.append(sorted(range(len(scores)), key=lambda column: (-scores[column], column))[:k])
    return np.array(rows)


def test_answers_are_those_of_a_plain_loop(tmp_path):
    exam = sat.made(n=SHARD + 70)
    models = [sat.Reader("a"), sat.Reader("b", shift=1), sat.Reader("c", classes=sat.CLASSES[::-1])]
    result = evaluate(models, [exam], tmp_path, batch_size=33)
    stored = load_predictions(tmp_path / "seen")
    assert [str(model) for model in stored.models] == ["a", "b", "c"]
    assert stored.benchmark.content_fingerprint == exam.content_fingerprint
    assert stored.answers[0].tolist() == by_hand(exam, sat.Reader()).tolist()
    assert stored.answers[1].tolist() == by_hand(exam, sat.Reader(shift=1)).tolist()
    assert stored.answers[2].tolist() == (6 - by_hand(exam, sat.Reader(classes=sat.CLASSES[::-1]))).tolist()
    right = np.count_nonzero(by_hand(exam, sat.Reader())[:, 0] == exam.labels[:, 0])
    assert (result.answered[0].correct, result.answered[0].n, result.answered[0].state) == (right, exam.n, "asked")
    assert not (tmp_path / "seen" / ".resit-run").exists()


def test_what_was_evaluated_is_compared_straight_on(tmp_path):
    models = [sat.Reader(name, shift=shift) for name, shift in (("a", 0), ("b", 1), ("c", 2), ("d", 3))]
    result = evaluate(models, [sat.made(400), sat.made(300, "new", seed=1)], tmp_path)
    compared = resit.compare(*map(load_predictions, result.folders), model_resamples=50, example_resamples=50)
    assert compared.comparisons[0].n_models == 4


def test_every_image_is_decoded_once_for_all_models(tmp_path):
    reads = []

    class Counted(sat.Stored):
        def __getitem__(self, index):
            reads.append(index)
            return super().__getitem__(index)

    exam = sat.made()
    exam = replace(exam, images=Counted(exam.images.files))
    models = [sat.Reader("a"), sat.Reader("b"), sat.Reader("c", transform=sat.Pixels("other"))]
    evaluate(models, [exam], tmp_path)
    assert sorted(reads) == list(range(exam.n))


def test_case_34_an_interrupted_run_asks_only_the_rest(tmp_path):
    exam = sat.made(n=2 * SHARD + 10)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    evaluate([sat.Reader("a"), sat.Reader("b")], [exam], whole)
    with pytest.raises(KeyboardInterrupt):
        evaluate([sat.Reader("a"), sat.Reader("b", fail_at=SHARD + 40)], [exam], broken)
    again = [sat.Reader("a"), sat.Reader("b")]
    result = evaluate(again, [exam], broken)
    assert [model.asked for model in again] == [SHARD + 10, SHARD + 10]
    assert [one.state for one in result.answered] == ["resumed", "resumed"]
    assert bytes_of(broken / "seen") == bytes_of(whole / "seen")


def test_case_34_finished_pairs_are_not_asked_again(tmp_path):
    exam = sat.made()
    first = evaluate([sat.Reader("a")], [exam], tmp_path)
    models = [sat.Reader("a"), sat.Reader("b")]
    second = evaluate(models, [exam], tmp_path)
    assert [model.asked for model in models] == [0, exam.n]
    assert [one.state for one in second.answered] == ["stored", "asked"]
    assert second.answered[0].correct == first.answered[0].correct


def test_case_34_a_damaged_shard_is_asked_again(tmp_path):
    exam = sat.made(n=2 * SHARD)
    with pytest.raises(KeyboardInterrupt):
        evaluate([sat.Reader("a", fail_at=SHARD + 1)], [exam], tmp_path)
    (shard,) = (tmp_path / "seen" / ".resit-run").rglob("*.npz")
    shard.write_bytes(shard.read_bytes()[:100])
    (shard.parent / "000001.npz.123.part").write_bytes(b"half")
    model = sat.Reader("a")
    evaluate([model], [exam], tmp_path)
    assert model.asked == exam.n


def test_shards_of_other_weights_are_not_mixed_in(tmp_path):
    exam = sat.made(n=2 * SHARD)
    with pytest.raises(KeyboardInterrupt):
        evaluate([sat.Reader("a", fail_at=SHARD + 1)], [exam], tmp_path)
    model = sat.Reader("a", weights="2", shift=1)
    evaluate([model], [exam], tmp_path)
    assert model.asked == exam.n


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (sat.Reader("a", transform=sat.Pixels("cropped")), "transform_fingerprint was 'pixels"),
        (sat.Reader("a", weights="2"), "weights was '1', now '2'"),
    ],
)
def test_case_5_answers_made_in_another_way_are_not_replaced_unasked(tmp_path, model, told):
    exam = sat.made()
    evaluate([sat.Reader("a")], [exam], tmp_path)
    before = bytes_of(tmp_path / "seen")
    with pytest.raises(OutputError, match=told):
        evaluate([model], [exam], tmp_path)
    assert bytes_of(tmp_path / "seen") == before
    evaluate([model], [exam], tmp_path, overwrite=True)
    assert bytes_of(tmp_path / "seen") != before


def test_case_4_answers_out_of_other_classes_are_not_put_beside(tmp_path):
    exam = replace(sat.made(), subset=np.array([0, 1, 2], np.int32), label_space="odd (3 of seven)")
    result = evaluate([sat.Reader("a")], [exam], tmp_path)
    assert result.answered[0].label_space == "odd (3 of seven)"
    stored = load_predictions(tmp_path / "seen")
    assert stored.label_space == "odd (3 of seven)"
    assert set(np.unique(stored.answers)) == {0, 1, 2}
    with pytest.raises(OutputError, match="label_space was 'odd"):
        evaluate([sat.Reader("a")], [exam], tmp_path, label_space="full")
    with pytest.raises(OutputError, match="holds answers out of odd"):
        evaluate([sat.Reader("b")], [exam], tmp_path, label_space="full")


def test_case_13_an_unreadable_image_is_an_error_row(tmp_path):
    exam = sat.made(n=200, broken=(3, 150))
    result = evaluate([sat.Reader("a")], [exam], tmp_path)
    (one,) = result.answered
    assert (one.unreadable, one.n) == (2, 200)
    table = pq.read_table(tmp_path / "seen" / "a.parquet").to_pydict()
    assert [row for row, text in enumerate(table["error"]) if text] == [3, 150]
    assert table["error"][3].startswith("image-3.png: ")
    assert [row for row, top in enumerate(table["top1"]) if top is None] == [3, 150]
    assert any("image-3.png" in notice.message for notice in result.notices if notice.code == "unreadable-images")
    assert not load_predictions(tmp_path / "seen").correct()[0, [3, 150]].any()


def test_case_13_too_many_unreadable_images_end_the_run_and_keep_what_was_done(tmp_path):
    exam = sat.made(n=2 * SHARD, broken=range(SHARD, SHARD + 30))
    with pytest.raises(InputError, match=r"--max-errors 0\.01"):
        evaluate([sat.Reader("a")], [exam], tmp_path)
    assert not (tmp_path / "seen" / "a.parquet").exists()
    model = sat.Reader("a")
    result = evaluate([model], [exam], tmp_path, max_errors=0.05)
    assert result.answered[0].unreadable == 30
    assert model.asked == 0


def test_case_21_scores_that_are_not_finite_are_counted_wrong_and_told(tmp_path):
    class Odd(sat.Reader):
        def scores(self, batch):
            scores = super().scores(batch)
            scores[batch[:, 0, 0, 0] == 2] = np.nan
            return scores

    exam = sat.made()
    result = evaluate([Odd("a")], [exam], tmp_path)
    stored = load_predictions(tmp_path / "seen")
    assert result.answered[0].invalid == np.count_nonzero(stored.answers[0, :, 0] < 0) > 0
    assert "invalid-scores" in [notice.code for notice in result.notices]


def test_case_3_near_chance_is_loud(tmp_path):
    class Guess(sat.Reader):
        def scores(self, batch):
            return batch.reshape(len(batch), -1)[:, 3:10].astype(np.float32)

    result = evaluate([Guess("a")], [sat.made(n=300)], tmp_path)
    assert "near-chance" in [notice.code for notice in result.notices]


def test_models_beyond_those_in_memory_at_once_are_asked_in_turn(tmp_path):
    models = [sat.Reader(name) for name in "abcde"]
    result = evaluate(models, [sat.made(), sat.made(name="other", seed=3)], tmp_path, models_at_once=2)
    assert [(one.benchmark, one.model) for one in result.answered] == [
        (name, model) for name in ("seen", "other") for model in "abcde"
    ]


def test_better_labels_keep_the_answers(tmp_path):
    exam = sat.made()
    evaluate([sat.Reader("a")], [exam], tmp_path)
    better = replace(exam, labels=np.stack([exam.labels[:, 0], (exam.labels[:, 0] + 1) % 7], axis=1).astype(np.int32))
    model = sat.Reader("a", shift=0)
    result = evaluate([model, sat.Reader("b")], [better], tmp_path)
    assert result.answered[0].state == "stored"
    assert result.answered[0].correct == np.count_nonzero(load_predictions(tmp_path / "seen").correct()[0])


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda out: evaluate([], [sat.made()], out), UsageError, "nobody to ask"),
        (lambda out: evaluate([sat.Reader()], [], out), UsageError, "nothing to ask"),
        (lambda out: evaluate([sat.Reader("a"), sat.Reader("A")], [sat.made()], out), UsageError, "two models"),
        (lambda out: evaluate([sat.Reader()], [sat.made(), sat.made()], out), UsageError, "two benchmarks"),
        (lambda out: evaluate([sat.Reader()], [replace(sat.made(), images=None)], out), UsageError, "without images"),
        (lambda out: evaluate([sat.Reader()], [sat.made()], out, max_errors=2), UsageError, "from 0 to 1"),
        (lambda out: evaluate([sat.Reader()], [sat.made()], out, executor="slurm"), UsageError, "no executor"),
        (lambda out: evaluate([sat.Reader()], [sat.made()], out, address="auto"), UsageError, "--executor ray"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_asked(tmp_path, call, kind, told):
    with pytest.raises(kind, match=told):
        call(tmp_path / "out")


def test_case_36_a_full_disk_leaves_what_was_done(tmp_path, monkeypatch):
    exam = sat.made(n=2 * SHARD)
    with pytest.raises(KeyboardInterrupt):
        evaluate([sat.Reader("a", fail_at=SHARD + 1)], [exam], tmp_path)

    def full(*args, **rest):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        with pytest.raises(OutputError, match=r"No space left.*finished shards are kept"):
            evaluate([sat.Reader("a")], [exam], tmp_path)
    model = sat.Reader("a")
    evaluate([model], [exam], tmp_path)
    assert model.asked == SHARD
    assert not list(tmp_path.rglob("*.part"))


def test_case_36_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OutputError, match="cannot be written"):
        evaluate([sat.Reader()], [sat.made()], tmp_path / "out")
