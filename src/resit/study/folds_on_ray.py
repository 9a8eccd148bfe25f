"""Trainings on a Ray cluster: a task each; Ray schedules them, and runs again those whose machine died."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from resit.errors import InputError, ResitError
from resit.evaluate.on_ray import RETRIES, RayExecutor
from resit.models.training.protocol import Inputs, Labels
from resit.study.folds import Examples, Job, Outcome, train


def on_ray(examples: Examples, todo: Mapping[str, Job], address: str | None) -> Iterator[tuple[str, Outcome]]:
    """Finished trainings, in any order.

    A training gets as many CPUs as its kind uses threads, or all of the largest machine where that has fewer.

    Parameters
    ----------
    examples : Examples
    todo : mapping of str to Job
    address : str or None
        Of a cluster. None: one of this machine alone, ended afterwards.

    Raises
    ------
    InputError
        If a worker fails.
    UsageError
        If Ray is not installed or there is no cluster at the address.
    """
    cluster = RayExecutor(address)
    try:
        yield from _finished(examples, todo)
    finally:
        cluster.close()


def _finished(examples: Examples, todo: Mapping[str, Job]) -> Iterator[tuple[str, Outcome]]:
    import ray

    largest = max((float(node["Resources"].get("CPU", 1)) for node in ray.nodes() if node["Alive"]), default=1.0)
    inputs, labels = ray.put(examples.inputs), ray.put(examples.labels)
    task = ray.remote(_trained)
    running = {}
    for name, job in todo.items():
        needs = {"num_cpus": min(float(job.fitter.cpus), largest), "num_gpus": job.fitter.gpus, "max_retries": RETRIES}
        running[task.options(**needs).remote(inputs, labels, examples.n_classes, job)] = name
    while running:
        (done,), _ = ray.wait(list(running), num_returns=1)
        try:
            yield running.pop(done), ray.get(done)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, ResitError):
                raise error.cause from error
            raise InputError(
                f"a worker failed: {type(error.cause).__name__}: {error.cause}",
                where="--executor ray",
                fix="Every machine needs the same packages, and the files of factories under the same paths.",
            ) from error


def _trained(inputs: Inputs, labels: Labels, n_classes: int, job: Job) -> Outcome:
    return train(inputs, labels, n_classes, job, lambda _: None)
