"""Some models before one benchmark: asks what is left, stores each finished shard, and puts the answers together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Protocol

import numpy as np

from resit.data.benchmark import Benchmark
from resit.data.checks import check
from resit.data.load import load_predictions
from resit.data.paths import short_list
from resit.data.predictions import Predictions
from resit.data.store import refuse_other_benchmark, renew_labels, stored_errors
from resit.errors import InputError, Notice, OutputError
from resit.evaluate.decoding import is_readable
from resit.evaluate.exam import INVALID_SCORES, UNREADABLE, Exam
from resit.evaluate.record import Answered, State
from resit.evaluate.settings import EvaluateSettings
from resit.evaluate.shards import Shard

Tell = Callable[[str], None]


class Executor(Protocol):
    """Where models are asked."""

    def shards(
        self,
        exams: Sequence[Exam],
        wanted: Mapping[int, Sequence[int]],
        settings: EvaluateSettings,
    ) -> Iterator[dict[int, Shard]]:
        """Finished shards of one benchmark, in any order.

        Parameters
        ----------
        exams : sequence of Exam
            Of different models on the same benchmark.
        wanted : mapping of int to sequence of int
            For each shard's number the places of the exams that need it.
        settings : EvaluateSettings

        Yields
        ------
        dict of int to Shard
            By place of the exam.
        """

    def close(self) -> None:
        """End what was started for the run."""


class Sitting:
    """Some models before one benchmark.

    Parameters
    ----------
    exams : sequence of Exam
        Of different models on the same benchmark.
    settings : EvaluateSettings
    tell : callable
        Told each step in words.
    """

    def __init__(self, exams: Sequence[Exam], settings: EvaluateSettings, tell: Tell) -> None:
        self.exams, self.settings, self.tell = exams, settings, tell
        self.benchmark = exams[0].benchmark
        self.notices: list[Notice] = []
        images = self.benchmark.images
        assert images is not None
        self._is_readable = cache(partial(is_readable, images))
        self._stored = [exam.is_stored(overwrite=settings.overwrite) and not self._mended(exam) for exam in exams]
        refuse_other_benchmark(exams[0].folder, self.benchmark)
        self._faults = _Faults(self.benchmark, settings.max_errors)

    def hold(self, executor: Executor) -> list[Answered]:
        """Ask what is left, and store the answers.

        Raises
        ------
        InputError
            If too many images cannot be read.
        OutputError
            If answers cannot be stored.
        """
        if renew_labels(self.exams[0].folder, self.benchmark):
            message = "The labels or groups beside the stored answers were others; they were replaced by those given now."
            self.notices.append(Notice("labels-replaced", str(self.exams[0].folder), message))
        stored = zip(self.exams, self._stored, strict=True)
        left = [[] if is_stored else exam.left(self._is_readable) for exam, is_stored in stored]
        wanted = {
            number: [place for place, numbers in enumerate(left) if number in numbers]
            for number in sorted({number for numbers in left for number in numbers})
        }
        total = len(self.exams[0].shards)
        before = total - len(wanted)
        if wanted:
            for done, shards in enumerate(executor.shards(self.exams, wanted, self.settings), 1):
                for place, shard in shards.items():
                    self.exams[place].store.commit(shard)
                    self._faults.add(_errors([shard]), shard.notes)
                self.tell(f"{self.benchmark.name}: {(before + done) / total:.0%}")
        found = [self._result(place, len(numbers) == total) for place, numbers in enumerate(left)]
        self.notices += self._faults.notices()
        return found

    def _result(self, place: int, from_the_start: bool) -> Answered:
        exam = self.exams[place]
        state: State = "stored"
        shards = None if self._stored[place] else self._collected(exam)
        if shards is None:
            self._faults.add(stored_errors(exam.path))
            found = load_predictions(exam.path)
        else:
            self._faults.add(_errors(shards), [note for shard in shards for note in shard.notes])
            found, state = exam.finish(shards), "asked" if from_the_start else "resumed"
        answered = _answered(exam, found, state)
        self.notices += [notice for notice in check(found) if notice.code not in ("invalid-answers", "top5-not-available")]
        if answered.invalid:
            message = f"The scores of {answered.invalid} of {found.n} examples are not finite; they are counted wrong."
            self.notices.append(Notice("invalid-scores", f"{answered.model}@{answered.benchmark}", message))
        return answered

    def _collected(self, exam: Exam) -> list[Shard] | None:
        """The shards of a model; None where another run has finished it meanwhile, and removed them."""
        try:
            return exam.collected()
        except OutputError:
            if not exam.is_stored(overwrite=False):
                raise
            exam.store.remove()
            return None

    def _mended(self, exam: Exam) -> bool:
        """Whether an image that was unreadable when the stored answers were made can be read now."""
        return any(map(self._is_readable, stored_errors(exam.path)))


def _errors(shards: Sequence[Shard]) -> dict[int, str]:
    return {fault.row: str(fault) for shard in shards for fault in shard.faults}


def _answered(exam: Exam, found: Predictions, state: State) -> Answered:
    made = found.provenance[exam.model.id]
    return Answered(
        benchmark=exam.benchmark.name,
        model=str(exam.model.id),
        label_space=exam.scoring.name,
        correct=int(np.count_nonzero(found.correct(1))),
        n=found.n,
        unreadable=int(made[UNREADABLE]),
        invalid=int(made[INVALID_SCORES]),
        state=state,
        path=str(exam.path),
    )


class _Faults:
    """Images of a benchmark that could not be read, each once, whichever models met them."""

    def __init__(self, benchmark: Benchmark, most: float) -> None:
        self.benchmark, self.most = benchmark, most
        self.errors: dict[int, str] = {}
        self.notes: dict[str, None] = {}

    def add(self, errors: Mapping[int, str], notes: Iterable[str] = ()) -> None:
        self.errors |= errors
        self.notes |= dict.fromkeys(notes)
        if len(self.errors) / self.benchmark.n > self.most:
            raise InputError(
                f"{len(self.errors)} of {self.benchmark.n} images cannot be read, more than --max-errors {self.most:g} allows: "
                f"{short_list(self._told(), 3)}",
                where=self.benchmark.name,
                fix="Mend them, or allow more; what was answered is kept.",
            )

    def notices(self) -> Iterator[Notice]:
        if self.errors:
            count = f"{len(self.errors)} of {self.benchmark.n} images"
            message = f"{count} cannot be read and count as wrong: {short_list(self._told())}."
            yield Notice("unreadable-images", self.benchmark.name, message)
        if self.notes:
            yield Notice("odd-images", self.benchmark.name, f"Read, though odd ({len(self.notes)}): {short_list(self.notes)}.")

    def _told(self) -> list[str]:
        return [text for _, text in sorted(self.errors.items())]
