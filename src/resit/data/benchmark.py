"""What was asked: the examples of one test set in a fixed order, and their accepted labels."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from resit.data.images import Images
from resit.errors import Notice, UsageError

Labels = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ClassInfo:
    """One class: its id (the key between benchmarks, e.g. a wnid) and a name for people, which may repeat."""

    id: str
    name: str


@dataclass(frozen=True)
class Benchmark:
    """The examples of one test set, in a fixed order.

    Parameters
    ----------
    name : str
        Name of the test set.
    labels : ndarray of int32, shape (n, m)
        Accepted class indices of each example, padded on the right with -1.
    ids : ndarray of str, shape (n,), optional
        Real identities of the examples. None where only positions are known: positions are no identity between benchmarks.
    classes : tuple of ClassInfo, optional
        Classes in the order of the indices. Empty where unknown: then an index is its own id.
    label_space : str, optional
        Name of the set of classes that the indices mean.
    version : str, optional
        Version of the test set.
    groups : mapping of str to ndarray of str, shape (n,), optional
        Group columns.
    subset : ndarray of int32, optional
        The classes that answers are taken from, where the test set's own convention is fewer than all: for ImageNet-A, 200 of
        1,000.
    images : Images, optional
        What the models are shown. None where only answers are known.
    images_fingerprint : str, optional
        Digest of the images, kept where they are not at hand. Default: that of ``images``.
    origin : (str, str), optional
        Source and class list with which :func:`resit.load_benchmark` reads it again; the class list is empty where none was
        given. None where it was not read so.
    notices : tuple of Notice, optional
        What was seen while reading.

    Raises
    ------
    UsageError
        If the shapes do not agree.
    """

    name: str
    labels: Labels
    ids: npt.NDArray[np.str_] | None = None
    classes: tuple[ClassInfo, ...] = ()
    label_space: str = "unnamed"
    version: str = ""
    groups: Mapping[str, npt.NDArray[np.str_]] = field(default_factory=dict)
    subset: npt.NDArray[np.int32] | None = None
    images: Images | None = field(default=None, repr=False, compare=False)
    images_fingerprint: str = ""
    origin: tuple[str, str] | None = field(default=None, repr=False, compare=False)
    notices: tuple[Notice, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.labels.ndim != 2:
            raise UsageError(f"labels need shape (n, m), not {self.labels.shape}", where=self.name)
        for what, column in {"ids": self.ids, **self.groups}.items():
            if column is not None and len(column) != self.n:
                raise UsageError(f"{len(column)} values of {what} for {self.n} labels", where=self.name)
        if self.images is not None:
            if len(self.images) != self.n:
                raise UsageError(f"{len(self.images)} images for {self.n} labels", where=self.name)
            object.__setattr__(self, "images_fingerprint", self.images.fingerprint)

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.labels)

    @cached_property
    def n_classes(self) -> int:
        """Number of classes: of the class list, else one more than the largest label."""
        return len(self.classes) or (int(self.labels.max()) + 1 if self.labels.size else 0)

    @property
    def single_label(self) -> bool:
        """Whether every example has exactly one accepted label."""
        return bool(self.labels.shape[1] == 1 and np.all(self.labels >= 0))

    def class_id(self, index: int) -> str:
        """Identity of a class between benchmarks."""
        return self.classes[index].id if self.classes else str(index)

    def class_name(self, index: int) -> str:
        """Name of a class for people."""
        return self.classes[index].name if self.classes else str(index)

    @cached_property
    def content_fingerprint(self) -> str:
        """Digest of what was asked and in which order, by which predictions are keyed."""
        digest = hashlib.sha256(str(self.n).encode())
        if self.ids is not None:
            digest.update("\0".join(self.ids.tolist()).encode())
        digest.update(self.images_fingerprint.encode())
        return digest.hexdigest()[:16]

    @cached_property
    def labels_fingerprint(self) -> str:
        """Digest of the accepted labels, apart from the content so that better labels keep old answers."""
        return hashlib.sha256(np.ascontiguousarray(self.labels, np.int32).tobytes()).hexdigest()[:16]
