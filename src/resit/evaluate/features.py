"""Features of a benchmark's images: computed once, kept in a file, and read from there; an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.decode import fingerprint as decoding_fingerprint
from resit.data.filenames import file_name
from resit.data.paths import short_list
from resit.errors import InputError, Notice, UsageError
from resit.evaluate.ask import stretches
from resit.evaluate.decoding import Fault, prepared
from resit.evaluate.exam import folder_name
from resit.evaluate.feature_store import FeatureStore
from resit.evaluate.local import batch_size_for
from resit.evaluate.settings import EvaluateSettings
from resit.models.protocol import Batch, FeatureModel, OutOfMemory
from resit.models.torch_model import LINEAR_TOLERANCE

Values = npt.NDArray[np.float32]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Features:
    """Features of a benchmark by one model.

    Parameters
    ----------
    values : ndarray of float32, shape (n, d)
        Memory-mapped, in the benchmark's order; rows without features are NaN.
    usable : ndarray of bool, shape (n,)
        Rows that have features.
    faults : tuple of Fault
        Images that could not be read.
    invalid : tuple of int
        Rows of images that could be read but whose features are not finite.
    notices : tuple of Notice
    path : Path
        File of the values.
    """

    values: Values
    usable: npt.NDArray[np.bool_]
    faults: tuple[Fault, ...]
    invalid: tuple[int, ...]
    notices: tuple[Notice, ...]
    path: Path


def extract(
    model: FeatureModel, benchmark: Benchmark, folder: Path, settings: EvaluateSettings, tell: Tell | None = None
) -> Features:
    """Features of a benchmark: from their file where they are there, else computed and stored.

    Every 512 images what was computed is on the disk; the same call again goes on from there. A file holds the features of one
    content of the benchmark by one state of the model (its provenance), prepared and decoded in one way.

    Parameters
    ----------
    model : FeatureModel
    benchmark : Benchmark
        With images.
    folder : Path
        Gets a folder a benchmark.
    settings : EvaluateSettings
        Orientation, batch size, threads and how many images may be unreadable.
    tell : callable, optional
        Told each step in words.

    Returns
    -------
    Features

    Raises
    ------
    InputError
        If too many images cannot be read.
    OutputError
        If the features cannot be stored, or another process is about it.
    UsageError
        If the model has no features, or its scores are not what its head makes of them.
    """
    if benchmark.images is None:
        raise UsageError("a benchmark without images has no features", where=benchmark.name, fix="Give its images.")
    if not isinstance(model, FeatureModel):
        fix = "Use a model whose last layer is one linear layer, such as timm:resnet50.a1_in1k."
        raise UsageError("the model has no features: its last layer cannot be replaced", where=model.id, fix=fix)
    shape = (benchmark.n, model.head()[0].shape[1])
    name = file_name(model.id, f"-{_identity(model, benchmark, settings)}.part").removesuffix(".part")
    store = FeatureStore(folder / folder_name(benchmark), name, shape)
    with store.opened():
        if not store.complete:
            _compute(model, benchmark, store, settings, tell or (lambda _: None))
            store.finish()
    _check_faults(benchmark, store, settings.max_errors)
    usable = np.ones(benchmark.n, bool)
    usable[[fault.row for fault in store.faults]] = False
    usable[store.invalid] = False
    notices = tuple(_notices(model, benchmark, store))
    return Features(store.values(), usable, tuple(store.faults), tuple(store.invalid), notices, store.path)


def _identity(model: FeatureModel, benchmark: Benchmark, settings: EvaluateSettings) -> str:
    """Digest of all that decides what the features are."""
    parts = [
        benchmark.content_fingerprint,
        *model.id,
        *sorted(model.provenance.items()),
        model.transform.fingerprint,
        decoding_fingerprint(settings.orientation),
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]


def _compute(model: FeatureModel, benchmark: Benchmark, store: FeatureStore, settings: EvaluateSettings, tell: Tell) -> None:
    """Fill in the stretches that are left, each for good before the next."""
    assert benchmark.images is not None
    every = stretches(benchmark.n)
    todo = [number for number in range(len(every)) if number not in store.done]
    asker = _Asker(model, batch_size_for(model, settings))
    size = asker.batch_size
    batches = (rows for number in todo for rows in _batches(every[number], size))
    stream = prepared(benchmark.images, batches, [model.transform], orientation=settings.orientation, threads=settings.threads)
    with closing(stream):
        for place, number in enumerate(todo, 1):
            rows = every[number]
            values = np.full((len(rows), store.shape[1]), np.nan, np.float32)
            faults: list[Fault] = []
            notes: list[str] = []
            for _ in _batches(rows, size):
                batch = next(stream)
                faults += batch.faults
                notes += batch.notes
                if batch.good:
                    values[np.array(batch.good) - rows.start] = asker.features(batch.inputs[0])
            lost = ~np.isfinite(values).all(axis=1)
            values[lost] = np.nan
            unreadable = {fault.row for fault in faults}
            invalid = [row for row in (np.flatnonzero(lost) + rows.start).tolist() if row not in unreadable]
            store.commit(number, rows, values, faults, notes, invalid)
            _check_faults(benchmark, store, settings.max_errors)
            tell(f"{benchmark.name}, features: {(len(every) - len(todo) + place) / len(every):.0%}")


def _batches(rows: range, size: int) -> list[range]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


class _Asker:
    """Asks for features in batches as large as the device holds; the first are held against the model's own scores."""

    def __init__(self, model: FeatureModel, batch_size: int) -> None:
        self.model, self.batch_size = model, batch_size
        self._head = model.head()
        self._checked = False

    def features(self, batch: Batch) -> Values:
        found = np.empty((len(batch), self._head[0].shape[1]), np.float32)
        start = 0
        while start < len(batch):
            part = batch[start : start + self.batch_size]
            try:
                values = np.asarray(self.model.features(part))
                if values.shape != (len(part), found.shape[1]) or values.dtype.kind != "f":
                    needed = (len(part), found.shape[1])
                    what = f"features of shape {values.shape} and type {values.dtype} where {needed} are needed"
                    raise UsageError(what, where=self.model.id, fix="Its head has a weight for each feature.")
                self._check(part, values)
            except OutOfMemory:
                if len(part) == 1:
                    raise
                self.batch_size = max(1, min(self.batch_size, len(part)) // 2)
                continue
            found[start : start + len(part)] = values
            start += len(part)
        return found

    def _check(self, batch: Batch, values: Values) -> None:
        usable = np.isfinite(values).all(axis=1)
        if self._checked or not usable.any():
            return
        weight, bias = self._head
        scores, again = np.asarray(self.model.scores(batch))[usable], values[usable] @ weight.T + bias
        within = LINEAR_TOLERANCE.get(self.model.provenance.get("precision", "float32"), max(LINEAR_TOLERANCE.values()))
        if scores.shape != again.shape or not np.abs(again - scores).max() <= within * np.abs(again).max():
            fix = "Use a model whose last layer is one linear layer."
            raise UsageError("its scores are not what its head makes of its features", where=self.model.id, fix=fix)
        self._checked = True


def _check_faults(benchmark: Benchmark, store: FeatureStore, most: float) -> None:
    if len(store.faults) > most * benchmark.n:
        told = short_list(_told(store.faults), 3)
        raise InputError(
            f"{len(store.faults)} of {benchmark.n} images cannot be read, more than --max-errors {most:g} allows: {told}",
            where=benchmark.name,
            fix="Mend them, or allow more; what was computed is kept.",
        )


def _notices(model: FeatureModel, benchmark: Benchmark, store: FeatureStore) -> Iterator[Notice]:
    name, n = benchmark.name, benchmark.n
    if store.faults:
        what = f"{len(store.faults)} of {n} images cannot be read"
        message = f"{what}; they are not trained on and count as wrong: {short_list(_told(store.faults))}."
        yield Notice("unreadable-images", name, message)
    if store.notes:
        yield Notice("odd-images", name, f"{len(store.notes)} images were odd: {short_list(store.notes)}.")
    if store.invalid:
        message = (
            f"The features of {len(store.invalid)} of {n} images are not finite; they are not trained on and count as wrong."
        )
        yield Notice("invalid-features", f"{model.id}@{name}", message)


def _told(faults: list[Fault]) -> list[str]:
    return [f"{fault.where} ({fault.reason})" for fault in sorted(faults, key=lambda fault: fault.row)]
