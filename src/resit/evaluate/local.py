"""Asks models in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from resit.evaluate.answers import Asker
from resit.evaluate.ask import ask
from resit.evaluate.exam import Exam
from resit.evaluate.settings import EvaluateSettings
from resit.evaluate.shards import Shard
from resit.models.protocol import Model
from resit.stats.threads import one_blas_thread

ON_CPU, ON_ACCELERATOR = 32, 256


def batch_size_for(model: Model, settings: EvaluateSettings) -> int:
    """Batch to begin with: the one that was set, else 256 on an accelerator and 32 on a CPU; memory may halve it."""
    device = getattr(model, "device", "cpu")
    return settings.batch_size or (ON_CPU if str(device).startswith("cpu") else ON_ACCELERATOR)


class LocalExecutor:
    """Asks models in this process, one after the other, while threads decode what comes next."""

    def shards(
        self,
        exams: Sequence[Exam],
        wanted: Mapping[int, Sequence[int]],
        settings: EvaluateSettings,
    ) -> Iterator[dict[int, Shard]]:
        """Finished shards of one benchmark, in their order; see :class:`resit.evaluate.sitting.Executor`."""
        askers = [
            Asker(exam.model, exam.columns, exam.scoring.classes, exam.k, batch_size_for(exam.model, settings))
            for exam in exams
        ]
        images = exams[0].benchmark.images
        assert images is not None
        with one_blas_thread():
            yield from ask(
                askers,
                exams[0].benchmark,
                images,
                wanted,
                batch_size=max(asker.batch_size for asker in askers),
                orientation=settings.orientation,
                threads=settings.threads,
            )

    def close(self) -> None:
        """Nothing is to be ended."""
