"""What there is to explain a drop with: answers of the same models, images, training data, votes and what a build knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resit.build.steps.originals import original_ids, read_counts
from resit.data.benchmark import Benchmark
from resit.data.load_benchmark import load_benchmark
from resit.data.paths import counted, short_list
from resit.data.predictions import Predictions
from resit.errors import InputError, Notice, ResitError, UsageError
from resit.study.hypotheses.duplicate_pairs import read_judged
from resit.study.hypotheses.interface import Material
from resit.study.setview import SetView

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.build.steps.opened import Build

Tell = Callable[[str], None]
Source = str | Path | Benchmark


@dataclass(frozen=True)
class Sources:
    """Where the material is, as :func:`resit.explain` takes it."""

    train: Sequence[Source] = ()
    classes: str | Path | None = None
    original_benchmark: Source | None = None
    new_benchmark: Source | None = None
    original_votes: str | Path | None = None
    new_votes: str | Path | None = None
    original_duplicates: str | Path | None = None
    new_duplicates: str | Path | None = None
    others: Sequence[tuple[Predictions, str | Path]] = ()
    build: str | Path | None = None
    notices: list[Notice] = field(default_factory=list)


def same_models(original: Predictions, new: Predictions) -> tuple[Predictions, Predictions]:
    """Answers of the models that both have, in the order of the original.

    Raises
    ------
    UsageError
        If no model is on both, or the sets share no class.
    """
    both = [model for model in original.models if model in set(new.models)]
    if not both:
        fix = f"{original.name} has {original.models[0]}, {new.name} has {new.models[0]}: use --alias NEW=OLD"
        raise UsageError("no model is on both sets", where=new.name, fix=fix)
    old_classes, new_classes = ({_id(one.benchmark, label) for label in _labels(one)} for one in (original, new))
    if not (original.is_correctness or new.is_correctness or old_classes & new_classes):
        fix = "Give both the same class list with --classes."
        raise UsageError(f"no class is in both {original.name} and {new.name}", where=new.name, fix=fix)
    return original.select(both), new.select(both)


def with_metric(original: Predictions, new: Predictions, metric: str) -> tuple[Predictions, Predictions, list[Notice]]:
    """Those models of both sets that have a metric, and who is left out: one answer an example is no top-5.

    Raises
    ------
    UsageError
        If no model has it on both sets.
    """
    views = [SetView(one, "micro", 0, 0) for one in (original, new)]
    if metric == "top1":
        return original, new, []
    have = views[0].models_with(metric) & views[1].models_with(metric)
    kept = [model for model in original.models if model in have]
    if not kept:
        what = f"no model has {metric} on both sets: that takes five answers to each example, and more than five classes"
        raise UsageError(what, where="--metric", fix="Use top1.")
    out = [str(model) for model in original.models if model not in have]
    message = f"{counted(len(out), 'model')} without {metric} on both sets, left out: {short_list(out)}."
    return original.select(kept), new.select(kept), [Notice("models-left-out", new.name, message)] if out else []


def of_models(answers: Predictions, asked: Predictions) -> Predictions:
    """Answers of the models that were asked, in their order.

    Raises
    ------
    UsageError
        If one of them has no answers.
    """
    if lacking := [str(model) for model in asked.models if model not in set(answers.models)]:
        what = f"no answers of {counted(len(lacking), 'model')}: {short_list(lacking)}"
        raise UsageError(what, where=answers.name, fix="Ask them too, or leave them out with --exclude.")
    return answers.select(asked.models)


def _labels(one: Predictions) -> list[int]:
    labels = np.unique(one.benchmark.labels)
    return [int(label) for label in labels if label >= 0]


def _id(benchmark: Benchmark, label: int) -> str:
    return benchmark.class_id(label)


def with_images(answers: Predictions, given: Source | None, sources: Sources, tell: Tell) -> Predictions:
    """Answers on a benchmark with its images, where they can be found.

    Parameters
    ----------
    answers : Predictions
    given : path, str or Benchmark, optional
        Where the benchmark is. Default: what the run noted of where it was read from.
    sources : Sources
        Its notices tell where images were noted and cannot be read, or are others.
    tell : callable

    Raises
    ------
    InputError
        If a benchmark that was given cannot be read, or is not the one that was answered.
    """
    benchmark = answers.benchmark
    if benchmark.images is not None:
        return answers
    origin = (given, sources.classes) if given is not None else benchmark.origin
    if origin is None:
        return answers
    tell(f"Reading the images of {benchmark.name}")
    try:
        found = load_benchmark(origin[0], classes=origin[1] or None)
        same = found.images is not None and _same_images(found, benchmark)
        if not same:
            fix = "Give the benchmark that the models answered, in the same order."
            raise InputError(f"not the images that were asked in {benchmark.name}", where=str(origin[0]), fix=fix)
    except ResitError as error:
        if given is not None:
            raise
        sources.notices.append(Notice("images-not-found", benchmark.name, f"{error} What needs images is not run."))
        return answers
    return replace(answers, benchmark=replace(benchmark, images=found.images))


def _same_images(found: Benchmark, asked: Benchmark) -> bool:
    if asked.images_fingerprint:
        return found.content_fingerprint == asked.content_fingerprint
    ids = asked.ids is None or found.ids is None or np.array_equal(asked.ids, found.ids)
    return found.n == asked.n and ids and found.labels_fingerprint == asked.labels_fingerprint


def keys_of(benchmark: Benchmark) -> list[str]:
    """What an example is called in the votes of a Material: its id, or its position."""
    return [str(row) for row in range(benchmark.n)] if benchmark.ids is None else [str(name) for name in benchmark.ids]


def gather(original: Predictions, new: Predictions, sources: Sources, tell: Tell) -> Material:
    """All that is known of two sets.

    Parameters
    ----------
    original, new : Predictions
        Of the same models.
    sources : Sources
    tell : callable

    Returns
    -------
    Material
    """
    original = with_images(original, sources.original_benchmark, sources, tell)
    new = with_images(new, sources.new_benchmark, sources, tell)
    material = Material(original, new, train=tuple(_train(source, sources.classes, tell) for source in sources.train))
    if sources.build is not None:
        from resit.build.steps.opened import open_build

        with open_build(sources.build) as build:
            material = _from_build(material, build, sources, tell)
    for name, path, one in (
        ("original_counts", sources.original_votes, original),
        ("new_counts", sources.new_votes, new),
    ):
        if path is not None:
            material = replace(material, **{name: _votes(path, one)})
    for name, path, one in (
        ("original_neighbours", sources.original_duplicates, original),
        ("neighbours", sources.new_duplicates, new),
    ):
        if path is not None:
            material = replace(material, **{name: read_judged(path, one.benchmark)})
    return replace(material, others=tuple((of_models(one, original), _votes(path, one)) for one, path in sources.others))


def _votes(path: str | Path, answers: Predictions) -> pa.Table:
    return read_counts(path, answers.benchmark, keys_of(answers.benchmark))


def _train(source: Source, classes: str | Path | None, tell: Tell) -> Benchmark:
    tell(f"Reading {source.name if isinstance(source, Benchmark) else source}")
    found = source if isinstance(source, Benchmark) else load_benchmark(source, classes=classes)
    if found.images is None:
        raise InputError("training data without images", where=found.name, fix="Give files with images.")
    return found


def _from_build(material: Material, build: Build, sources: Sources, tell: Tell) -> Material:
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = build.store.counts()
    names = pa.array(keys_of(material.new.benchmark), pa.string())
    chosen = pc.is_in(counts["image"], value_set=names)
    found = replace(material, build=build.path)
    if not pc.any(chosen).as_py():
        where = f"{build.path}"
        message = f"None of the images of {material.new.name} is in it by its id: its votes and pairs are not used."
        sources.notices.append(Notice("build-of-other-images", where, message))
    else:
        pairs = build.store.pairs()
        near = pairs.filter(pc.is_in(pairs["image"], value_set=names))
        found = replace(found, new_counts=counts.filter(chosen), neighbours=near)
    if material.original.benchmark.content_fingerprint != build.original["fingerprint"]:
        message = f"{material.original.name} is not the original of this build: its votes on originals are not used."
        sources.notices.append(Notice("build-of-other-original", str(build.path), message))
        return found
    return replace(found, original_counts=_renamed(counts, material.original.benchmark, build, tell))


def _renamed(counts: pa.Table, benchmark: Benchmark, build: Build, tell: Tell) -> pa.Table:
    """Votes on originals under the names that the test set gives them; images with the same bytes have the same votes."""
    import pyarrow as pa

    with_pictures = benchmark if benchmark.images is not None else build.load_original()
    own = pa.table({"image": original_ids(with_pictures, tell), "name": keys_of(benchmark)})
    joined = counts.join(own, "image", join_type="inner")
    return joined.drop(["image"]).rename_columns({"name": "image"}).select(counts.column_names)
