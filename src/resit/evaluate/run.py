"""Asks every model about every benchmark and stores what they answer; an interrupted run goes on where it stopped."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

import numpy as np

from resit.data.benchmark import Benchmark
from resit.data.load_benchmark import find, load_benchmark
from resit.data.paths import short_list
from resit.errors import InputError, OutputError, UsageError
from resit.evaluate.exam import exam_of, folder_name
from resit.evaluate.local import LocalExecutor
from resit.evaluate.record import Answered, Evaluation
from resit.evaluate.settings import EvaluateSettings, LabelSpaceChoice, Orientation
from resit.evaluate.sitting import Executor, Sitting, Tell
from resit.evaluate.spaces import scoring_of
from resit.models.load import load_model
from resit.models.options import ModelOptions, Precision
from resit.models.protocol import Model

ExecutorName = Literal["local", "ray"]


def evaluate(
    models: Sequence[str | Model],
    on: Sequence[str | Path | Benchmark],
    output: str | Path,
    *,
    label_space: LabelSpaceChoice = "auto",
    classes: str | Path | None = None,
    top: int = 5,
    orientation: Orientation = "apply",
    batch_size: int | None = None,
    workers: int | None = None,
    device: str = "auto",
    precision: Precision = "float32",
    compile: bool = False,
    allow_pickle: bool = False,
    max_errors: float = 0.01,
    models_at_once: int = 8,
    overwrite: bool = False,
    executor: ExecutorName | Executor = "local",
    address: str | None = None,
    progress: Tell | None = None,
) -> Evaluation:
    """Ask every model about every benchmark, and store the answers.

    Every 512 examples what was answered is stored for good. The same call again goes on from there, and leaves out the pairs of
    model and benchmark that are complete.

    Parameters
    ----------
    models : sequence of str or Model
        Models, or what :func:`resit.load_model` takes, such as ``timm:resnet50.a1_in1k`` or ``onnx:model.onnx``.
    on : sequence of str, path or Benchmark
        Benchmarks, or what :func:`resit.load_benchmark` takes: a path, the name of a known benchmark, or ``NAME=PATH``.
    output : path
        Folder that gets one folder a benchmark.
    label_space : {'auto', 'full', 'subset'}
        Classes that answers are taken from. ``full``: all of the benchmark's class list. ``subset``: those of the test set's
        own convention, else those with examples. ``auto``: the convention where there is one, else all.
    classes : str or path, optional
        Class list of benchmarks that are given as paths: a known one such as ``imagenet-1k``, or a file.
    top : int
        How many answers are kept.
    orientation : {'apply', 'ignore'}
        What to do with the orientation that EXIF tells.
    batch_size : int, optional
        Images in a batch. Default: 256 on an accelerator, 32 on a CPU. It is halved where memory is too small.
    workers : int, optional
        Threads that decode. Default: the cores.
    device, precision, compile, allow_pickle
        As in :class:`resit.ModelOptions`.
    max_errors : float
        Fraction of a benchmark's images, from 0 to 1, that may be unreadable and count as wrong; above it the run fails.
    models_at_once : int
        Models that are in memory together, so that each image is decoded once for all of them.
    overwrite : bool
        Replace stored answers that were made in another way.
    executor : {'local', 'ray'} or Executor
        Where models are asked.
    address : str, optional
        Of the Ray cluster; ``auto`` finds one. Default: a cluster of this machine alone.
    progress : callable, optional
        Told each step in words.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If a benchmark cannot be read, a model does not score its classes, or too many images cannot be read.
    OutputError
        If answers cannot be stored, or were made in another way.
    UsageError
        If the arguments do not fit together.
    """
    options = ModelOptions(device, precision, compile, allow_pickle)
    settings = EvaluateSettings(
        label_space, top, orientation, batch_size, workers, max_errors, overwrite, models_at_once, options
    )
    tell = progress or (lambda _: None)
    for what, given in (("models", models), ("on", on)):
        if isinstance(given, (str, Path)):
            raise UsageError(f"one word where a list is needed: {str(given)!r}", where=what, fix="Put it in brackets.")
    if not models or not on:
        raise UsageError("nothing to ask" if models else "nobody to ask", where="on" if models else "models", fix="Name one.")
    target = _writable(Path(output))
    benchmarks = [_benchmark(source, classes, tell) for source in on]
    folders = [folder_name(benchmark) for benchmark in benchmarks]
    _refuse_twice([name.lower() for name in folders], "benchmarks", "Give one of them another name: NAME=PATH.")
    _refuse_twice([source for source in models if isinstance(source, str)], "models", "Leave one out.")
    for name in folders:
        _writable(target / name)
    scorings = [scoring_of(benchmark, label_space) for benchmark in benchmarks]
    answered: list[list[Answered]] = [[] for _ in benchmarks]
    notices = [notice for benchmark in benchmarks for notice in benchmark.notices]
    names: list[str] = []
    with closing(_executor(executor, address)) as asked:
        for start in range(0, len(models), models_at_once):
            loaded = [(source, _loaded(source, options, tell)) for source in models[start : start + models_at_once]]
            names += [str(model.id).lower() for _, model in loaded]
            _refuse_twice(names, "models", "Give one of them another name: add ?name=… to it.")
            sittings = [
                Sitting([exam_of(*one, benchmark, scoring, target, settings) for one in loaded], settings, tell)
                for benchmark, scoring in zip(benchmarks, scorings, strict=True)
            ]
            for place, sitting in enumerate(sittings):
                answered[place] += sitting.hold(asked)
                notices += sitting.notices
    return Evaluation(
        tuple(one for some in answered for one in some), tuple(str(target / name) for name in folders), tuple(notices)
    )


def _benchmark(source: str | Path | Benchmark, classes: str | Path | None, tell: Tell) -> Benchmark:
    tell(f"Reading {source.name if isinstance(source, Benchmark) else source}")
    benchmark = source if isinstance(source, Benchmark) else load_benchmark(source, classes=_classes_for(source, classes))
    if benchmark.images is None:
        fix = "Give its images: a path, a known name, or load_benchmark(…)."
        raise UsageError("a benchmark without images cannot be asked", where=benchmark.name, fix=fix)
    if benchmark.n == 0:
        raise InputError("a benchmark without examples", where=benchmark.name, fix="Check the path and its layout.")
    _refuse_unfit(benchmark)
    return benchmark


def _classes_for(source: str | Path, classes: str | Path | None) -> str | Path | None:
    """The class list that was given, but for a known benchmark that has its own."""
    card = find(source).card if classes is not None else None
    return None if card is not None and card.classes else classes


def _refuse_unfit(benchmark: Benchmark) -> None:
    """Refuse, before hours of work, what could not be read back: it was made in Python, and no reader has checked it."""
    labels, ids = benchmark.labels, benchmark.ids
    if ids is not None and len(set(ids.tolist())) < benchmark.n:
        raise InputError("ids that are there twice", where=benchmark.name, fix="Each example needs an id of its own.")
    if labels.max() >= benchmark.n_classes or labels.min() < -1:
        what = f"labels from {labels.min()} to {labels.max()} for {benchmark.n_classes} classes"
        raise InputError(what, where=benchmark.name, fix="Labels are indices of classes, from 0; -1 only fills up.")
    accepted = (labels >= 0).sum(axis=1)
    if accepted.max() < 2 and not accepted.all():
        what = f"{np.count_nonzero(accepted == 0)} examples without a label"
        raise InputError(what, where=benchmark.name, fix="Leave them out.")


def _loaded(source: str | Model, options: ModelOptions, tell: Tell) -> Model:
    if isinstance(source, Model):
        return source
    if not isinstance(source, str):
        raise UsageError(
            f"{type(source).__name__} is no model",
            where="models",
            fix="Give its name, such as timm:resnet50, or an object with id, label_space, transform, provenance and scores.",
        )
    tell(f"Loading {source}")
    return load_model(source, options)


def _writable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror or error}",
            where=folder,
            fix="Choose another folder or, of a benchmark, another name (NAME=PATH), or check its permissions.",
        ) from error
    return folder


def _refuse_twice(names: Sequence[str], what: str, fix: str) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise UsageError(f"two {what} of one name: {short_list(twice)}", fix=fix)


def _executor(executor: ExecutorName | Executor, address: str | None) -> Executor:
    if address is not None and executor != "ray":
        raise UsageError("an address is of a Ray cluster", where="address", fix="Add --executor ray.")
    if executor == "local":
        return LocalExecutor()
    if executor == "ray":
        from resit.evaluate.on_ray import RayExecutor

        return RayExecutor(address)
    if isinstance(executor, str):
        raise UsageError(f"no executor {executor!r}", where="executor", fix="Use local or ray.")
    return executor
