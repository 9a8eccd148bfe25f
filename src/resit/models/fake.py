"""A model that only pretends: for tests, and to try commands without weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import Batch, LabelSpace, ScoreKind, Scores, Transform, score_kind_of
from resit.models.settings import number, refuse_unknown, whole
from resit.models.spaces import named, numbered

Key = Mapping[str, Sequence[int]]
TOP = 2.0  # other scores are below 1
SMALL = Preprocess(size=(32, 32), resize=(32, 32), interpolation="bilinear", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))


class FakeModel:
    """A model whose answers come from digests of prepared images: the same image always has the same scores.

    Parameters
    ----------
    name : str
        Its name.
    key : Benchmark or mapping of str to sequence of int, optional
        Which answers are right: a benchmark with images, or accepted class indices by `digest` of the prepared image. Images
        that are not in it, and all without it, get scores that mean nothing.
    accuracy : float, optional
        From 0 to 1. Of the n different images in the key, ``round(accuracy * n)`` are answered right. With one seed, a model of
        higher accuracy is right wherever one of lower accuracy is.
    seed : int, optional
        Which images are answered right, and all scores.
    classes : int, sequence, str or LabelSpace, optional
        The classes: a number, ids, or the name of a bundled list. Default: those of the benchmark, else 10.
    transform : Transform, optional
        How images are prepared. Default: resized to 32 × 32 pixels.
    score_kind : {'logit', 'probability'}, optional
        What its scores are said to be; probabilities are made to sum to 1. Default: not said.

    Raises
    ------
    UsageError
        If the accuracy is not from 0 to 1, the benchmark has no images, or a right answer is none of the classes.

    Notes
    -----
    Two images that are prepared alike are one; the first one's labels count. Images that cannot be decoded are not in the key.
    Scores are from 0 to 1, and that of the answer is 2. Features are the scores themselves, and the head is the identity.
    """

    def __init__(
        self,
        name: str,
        key: Benchmark | Key | None = None,
        *,
        accuracy: float = 0.8,
        seed: int = 0,
        classes: object = None,
        transform: Transform = SMALL,
        score_kind: ScoreKind | None = None,
    ) -> None:
        if not 0 <= accuracy <= 1:
            raise UsageError(f"an accuracy of {accuracy}", where=name, fix="Give it from 0 to 1.")
        self.id = ModelId(name)
        self.transform = transform
        self.label_space = _space(key, classes, name)
        self._seed = seed
        self._key = benchmark_key(key, transform) if isinstance(key, Benchmark) else dict(key or {})
        n_classes = len(self.label_space.classes)
        if any(not 0 <= label < n_classes for labels in self._key.values() for label in labels):
            raise UsageError(f"a right answer is none of the {n_classes} classes", where=name, fix="Give all classes.")
        by_luck = sorted(self._key, key=lambda one: hashlib.sha256(f"{seed} {one}".encode()).digest())
        self._right = frozenset(by_luck[: round(accuracy * len(by_luck))])
        of_key = hashlib.sha256("\0".join(f"{one} {[*self._key[one]]}" for one in sorted(self._key)).encode()).hexdigest()[:16]
        self.provenance: Mapping[str, str] = {
            "adapter": "fake",
            "weights": of_key if self._key else "none",
            "accuracy": str(accuracy),
            "seed": str(seed),
            **({"score_kind": score_kind} if score_kind else {}),
        }
        self.score_kind = score_kind
        score_kind_of(self)

    def scores(self, batch: Batch) -> Scores:
        """Scores of a batch of prepared images, float32, shape (b, number of classes)."""
        return np.stack([self._score(image) for image in batch]) if len(batch) else self._nothing()

    def features(self, batch: Batch) -> Scores:
        """Inputs of the last layer, which are the scores themselves."""
        return self.scores(batch)

    def head(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights and biases of the last layer: the identity."""
        n_classes = len(self.label_space.classes)
        return np.eye(n_classes, dtype=np.float32), np.zeros(n_classes, np.float32)

    def _nothing(self) -> Scores:
        return np.empty((0, len(self.label_space.classes)), np.float32)

    def _score(self, image: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
        code = digest(image)
        random = np.random.default_rng([abs(self._seed), int(code, 16)])
        n_classes = len(self.label_space.classes)
        scores = random.random(n_classes, np.float32)
        accepted = list(self._key.get(code, ()))
        wrong = np.setdiff1d(np.arange(n_classes), accepted)
        choices = accepted if code in self._right else wrong if accepted else np.arange(n_classes)
        if len(choices):
            scores[random.choice(choices)] = TOP
        return scores / scores.sum() if self.score_kind == "probability" else scores


def digest(image: npt.NDArray[np.generic]) -> str:
    """Digest of a prepared image: 16 hex digits of SHA-256 over its shape, type and bytes."""
    head = f"{image.shape} {image.dtype.str}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(image).tobytes()).hexdigest()[:16]


def benchmark_key(benchmark: Benchmark, transform: Transform) -> dict[str, tuple[int, ...]]:
    """Accepted classes of a benchmark's images by `digest` of the prepared image.

    Raises
    ------
    UsageError
        If the benchmark has no images.
    """
    from resit.data.decode import decode

    if benchmark.images is None:
        raise UsageError("a benchmark without images", where=benchmark.name, fix="Load it with its images.")
    key: dict[str, tuple[int, ...]] = {}
    for place in range(benchmark.n):
        try:
            image = decode(benchmark.images[place]).image
        except (OSError, InputError):
            continue
        labels = benchmark.labels[place]
        key.setdefault(digest(transform(image)), tuple(labels[labels >= 0].tolist()))
    return key


def load(name: str, options: ModelOptions, settings: Mapping[str, str]) -> FakeModel:  # noqa: ARG001
    """Load ``fake:NAME``, whose answers mean nothing, or ``fake:NAME?key=PATH&accuracy=0.8``, which has seen the key.

    Parameters
    ----------
    name : str
        Its name.
    options : ModelOptions
        Without effect.
    settings : mapping
        ``classes``: a number or a class list. ``seed``. ``key``: a benchmark with images, whose answers it then knows with
        ``accuracy``. ``score_kind``.

    Raises
    ------
    UsageError
        If a setting does not fit.
    """
    where = f"fake:{name}"
    refuse_unknown(settings, ("accuracy", "classes", "key", "score_kind", "seed"), where)
    classes: object = settings.get("classes")
    if isinstance(classes, str) and classes.isdecimal():
        classes = whole(settings, "classes", 10, where)
    key = None
    if "key" in settings:
        from resit.data.load_benchmark import load_benchmark

        key = load_benchmark(settings["key"])
    elif "accuracy" in settings:
        fix = "Add &key=PATH, a benchmark with images."
        raise UsageError("an accuracy, but no key that says what is right", where=where, fix=fix)
    accuracy, seed = number(settings, "accuracy", 0.8, where), whole(settings, "seed", 0, where)
    kind = cast("ScoreKind | None", settings.get("score_kind"))
    return FakeModel(name, key, accuracy=accuracy, seed=seed, classes=classes, score_kind=kind)


def _space(key: Benchmark | Key | None, classes: object, name: str) -> LabelSpace:
    if isinstance(classes, int):
        if classes < 1:
            raise UsageError(f"{classes} classes", where=name, fix="Give at least one.")
        return numbered(classes)
    if classes is not None:
        return named(classes, name)
    if isinstance(key, Benchmark):
        return LabelSpace(key.label_space, key.classes) if key.classes else numbered(key.n_classes)
    return numbered(10)
