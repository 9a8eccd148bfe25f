"""Asks models on a Ray cluster: a task for each shard; Ray schedules them, and runs again those whose machine died."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.errors import InputError, ResitError, UsageError
from resit.evaluate.answers import Asker
from resit.evaluate.ask import ask
from resit.evaluate.exam import Exam
from resit.evaluate.local import batch_size_for
from resit.evaluate.settings import EvaluateSettings
from resit.evaluate.shards import Shard
from resit.evaluate.spaces import Columns
from resit.models.load import load_model
from resit.models.protocol import Model

RETRIES = 5
AHEAD = 2


@dataclass(frozen=True)
class _Order:
    """All that a worker needs to ask some models about shards of one benchmark."""

    sources: tuple[str | Model, ...]
    fingerprints: tuple[str, ...]
    columns: tuple[Columns, ...]
    classes: npt.NDArray[np.int32]
    k: int
    benchmark: Benchmark
    settings: EvaluateSettings


class RayExecutor:
    """Asks models on a Ray cluster.

    Every machine must see the images and the files of the models under the same paths.

    Parameters
    ----------
    address : str, optional
        Of the cluster; ``auto`` finds one that runs. Default: one of this machine alone, ended after the run.

    Raises
    ------
    UsageError
        If Ray is not installed or there is no cluster at the address.
    """

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
        except ImportError as error:
            raise UsageError("Ray is not installed", where="--executor ray", fix="pip install 'resit[ray]'") from error
        self._started = not ray.is_initialized()
        if not self._started:
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            _reach(address)
            own: dict[str, Any] = {} if address else {"include_dashboard": False}
            ray.init(address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **own)
        except (OSError, RuntimeError, ValueError) as error:
            raise UsageError(
                f"no Ray cluster: {error}",
                where=f"--address {address}",
                fix="Start one with `ray start --head`, or leave it out.",
            ) from error

    def shards(
        self,
        exams: Sequence[Exam],
        wanted: Mapping[int, Sequence[int]],
        settings: EvaluateSettings,
    ) -> Iterator[dict[int, Shard]]:
        """Finished shards of one benchmark, in any order; see :class:`resit.evaluate.sitting.Executor`."""
        import ray

        order = ray.put(
            _Order(
                tuple(exam.source for exam in exams),
                tuple(exam.identity for exam in exams),
                tuple(exam.columns for exam in exams),
                exams[0].scoring.classes,
                exams[0].k,
                exams[0].benchmark,
                replace(settings, workers=1),
            )
        )
        has: dict[str, float] = ray.cluster_resources()
        gpus = 1 if has.get("GPU") and settings.options.device != "cpu" else 0
        needs = {"num_cpus": 1, "num_gpus": gpus, "max_retries": RETRIES, "scheduling_strategy": "SPREAD"}
        task = ray.remote(_answer).options(**needs)
        left = iter(sorted(wanted))
        most = AHEAD * max(1, int(has.get("CPU", 1)))
        running = [task.remote(order, number, list(wanted[number])) for number in islice(left, most)]
        while running:
            done, running = ray.wait(running, num_returns=1)
            running += [task.remote(order, number, list(wanted[number])) for number in islice(left, 1)]
            try:
                yield ray.get(done[0])
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, ResitError):
                    raise error.cause from error
                raise InputError(
                    f"a worker failed: {type(error.cause).__name__}: {error.cause}",
                    where="--executor ray",
                    fix="Every machine needs the same packages, images, model files, and modules of models given as objects.",
                ) from error

    def close(self) -> None:
        """Leave the cluster, and end it if it was started for this run."""
        import ray

        if self._started:
            ray.shutdown()


def _reach(address: str | None) -> None:
    """Fail at once where nothing answers: Ray itself tries for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=10).close()


_loaded: dict[str, Any] = {}


def _answer(order: _Order, number: int, places: Sequence[int]) -> dict[int, Shard]:
    """The work of one task. A worker keeps the models of the last order, as the next task is likely of the same."""
    for identity in set(_loaded) - set(order.fingerprints):
        del _loaded[identity]
    askers = []
    for place, source in enumerate(order.sources):
        model = _loaded.setdefault(order.fingerprints[place], None) or _load(source, order.settings)
        _loaded[order.fingerprints[place]] = model
        askers.append(Asker(model, order.columns[place], order.classes, order.k, batch_size_for(model, order.settings)))
    images = order.benchmark.images
    if images is None:
        raise InputError("the images did not reach the cluster", where=order.benchmark.name)
    (found,) = ask(
        askers,
        order.benchmark,
        images,
        {number: places},
        batch_size=max(asker.batch_size for asker in askers),
        orientation=order.settings.orientation,
        threads=order.settings.threads,
    )
    return found


def _load(source: str | Model, settings: EvaluateSettings) -> Model:
    return load_model(source, settings.options) if isinstance(source, str) else source
