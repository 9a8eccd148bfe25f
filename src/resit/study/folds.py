"""Trainings of one kind on parts of the same examples: each that is finished is stored, so that an interrupted run goes on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resit.data.guard import UNREADABLE
from resit.errors import OutputError, UsageError
from resit.models.training.diverged import Diverged
from resit.models.training.protocol import Fitter, Inputs, Labels, Trained, digest

Ints = npt.NDArray[np.int_]
Tell = Callable[[str], None]
FOLDER = "trainings"
VERSION = 1
ROWS = 1_024
ASKED = 1_000  # training examples on which a fit must be better than guessing
CHANCE = 0.01


@dataclass(frozen=True, eq=False)
class Examples:
    """What trainings take their rows from.

    Parameters
    ----------
    inputs : ndarray, shape (n, …)
    labels : ndarray of int64, shape (n,)
    n_classes : int
    identity : str
        Digest of what the inputs are.
    """

    inputs: Inputs
    labels: Labels
    n_classes: int
    identity: str


@dataclass(frozen=True, eq=False)
class Job:
    """One training.

    Parameters
    ----------
    fitter : Fitter
    train, test : ndarray of int
        Rows to fit on, and rows to answer.
    seed : int
    must_learn : bool, optional
        Whether a fit that is no better than guessing on its own examples has gone wrong. Not so where there may be nothing to
        learn, as for a discriminator.
    """

    fitter: Fitter
    train: Ints
    test: Ints
    seed: int
    must_learn: bool = True

    def digest(self, examples: Examples) -> str:
        """Digest of all that decides the answers."""
        arrays = (self.train, self.test, examples.labels[self.train])
        sums = [hashlib.sha256(np.ascontiguousarray(one, np.int64).tobytes()).hexdigest() for one in arrays]
        of_all = (examples.identity, examples.n_classes)
        return digest(VERSION, self.fitter.fingerprint, *of_all, self.seed, self.must_learn, *sums)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a training gave.

    Parameters
    ----------
    answers : ndarray of int32, shape (t,)
        Class of each test row; −1 where it diverged.
    diverged : str
        Why it went wrong; empty where it did not.
    """

    answers: npt.NDArray[np.int32]
    diverged: str = ""


def run_jobs(
    examples: Examples,
    jobs: Sequence[Job],
    tell: Tell,
    *,
    store: Path | None = None,
    executor: str = "local",
    address: str | None = None,
) -> list[Outcome]:
    """Train, or take what was trained before.

    Parameters
    ----------
    examples : Examples
    jobs : sequence of Job
    tell : callable
        Told of progress.
    store : Path, optional
        Finished trainings are in its folder ``trainings``, one small file each, by a digest of all that decides them. A process
        that is killed loses what is being trained at the moment.
    executor : {'local', 'ray'}, optional
        The answers are the same.
    address : str, optional
        Of a Ray cluster.

    Returns
    -------
    list of Outcome
        In the order of the jobs.

    Raises
    ------
    OutputError
        If a training cannot be stored.
    UsageError
        If there is no such executor, or a kind cannot take the examples.
    """
    if executor not in ("local", "ray"):
        raise UsageError(f"no executor {executor!r}", where="--executor", fix="Use local or ray.")
    digests = [job.digest(examples) for job in jobs]
    found: dict[str, Outcome] = {}
    for name, job in zip(digests, jobs, strict=True):
        if store is not None and (kept := _load(store, name, len(job.test), examples.n_classes)) is not None:
            found[name] = kept
    if found:
        tell(f"{len(found)} of {len(set(digests))} trainings were finished before")
    todo = {name: job for name, job in zip(digests, jobs, strict=True) if name not in found}
    stream = _locally(examples, todo, tell) if executor == "local" else _on_ray(examples, todo, address)
    for name, outcome in stream if todo else ():
        if store is not None:
            _commit(store, name, outcome)
        found[name] = outcome
        tell(f"{len(found)} of {len(set(digests))} trainings done")
    return [found[name] for name in digests]


