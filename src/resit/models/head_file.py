"""A head in a file: two tensors and what they belong to, as safetensors, which torch reads too."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import ClassInfo
from resit.data.guard import reading
from resit.data.models import ModelId
from resit.errors import InputError, OutputError, UsageError
from resit.models.heads import EXTRA, Head
from resit.models.library import first_line, library
from resit.models.options import ModelOptions
from resit.models.protocol import Batch, FeatureModel, LabelSpace, ScoreKind, Scores, Transform
from resit.models.settings import refuse_unknown

FORMAT = "resit.head/1"
VARIANT = "retrained"


@dataclass(frozen=True)
class StoredHead:
    """A head with what it belongs to.

    Parameters
    ----------
    head : Head
    label_space : LabelSpace
        Its classes, in the order of its scores.
    model : ModelId
        Whose features it was trained on.
    transform : str
        Fingerprint of how that model's images were prepared.
    provenance : mapping of str to str
        How that model made its features.
    """

    head: Head
    label_space: LabelSpace
    model: ModelId
    transform: str
    provenance: Mapping[str, str]

    def __post_init__(self) -> None:
        if len(self.label_space.classes) != len(self.head.weight):
            what = f"{len(self.label_space.classes)} classes for {len(self.head.weight)} rows of weights"
            raise UsageError(what, where="head", fix="Name the class of each row.")

    @property
    def digest(self) -> str:
        """First 16 hex digits of SHA-256 over weights, biases and class ids."""
        digest = hashlib.sha256(json.dumps([info.id for info in self.label_space.classes]).encode())
        for part in (self.head.weight, self.head.bias):
            digest.update(np.ascontiguousarray(part, np.float32).tobytes())
        return digest.hexdigest()[:16]


def save_head(stored: StoredHead, path: Path) -> None:
    """Write a head: tensors ``weight`` (classes, features) and ``bias`` (classes,), float32.

    The metadata are ``format``, ``label_space``, ``classes`` (a JSON list of [id, name]), ``model``, ``variant``,
    ``transform``, ``features`` (their number) and ``provenance`` (a JSON object). The file appears whole or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    UsageError
        If safetensors is not installed.
    """
    save = library("safetensors.numpy", EXTRA).save
    metadata = {
        "format": FORMAT,
        "label_space": stored.label_space.name,
        "classes": json.dumps([[info.id, info.name] for info in stored.label_space.classes], ensure_ascii=False),
        "model": stored.model.model,
        "variant": stored.model.variant,
        "transform": stored.transform,
        "features": str(stored.head.weight.shape[1]),
        "provenance": json.dumps(dict(stored.provenance), ensure_ascii=False),
    }
    tensors = {"weight": np.ascontiguousarray(stored.head.weight), "bias": np.ascontiguousarray(stored.head.bias)}
    half = path.with_name(f".{path.name}.{os.getpid()}.half")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with half.open("wb") as file:
            file.write(save(tensors, metadata=metadata))
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            half.unlink()
        what = f"the head cannot be written: {error.strerror or error}"
        raise OutputError(what, where=path, fix="Check its permissions and the free space.") from error


def load_head(path: str | Path) -> StoredHead:
    """Read a head that :func:`save_head` wrote.

    Raises
    ------
    InputError
        If it cannot be read, or is no such file.
    UsageError
        If safetensors is not installed.
    """
    safetensors = library("safetensors", EXTRA)
    where = Path(path).expanduser()
    try:
        with reading(where), safetensors.safe_open(str(where), framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except safetensors.SafetensorError as error:
        what = f"cannot be read as safetensors: {first_line(error)}"
        raise InputError(what, where=where, fix="It may be cut off or of another format.") from error
    if metadata.get("format") != FORMAT or set(tensors) != {"weight", "bias"}:
        raise InputError(f"no head of the format {FORMAT}", where=where, fix="Give a file that resit retrain wrote.")
    with reading(where):
        classes = tuple(ClassInfo(str(key), str(name)) for key, name in json.loads(metadata["classes"]))
        head = Head(*(_float32(tensors[name], name) for name in ("weight", "bias")))
        space, model = LabelSpace(metadata["label_space"], classes), ModelId(metadata["model"], metadata["variant"])
        try:
            return StoredHead(head, space, model, metadata["transform"], json.loads(metadata["provenance"]))
        except UsageError as error:
            raise InputError(error.what, where=where, fix="Write it again.") from error


def _float32(tensor: npt.NDArray[Any], name: str) -> npt.NDArray[np.float32]:
    if tensor.dtype != np.float32 or not np.isfinite(tensor).all():
        raise ValueError(f"{name} is not of finite float32 numbers")
    return tensor


class WithHead:
    """A model with another last layer, as a FeatureModel.

    Parameters
    ----------
    model : FeatureModel
        Makes the features.
    stored : StoredHead
        Takes them.

    Raises
    ------
    UsageError
        If the head was trained on other features.
    """

    score_kind: ScoreKind = "logit"

    def __init__(self, model: FeatureModel, stored: StoredHead) -> None:
        found, needed = model.head()[0].shape[1], stored.head.weight.shape[1]
        fix = "Give the model that the head was trained on, loaded in the same way."
        if found != needed:
            raise UsageError(f"the head takes {needed} features and {model.id} makes {found}", where="head", fix=fix)
        if model.transform.fingerprint != stored.transform:
            own = model.transform.fingerprint
            what = f"the head was trained on images prepared as {stored.transform!r}, and {model.id} has {own!r}"
            raise UsageError(what, where="head", fix=fix)
        changed = [key for key in ("weights", "adapter") if model.provenance.get(key) != stored.provenance.get(key)]
        if changed:
            told = "; ".join(f"{key} {stored.provenance.get(key)!r}, not {model.provenance.get(key)!r}" for key in changed)
            raise UsageError(f"the head was trained on features of {stored.model} with {told}", where="head", fix=fix)
        self._model, self._stored = model, stored
        variant = f"{model.id.variant} {VARIANT}".strip()
        self.id = ModelId(model.id.model, variant)
        self.label_space = stored.label_space

    @property
    def transform(self) -> Transform:
        """How its images are prepared."""
        return self._model.transform

    @property
    def provenance(self) -> Mapping[str, str]:
        """What makes its answers: those of the model, and the head's digest."""
        return {**self._model.provenance, "head": self._stored.digest}

    @property
    def device(self) -> object:
        """Where the model runs."""
        return getattr(self._model, "device", "cpu")

    def features(self, batch: Batch) -> Scores:
        """Inputs of the last layer, shape (b, number of features)."""
        return self._model.features(batch)

    def head(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights (classes, features) and biases (classes,) of the head."""
        return self._stored.head.weight, self._stored.head.bias

    def scores(self, batch: Batch) -> Scores:
        """Scores of a batch of prepared images, float32, shape (b, number of classes)."""
        return self._stored.head.scores(self.features(batch))


def load(name: str, options: ModelOptions, settings: Mapping[str, str]) -> WithHead:
    """Load ``head:PATH?base=MODEL``: a stored head on the features of a model.

    Raises
    ------
    UsageError
        If no base is given, it has no features, or the head does not belong to it.
    """
    where = f"head:{name}"
    refuse_unknown(settings, ("base",), where)
    if "base" not in settings:
        raise UsageError("whose features does the head take?", where=where, fix="Write head:PATH?base=timm:resnet50.a1_in1k.")
    from resit.models.load import load_model

    base = load_model(settings["base"], options)
    if not isinstance(base, FeatureModel):
        raise UsageError("the base has no features: its last layer cannot be replaced", where=where, fix="Give another base.")
    return WithHead(base, load_head(name))
