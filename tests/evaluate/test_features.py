"""Features: computed once, kept, gone on with after an interruption, and never read half-written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from featured import FEATURES, PixelModel, exam
from resit import Benchmark, InputError, OutputError, UsageError
from resit.evaluate.features import Features, extract
from resit.evaluate.settings import EvaluateSettings
from resit.models.protocol import OutOfMemory

SETTINGS = EvaluateSettings(batch_size=50, workers=2, max_errors=0.05)
N = 1_300  # three stretches


def asked(benchmark: Benchmark, model: PixelModel, folder: Path, settings: EvaluateSettings = SETTINGS) -> Features:
    return extract(model, benchmark, folder, settings)


def truth(benchmark: Benchmark) -> np.ndarray:
    return benchmark.images.pixels.reshape(benchmark.n, -1).astype(np.float32) / np.float32(127.5) - 1


def test_they_are_what_the_model_makes_in_the_order_of_the_examples(tmp_path: Path):
    benchmark, model = exam(N, 8)
    found = asked(benchmark, model, tmp_path)
    assert found.values.dtype == np.float32
    assert isinstance(found.values, np.memmap)
    assert not found.values.flags.writeable
    assert np.array_equal(found.values, truth(benchmark))
    assert found.usable.all()
    assert np.array_equal(np.load(found.path), found.values)


def test_they_are_computed_once(tmp_path: Path):
    benchmark, model = exam(N, 8)
    first = asked(benchmark, model, tmp_path)
    count, reads = model.asked, len(benchmark.images.reads)
    again = asked(benchmark, model, tmp_path)
    assert (model.asked, len(benchmark.images.reads)) == (count, reads)
    assert again.path == first.path
    assert np.array_equal(again.values, first.values)


def test_another_state_of_anything_has_another_file(tmp_path: Path):
    benchmark, model = exam(60, 8)
    other, _ = exam(60, 8, seed=1)
    heavier = PixelModel(model.weight * 2, model.bias, model.label_space.classes)
    turned = PixelModel(model.weight, model.bias, model.label_space.classes)
    turned.transform.fingerprint = "turned"
    cases = [
        (benchmark, model, SETTINGS),
        (other, model, SETTINGS),
        (benchmark, heavier, SETTINGS),
        (benchmark, turned, SETTINGS),
        (benchmark, model, replace(SETTINGS, orientation="ignore")),
    ]
    assert len({asked(one, by, tmp_path, how).path for one, by, how in cases}) == len(cases)


class Stops(PixelModel):
    """Stops after some examples, as an interrupted run does."""

    most = 700

    def features(self, batch: np.ndarray) -> np.ndarray:
        if self.asked + len(batch) > self.most:
            raise KeyboardInterrupt
        return super().features(batch)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path):
    benchmark, model = exam(N, 8, broken=frozenset({7, 900}))
    stops = Stops(model.weight, model.bias, model.label_space.classes)
    with pytest.raises(KeyboardInterrupt):
        asked(benchmark, stops, tmp_path)
    assert not list(tmp_path.rglob("*.npy"))
    found = asked(benchmark, model, tmp_path)
    assert model.asked == N - 512 - 1  # the second stretch again, with its one broken image
    expected = truth(benchmark)
    expected[[7, 900]] = np.nan
    assert np.array_equal(found.values, expected, equal_nan=True)
    assert [fault.row for fault in found.faults] == [7, 900]


def test_a_crash_between_any_two_writes_is_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The file of values may be ahead of its list, or there without one; what was not finished is never taken for it."""
    benchmark, model = exam(N, 8)
    for crash in range(1, 8):
        folder, left = tmp_path / str(crash), [crash]
        with monkeypatch.context() as patch:
            replace_ = Path.replace

            def failing(self: Path, target: Path, left: list[int] = left, real=replace_) -> Path:
                left[0] -= 1
                if not left[0]:
                    raise KeyboardInterrupt
                return real(self, target)

            patch.setattr(Path, "replace", failing)
            ended = False
            try:
                asked(benchmark, model, folder)
                ended = True
            except KeyboardInterrupt:
                assert not list(folder.rglob("*.npy"))
        found = asked(benchmark, model, folder)
        assert np.array_equal(found.values, truth(benchmark))
    assert ended


def test_a_stale_list_is_not_believed(tmp_path: Path):
    benchmark, model = exam(N, 8)
    found = asked(benchmark, model, tmp_path)
    found.path.unlink()
    stops = Stops(model.weight, model.bias, model.label_space.classes)
    stops.most = 100
    with pytest.raises(KeyboardInterrupt):
        asked(benchmark, stops, tmp_path)
    assert np.array_equal(asked(benchmark, model, tmp_path).values, truth(benchmark))