def train(inputs: Inputs, labels: Labels, n_classes: int, job: Job, tell: Tell) -> Outcome:
    """One training.

    Parameters
    ----------
    inputs, labels : ndarray
        Of all examples.
    n_classes : int
    job : Job
    tell : callable
    """
    try:
        trained = job.fitter.fit(inputs[job.train], labels[job.train], n_classes, seed=job.seed, tell=tell)
        if job.must_learn:
            _check_learned(trained, inputs, labels, job)
        return Outcome(_answers(trained, inputs, job.test))
    except Diverged as error:
        return Outcome(np.full(len(job.test), -1, np.int32), str(error))


def _answers(trained: Trained, inputs: Inputs, rows: Ints) -> npt.NDArray[np.int32]:
    answers = np.empty(len(rows), np.int32)
    for start in range(0, len(rows), ROWS):
        scores = trained.scores(inputs[rows[start : start + ROWS]])
        if np.isnan(scores).any() or np.isposinf(scores).any():
            raise Diverged("the scores are not finite", where="training")
        answers[start : start + ROWS] = scores.argmax(axis=1)
    return answers


def _check_learned(trained: Trained, inputs: Inputs, labels: Labels, job: Job) -> None:
    """Whether the right answers on own examples are more than those of always naming the largest class, at 1 %."""
    from scipy.special import bdtrc

    rows = job.train[:: -(-len(job.train) // ASKED)]
    right = int((_answers(trained, inputs, rows) == labels[rows]).sum())
    share = np.bincount(labels[rows]).max() / len(rows)
    if share < 1 and (right == 0 or bdtrc(right - 1, len(rows), share) > CHANCE):
        what = f"it is no better than guessing on its own examples ({right} of {len(rows)} right)"
        raise Diverged(what, where=job.fitter.name, fix="Train longer, with other settings, or look at the inputs.")


def _locally(examples: Examples, todo: dict[str, Job], tell: Tell) -> Iterator[tuple[str, Outcome]]:
    for place, (name, job) in enumerate(todo.items(), 1):

        def told(text: str, place: int = place) -> None:
            tell(f"training {place} of {len(todo)}: {text}")

        yield name, train(examples.inputs, examples.labels, examples.n_classes, job, told)


def _on_ray(examples: Examples, todo: dict[str, Job], address: str | None) -> Iterator[tuple[str, Outcome]]:
    from resit.study.folds_on_ray import on_ray

    return on_ray(examples, todo, address)


def _commit(store: Path, name: str, outcome: Outcome) -> None:
    path = store / FOLDER / f"{name}.npz"
    half = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with half.open("wb") as file:
            np.savez_compressed(file, answers=outcome.answers, diverged=np.array(outcome.diverged), sum=_sum(outcome))
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as error:
        with suppress(OSError):
            half.unlink(missing_ok=True)
        raise OutputError(
            f"cannot be written: {error.strerror or error}",
            where=path,
            fix="Check its permissions and the free space, then run the same command again: finished trainings are kept.",
        ) from error


def _sum(outcome: Outcome) -> npt.NDArray[np.str_]:
    return np.array(hashlib.sha256(outcome.answers.tobytes() + outcome.diverged.encode()).hexdigest())


def _load(store: Path, name: str, size: int, n_classes: int) -> Outcome | None:
    """A training that was stored; None where it was not, or its file is damaged or was changed."""
    try:
        with (store / FOLDER / f"{name}.npz").open("rb") as file, np.load(file, allow_pickle=False) as stored:
            outcome, told = Outcome(stored["answers"], str(stored["diverged"])), str(stored["sum"])
    except (OSError, *UNREADABLE):
        return None
    answers = outcome.answers
    whole = answers.dtype == np.int32 and answers.shape == (size,) and ((answers >= -1) & (answers < n_classes)).all()
    return outcome if whole and told == str(_sum(outcome)) else None
