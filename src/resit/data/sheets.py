"""The one form that every reader of answers returns: a sheet for each model, read one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resit.data.entries import Entries
from resit.data.labels import LabelSheet
from resit.data.models import ModelId
from resit.errors import InputError, Notice


@dataclass(frozen=True)
class AnswerSheet:
    """The answers of one model, as they were written.

    Parameters
    ----------
    model : ModelId
        Who answered.
    entries : Entries
        Answers of each example, best first.
    ids : ndarray of str, shape (n,), optional
        Identities of the examples; None: they are in the order of the labels.
    source : str
        The file.
    provenance : mapping of str to str
        How the answers were made.
    fingerprint : str
        Content fingerprint of the benchmark that they were made on, where the file tells it.
    images_fingerprint : str
        Its part that tells the images, where there were any.
    labels_fingerprint : str
        The same of its accepted labels, which tells benchmarks apart where examples have no ids.
    label_space : str
        Set of classes that the answers were chosen from, where the file tells it.
    n_scored : int
        Number of classes that the answers were chosen from by their scores; 0: not known.
    labels : Entries, optional
        Labels that stand beside the answers in the same file, in the same order.
    is_truth : bool
        Whether the file says by a name or its form that true and 1 mean right, so that no class can be meant.
    notices : tuple of Notice
        What was seen while reading.
    confidence : ndarray of float32, shape (n,), optional
        How sure the model is of each first answer, as a probability; NaN where it is not known.
    """

    model: ModelId
    entries: Entries
    ids: npt.NDArray[np.str_] | None = None
    source: str = ""
    provenance: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    images_fingerprint: str = ""
    labels_fingerprint: str = ""
    label_space: str = ""
    n_scored: int = 0
    labels: Entries | None = None
    is_truth: bool = False
    notices: tuple[Notice, ...] = ()
    confidence: npt.NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Source:
    """The sheets of all models of a folder or file.

    Parameters
    ----------
    count : int
        Number of models.
    sheets : iterator of AnswerSheet
        Read when asked for, so that one file at a time is in memory.
    labels : LabelSheet, optional
        Labels that stand in the same file.
    notices : tuple of Notice
        What was seen while looking.
    """

    count: int
    sheets: Iterator[AnswerSheet]
    labels: LabelSheet | None = None
    notices: tuple[Notice, ...] = ()


def check_count(found: int, expected: int | None, where: object, *, of: str = "labels") -> None:
    """Refuse answers of another number than labels, before they are read.

    Raises
    ------
    InputError
        With both counts.
    """
    if expected is None or found == expected:
        return
    padded = expected < found <= expected + max(64, expected // 100)
    hint = "A few too many look like padding by a distributed sampler. " if padded else ""
    raise InputError(
        f"{found} answers, but {expected} {of}",
        where=where,
        fix=f"{hint}Check that both are of the same test set; answers stored with the examples' ids can be joined by them.",
    )
