"""What the hypotheses that train have in common: what they need, the examples they train on, and what went wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.paths import counted, short_list
from resit.errors import UsageError
from resit.models.training.protocol import digest
from resit.stats.resample import generator
from resit.study.explain_result import Gathered
from resit.study.folds import Examples, Ints, Job, Outcome, run_jobs
from resit.study.hypotheses.interface import Material, Rules, Tell
from resit.study.result import Caution

PURPOSE = 71


@dataclass(frozen=True, eq=False)
class Pool:
    """Examples of several sets in one array, in the original's classes.

    Parameters
    ----------
    examples : Examples
    rows : mapping of str to ndarray of int
        Rows of each set that can be trained on or tested.
    cautions : tuple of Caution
    """

    examples: Examples
    rows: Mapping[str, Ints]
    cautions: tuple[Caution, ...]

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """Class of each example."""
        return self.examples.labels

    def classes(self, name: str) -> npt.NDArray[np.int64]:
        """The classes of a set."""
        return np.unique(self.labels[self.rows[name]])

    def among(self, name: str, classes: npt.NDArray[np.int64]) -> Ints:
        """Rows of a set that are of some classes."""
        own = self.rows[name]
        return own[np.isin(self.labels[own], classes)]


def lacking(material: Material, *, train: bool = True, new: bool = True) -> list[str]:
    """What a hypothesis that trains would need and is not there.

    Parameters
    ----------
    material : Material
    train, new : bool, optional
        Whether it needs training data, and images of the new set.
    """
    lacks = []
    if material.trainer is None:
        lacks.append("a kind of model to train (--trainer resnet or --trainer pixels)")
    sets = [("the original", material.original.benchmark)] + [("the new set", material.new.benchmark)] * new
    lacks += [f"images of {what} (--benchmark)" for what, one in sets if one.images is None]
    if material.original.is_correctness or (new and material.new.is_correctness):
        lacks.append("the classes of the examples, not only which answers are right")
    if train and not material.train:
        lacks.append("training data of the original (--train)")
    elif train and any(one.images is None for one in material.train):
        lacks.append("images of the training data (--train)")
    return lacks


def pooled(material: Material, tell: Tell, *, train: bool = True, new: bool = True) -> Pool:
    """Prepare the images of the sets.

    Examples are left out, counted, that have no or several accepted labels, a class that the original has not, or an image that
    cannot be read.
    """
    assert material.trainer is not None
    source = material.trainer.source
    sets = [("original", material.original.benchmark)] + [("new", material.new.benchmark)] * new
    sets += [("train", one) for one in material.train] if train else []
    values, labels, cautions = [], [], []
    rows: dict[str, list[Ints]] = {name: [] for name, _ in sets}
    start = 0
    for name, benchmark in sets:
        ready = source.prepare(benchmark, tell)
        own = _labels(benchmark, material.original.benchmark)
        cautions += [Caution(one.code, one.where, one.message) for one in ready.notices]
        if left := int((own < 0).sum()):
            what = "have no or several accepted labels, or a class that the original has not"
            cautions.append(Caution("left-out", benchmark.name, f"{counted(left, 'example')} of {benchmark.n} {what}."))
        rows[name].append(start + np.flatnonzero(ready.usable & (own >= 0)))
        values.append(ready.values)
        labels.append(own)
        start += benchmark.n
    shapes = {one.shape[1:] for one in values}
    if len(shapes) > 1:
        raise UsageError(f"inputs of shapes {sorted(shapes)}", where=material.trainer.name, fix="Resize to one size.")
    inputs = np.concatenate(values)
    if len(inputs) and all((part == inputs[0]).all() for part in values):
        message = "All inputs are the same, so that nothing can be learned from them: look at the images or the features."
        cautions.append(Caution("constant-inputs", material.trainer.name, message))
    n_classes = material.original.benchmark.n_classes
    # Of the inputs themselves: the fingerprint of a folder is of the files' names and sizes, which two sets may share.
    identity = hashlib.sha256(np.ascontiguousarray(inputs).data).hexdigest()
    examples = Examples(
        inputs, np.concatenate(labels), n_classes, digest(source.fingerprint, inputs.dtype.str, *inputs.shape, identity)
    )
    return Pool(examples, {name: np.concatenate(own) for name, own in rows.items()}, tuple(cautions))


def _labels(benchmark: Benchmark, original: Benchmark) -> npt.NDArray[np.int64]:
    """Class of each example in the original's numbering; −1 where it has none, several, or another one."""
    place = {original.class_id(at): at for at in range(original.n_classes)}
    known = np.array([place.get(benchmark.class_id(at), -1) for at in range(benchmark.n_classes)] + [-1], np.int64)
    single = (benchmark.labels >= 0).sum(axis=1) == 1
    return np.where(single, known[benchmark.labels.max(axis=1, initial=-1)], -1)


def seeds_of(rules: Rules) -> list[int]:
    """A seed for each training of a kind."""
    return [int(generator(rules.seed, PURPOSE, at).integers(2**31)) for at in range(max(1, rules.seeds))]


def trained(examples: Examples, jobs: Sequence[Job], rules: Rules, tell: Tell) -> list[Outcome]:
    """Run trainings as the rules say."""
    return run_jobs(examples, jobs, tell, store=rules.store, executor=rules.executor, address=rules.address)


def diverged(outcomes: Sequence[Outcome], names: Sequence[str]) -> list[Caution]:
    """A caution for each training that went wrong: its figures are in no mean."""
    return [
        Caution("diverged", name, f"The training went wrong and is left out: {outcome.diverged}")
        for name, outcome in zip(names, outcomes, strict=True)
        if outcome.diverged
    ]


def unshared(pool: Pool, classes: npt.NDArray[np.int64], names: Sequence[str], title: str) -> list[Caution]:
    """A caution where sets have classes that not all of them have."""
    every = np.unique(np.concatenate([pool.classes(name) for name in names]))
    if not (lost := np.setdiff1d(every, classes).tolist()):
        return []
    which = f"{counted(len(lost), 'class', 'classes')} (number {short_list(lost)})"
    message = f"Not all sets have examples of {which}; they are left out."
    return [Caution("classes-not-shared", title, message)]


def nothing(why: str, code: str, where: str, cautions: Sequence[Caution] = ()) -> Gathered:
    """No figures, and why."""
    return Gathered(f"No answer: {why}.", warnings=(*cautions, Caution(code, where, f"No answer: {why}.")))