def test_unreadable_images_are_rows_of_nan_and_told(tmp_path: Path):
    benchmark, model = exam(60, 8, broken=frozenset({0, 59}))
    found = asked(benchmark, model, tmp_path)
    assert np.isnan(found.values[[0, 59]]).all()
    assert np.flatnonzero(~found.usable).tolist() == [0, 59]
    assert [note.code for note in found.notices] == ["unreadable-images"]
    assert "picture 0" in found.notices[0].message
    again = asked(benchmark, model, tmp_path)
    assert (again.faults, again.notices) == (found.faults, found.notices)


def test_too_many_unreadable_images_end_the_run_now_and_later(tmp_path: Path):
    benchmark, model = exam(N, 8, broken=frozenset(range(20)))
    strict = replace(SETTINGS, max_errors=0.01)
    with pytest.raises(InputError, match=r"20 of 1300 images cannot be read, more than --max-errors 0\.01"):
        asked(benchmark, model, tmp_path, strict)
    asked(benchmark, model, tmp_path)
    with pytest.raises(InputError, match="20 of 1300"):
        asked(benchmark, model, tmp_path, strict)


class Nan(PixelModel):
    def features(self, batch: np.ndarray) -> np.ndarray:
        found = super().features(batch).copy()
        found[1, 3] = np.inf
        return found


def test_features_that_are_not_finite_are_no_features(tmp_path: Path):
    benchmark, model = exam(60, 8)
    found = asked(benchmark, Nan(model.weight, model.bias, model.label_space.classes), tmp_path)
    assert found.invalid == (1, 51)
    assert np.isnan(found.values[1]).all()
    assert np.flatnonzero(~found.usable).tolist() == [1, 51]
    assert [note.code for note in found.notices] == ["invalid-features"]


class Small(PixelModel):
    """A device that holds seven examples."""

    def features(self, batch: np.ndarray) -> np.ndarray:
        if len(batch) > 7:
            raise OutOfMemory("too large")
        return super().features(batch)


def test_a_batch_that_is_too_large_is_halved(tmp_path: Path):
    benchmark, model = exam(120, 8)
    found = asked(benchmark, Small(model.weight, model.bias, model.label_space.classes), tmp_path)
    assert np.array_equal(found.values, truth(benchmark))


class Crooked(PixelModel):
    def scores(self, batch: np.ndarray) -> np.ndarray:
        return np.tanh(super().scores(batch)) + 3


class Short(PixelModel):
    def features(self, batch: np.ndarray) -> np.ndarray:
        return super().features(batch)[:, 1:]


@pytest.mark.parametrize(("kind", "message"), [(Crooked, "not what its head makes"), (Short, "features of shape")])
def test_a_model_that_contradicts_itself_is_refused(kind: type[PixelModel], message: str, tmp_path: Path):
    benchmark, model = exam(60, 8)
    with pytest.raises(UsageError, match=message):
        asked(benchmark, kind(model.weight, model.bias, model.label_space.classes), tmp_path)
    assert not list(tmp_path.rglob("*.npy"))


class NoFeatures:
    def __init__(self, model: PixelModel) -> None:
        self.id, self.label_space = model.id, model.label_space
        self.transform, self.provenance, self.scores = model.transform, model.provenance, model.scores


def test_models_without_features_and_sets_without_images_are_refused(tmp_path: Path):
    benchmark, model = exam(60, 8)
    with pytest.raises(UsageError, match="has no features"):
        asked(benchmark, NoFeatures(model), tmp_path)
    with pytest.raises(UsageError, match="without images"):
        asked(replace(benchmark, images=None), model, tmp_path)


def test_damaged_files_are_refused_in_words(tmp_path: Path):
    benchmark, model = exam(60, 8)
    path = asked(benchmark, model, tmp_path).path
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    with pytest.raises(InputError, match=r"Remove the file|cut off"):
        asked(benchmark, model, tmp_path)
    np.save(path, np.zeros((60, 3), np.float32))
    with pytest.raises(InputError, match=r"features of shape \(60, 3\)"):
        asked(benchmark, model, tmp_path)
    path.write_bytes(whole)
    beside = path.with_suffix(".json")
    told = json.loads(beside.read_text())
    beside.write_text(json.dumps(told | {"shape": [59, FEATURES]}))
    with pytest.raises(InputError, match="has shape"):
        asked(benchmark, model, tmp_path)
    beside.write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        asked(benchmark, model, tmp_path)
    beside.unlink()
    with pytest.raises(InputError, match="is gone"):
        asked(benchmark, model, tmp_path)


def test_two_processes_do_not_write_one_file(tmp_path: Path):
    fcntl = pytest.importorskip("fcntl")
    benchmark, model = exam(60, 8)
    lock = asked(benchmark, model, tmp_path).path.with_suffix(".lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OutputError, match="another process"):
            asked(benchmark, model, tmp_path)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    benchmark, model = exam(60, 8)
    (tmp_path / "homes").write_text("")
    with pytest.raises(OutputError, match="the features cannot be stored"):
        asked(benchmark, model, tmp_path)
