"""One model before one benchmark: what is recorded of how it answers, what is stored already, and what is left to ask."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import resit
from resit.data.answer_table import CONTENT, PROVENANCE
from resit.data.benchmark import Benchmark
from resit.data.decode import fingerprint as decoding_fingerprint
from resit.data.filenames import file_name
from resit.data.guard import refuse_odd_name
from resit.data.predictions import Predictions
from resit.data.store import CONFIDENCE, save_predictions
from resit.data.tables import parquet_schema
from resit.errors import OutputError
from resit.evaluate.ask import stretches
from resit.evaluate.settings import EvaluateSettings
from resit.evaluate.shards import Shard, ShardStore
from resit.evaluate.spaces import Columns, Scoring, columns_of, scored_as
from resit.models.library import VERSION
from resit.models.protocol import Model, score_kind_of

SPACE, TRANSFORM, DEPTH = "label_space", "transform_fingerprint", "top"
UNREADABLE, INVALID_SCORES = "unreadable", "invalid"


@dataclass(frozen=True)
class Exam:
    """One model before one benchmark.

    Parameters
    ----------
    benchmark : Benchmark
        With the label space that is recorded.
    source : str or Model
        The model as the user gave it: a cluster loads it from this.
    model : Model
    columns : ndarray of int
        Columns of its scores that count.
    scoring : Scoring
        What they mean.
    k : int
        Number of answers kept.
    folder : Path
        Where the benchmark's answers are stored.
    made : mapping of str to str
        How the answers are made.
    """

    benchmark: Benchmark
    source: str | Model
    model: Model
    columns: Columns
    scoring: Scoring
    k: int
    folder: Path
    made: Mapping[str, str]

    @property
    def shards(self) -> list[range]:
        """Rows of each shard of the benchmark."""
        return stretches(self.benchmark.n)

    @property
    def identity(self) -> str:
        """Digest of all that decides what the answers are."""
        parts = [
            self.benchmark.content_fingerprint,
            self.k,
            self.scoring.classes.tolist(),
            [info.id for info in self.benchmark.classes],
            *self.model.id,
            *sorted(self.made.items()),
        ]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]

    @property
    def store(self) -> ShardStore:
        """The shards that are finished."""
        return ShardStore(self.folder, self.model.id, self.identity)

    @property
    def path(self) -> Path:
        """File of the model's answers."""
        return self.folder / file_name(self.model.id, ".parquet")

    def left(self, is_readable: Callable[[int], bool]) -> list[int]:
        """Numbers of the shards that are still to be asked; also those with errors of images that can be read by now."""
        confident = score_kind_of(self.model) is not None
        finished = self.store.finished([len(rows) for rows in self.shards], self.k, is_readable, is_confident=confident)
        return [number for number in range(len(self.shards)) if number not in finished]

    def is_stored(self, *, overwrite: bool) -> bool:
        """Whether the model's answers are there, made in the same way.

        Answers of an earlier version, without the confidence that the model tells, are asked again only to be overwritten.

        Raises
        ------
        OutputError
            If they are there but made in another way, and are not to be overwritten.
        """
        if not self.path.exists():
            return False
        columns, metadata = parquet_schema(self.path)
        stored = json.loads(metadata.get(PROVENANCE, "{}"))
        now = {**self.made, "content": self.benchmark.content_fingerprint}
        then = {**stored, "content": metadata.get(CONTENT, "")}
        depth = sum(bool(re.fullmatch(r"top\d+", column)) for column in columns)
        if depth < self.k:
            now[DEPTH], then[DEPTH] = str(self.k), str(depth)
        changed = [key for key in now if not key.endswith(VERSION) and then.get(key) != now[key]]
        if overwrite and score_kind_of(self.model) is not None and CONFIDENCE not in columns:
            return False
        if not changed or overwrite:
            return not changed
        told = "; ".join(f"{key} was {then.get(key, 'not told')!r}, now {now[key]!r}" for key in changed)
        raise OutputError(
            f"holds answers that were made in another way: {told}",
            where=self.path,
            fix="Choose another folder, or replace them with --overwrite.",
        )

    def collected(self) -> list[Shard]:
        """All shards, in their order; the ones that are left must have been asked."""
        return self.store.load(len(self.shards))

    def finish(self, shards: Sequence[Shard]) -> Predictions:
        """Put the shards together, store the model's answers, and forget the shards."""
        answers = np.concatenate([shard.answers for shard in shards])
        errors = {fault.row: str(fault) for shard in shards for fault in shard.faults}
        invalid = int(np.count_nonzero(answers[:, 0] < 0)) - len(errors)
        made = {**self.made, UNREADABLE: str(len(errors)), INVALID_SCORES: str(invalid)}
        told = [shard.confidence for shard in shards if shard.confidence is not None]
        sure = np.concatenate(told)[None] if len(told) == len(shards) else None
        provenance = {self.model.id: made}
        found = Predictions(self.benchmark, (self.model.id,), answers[None], provenance=provenance, confidence=sure)
        save_predictions(found, self.folder, errors=errors)
        self.store.remove()
        return found


def exam_of(
    source: str | Model, model: Model, benchmark: Benchmark, scoring: Scoring, output: Path, settings: EvaluateSettings
) -> Exam:
    """One model before one benchmark.

    Raises
    ------
    InputError
        If the model does not score the classes that are asked for, or its name cannot be stored.
    """
    refuse_odd_name(model.id)
    made = {
        **{str(key): str(value) for key, value in model.provenance.items()},
        TRANSFORM: f"{model.transform.fingerprint}; {decoding_fingerprint(settings.orientation)}",
        SPACE: scoring.name,
        f"resit{VERSION}": resit.__version__,
    }
    return Exam(
        scored_as(benchmark, scoring),
        source,
        model,
        columns_of(model.label_space, benchmark, scoring, model.id),
        scoring,
        min(settings.top, len(scoring.classes)),
        output / folder_name(benchmark),
        made,
    )


def folder_name(benchmark: Benchmark) -> str:
    """Name of the folder of a benchmark's answers: its own name, with ``-`` for what a folder's name cannot hold."""
    kept = "".join(sign if sign.isalnum() or sign in "._- " else "-" for sign in benchmark.name).strip(". ")
    return kept or "benchmark"
