"""Models in ONNX files, run by onnxruntime: ``onnx:FILE.onnx``, with its classes and preprocessing beside it or inside."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from resit.data.guard import reading
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.adapters.onnx_graph import operator_of
from resit.models.library import existing_file, library, loading, memory, versions
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import Batch, LabelSpace, ScoreKind, Scores, Transform
from resit.models.settings import refuse_unknown
from resit.models.sidecar import SETTINGS, read_sidecar
from resit.models.weights import file_digest

if TYPE_CHECKING:
    from PIL.Image import Image

EXTRA = "onnx"
METADATA = {"classes": "resit.classes", "preprocess": "resit.preprocess"}
TYPES: dict[str, type[np.generic]] = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(uint8)": np.uint8}
Layout = Literal["NCHW", "NHWC"]
# In a TensorProto's external_data: the key "location", then the length of its value.
LOCATION = re.compile(rb"\n\x08location\x12([\x01-\x7f]|[\x80-\xff][\x01-\x7f])", re.DOTALL)


@dataclass(frozen=True)
class OnnxTransform:
    """A Preprocess, as the type and the layout that a graph takes.

    Parameters
    ----------
    preprocess : Preprocess
    dtype : type
        float32, float16, or uint8: then the pixels are not normalised.
    layout : {'NCHW', 'NHWC'}
    """

    preprocess: Preprocess
    dtype: type[np.generic]
    layout: Layout

    @property
    def fingerprint(self) -> str:
        """The steps in words."""
        is_plain = self.dtype is np.float32 and self.layout == "NCHW"
        words = self.preprocess.geometry if self.dtype is np.uint8 else self.preprocess.fingerprint
        return words if is_plain else f"{words}, {self.dtype.__name__} {self.layout}"

    def __call__(self, image: Image) -> npt.NDArray[Any]:
        """Prepare an RGB image."""
        if self.dtype is np.uint8:
            pixels = self.preprocess.pixels(image)
            return np.ascontiguousarray(pixels.transpose(2, 0, 1)) if self.layout == "NCHW" else pixels
        prepared = self.preprocess(image).astype(self.dtype)
        return prepared if self.layout == "NCHW" else np.ascontiguousarray(prepared.transpose(1, 2, 0))


class OnnxModel:
    """A graph of onnxruntime as a Model; ``load`` makes it."""

    def __init__(
        self,
        model_id: ModelId,
        session: Any,
        output: str,
        label_space: LabelSpace,
        transform: Transform,
        weights: str,
        score_kind: ScoreKind | None = None,
    ) -> None:
        self.score_kind = score_kind
        self.id = model_id
        self.label_space = label_space
        self.transform = transform
        self.provenance: Mapping[str, str] = {
            "adapter": "onnx",
            "weights": weights,
            "output": output,
            "precision": "of the graph",
            **versions("onnxruntime"),
        }
        self._session, self._output = session, output
        self._input = session.get_inputs()[0]
        first = self._input.shape[0]
        self._fixed = first if isinstance(first, int) else None

    def scores(self, batch: Batch) -> Scores:
        """Scores of a batch of prepared images.

        A graph with a fixed batch is given batches of this length; the last one is filled up, and what is filled is dropped.

        Raises
        ------
        OutOfMemory
            If the batch is too large for the device.
        InputError
            If the graph cannot be run.
        UsageError
            If it does not give one score for each class.
        """
        step = self._fixed or max(len(batch), 1)
        parts = [self._run(batch[start : start + step]) for start in range(0, max(len(batch), 1), step)]
        return np.concatenate(parts)

    def _run(self, part: Batch) -> Scores:
        missing = (self._fixed or len(part)) - len(part)
        filled = np.concatenate([part, np.zeros((missing, *part.shape[1:]), part.dtype)]) if missing else part
        with loading(self.id, "Is the file's input of another shape?"), memory(self.id, len(filled)):
            result = np.asarray(self._session.run([self._output], {self._input.name: filled})[0])
        expected = (len(filled), len(self.label_space.classes))
        if result.shape != expected or result.dtype.kind != "f":
            what = f"gives {result.dtype} of shape {result.shape} for {len(filled)} images and {expected[1]} classes"
            raise UsageError(what, where=self.id, fix="Give the right list of classes, or another ?output=.")
        return result[: len(part)]


def load(name: str, options: ModelOptions, settings: Mapping[str, str]) -> OnnxModel:
    """Load a graph with one image input and one row of scores for each image.

    Parameters
    ----------
    name : str
        Path of the file.
    options : ModelOptions
        The device is CPU or CUDA. Precision is the graph's own.
    settings : mapping
        ``classes``, ``size``, ``resize``, ``interpolation``, ``mean`` and ``std`` where the file's metadata (keys
        ``resit.classes`` and ``resit.preprocess``, JSON) or its sidecar (``FILE.yaml``) do not have them; ``output``, the name
        of the scores where there are several outputs; ``layout``, NCHW or NHWC, where the graph does not tell.

    Raises
    ------
    UsageError
        If onnxruntime is missing, an option does not fit, or the classes or the preprocessing are not known.
    InputError
        If the file cannot be read.
    """
    where = f"onnx:{name}"
    refuse_unknown(settings, (*SETTINGS, "output", "layout"), where)
    path = existing_file(name)
    session = _session(path, options)
    source = _one_input(session, where)
    dtype = TYPES.get(source.type)
    if dtype is None:
        raise UsageError(f"its input is of type {source.type}", where=where, fix=f"It must be one of {', '.join(TYPES)}.")
    layout = _layout(source.shape, settings.get("layout"), where)
    output = _one_output(session, settings.get("output"), where)
    sidecar = read_sidecar(path, settings, _inside(session, path))
    transform = OnnxTransform(sidecar.transform(colour=dtype is not np.uint8), dtype, layout)
    label_space = sidecar.label_space()
    _refuse_misfit(source.shape, output.shape, transform, label_space, where)
    kind: ScoreKind | None = "probability" if operator_of(path, output.name) == "Softmax" else None
    return OnnxModel(ModelId(path.stem), session, output.name, label_space, transform, _digest(path), kind)


def _session(path: Path, options: ModelOptions) -> Any:
    ort = library("onnxruntime", EXTRA)
    if options.precision != "float32" or options.compile:
        fix = "Leave the precision at float32 and compile off; for half precision, convert the file."
        raise UsageError("onnxruntime runs a graph in its own precision", where=path, fix=fix)
    kind, _, number = options.device.partition(":")
    if kind not in ("auto", "cpu", "cuda") or (number and not number.isdigit()):
        raise UsageError(f"no device {options.device!r} for ONNX", where="device", fix="Use auto, cpu, cuda or cuda:1.")
    has_cuda = "CUDAExecutionProvider" in ort.get_available_providers()
    if kind == "cuda" and not has_cuda:
        fix = "Install onnxruntime-gpu in place of onnxruntime, or use the device cpu."
        raise UsageError("this onnxruntime has no CUDA", where="device", fix=fix)
    # Without TF32, float32 has the precision that its name says.
    cuda = ("CUDAExecutionProvider", {"device_id": int(number or 0), "use_tf32": 0})
    providers = [cuda, "CPUExecutionProvider"] if has_cuda and kind != "cpu" else ["CPUExecutionProvider"]
    with loading(path, "Is it an ONNX file? Files of weights that it names must lie beside it."), memory(path, 0):
        session = ort.InferenceSession(path, providers=providers)
    if kind == "cuda" and "CUDAExecutionProvider" not in session.get_providers():
        raise UsageError("onnxruntime cannot use CUDA here", where="device", fix="See its log, or use the device cpu.")
    return session


def _inside(session: Any, path: Path) -> dict[str, Any]:
    metadata = session.get_modelmeta().custom_metadata_map
    found: dict[str, Any] = {}
    for key, name in METADATA.items():
        if name in metadata:
            try:
                found[key] = json.loads(metadata[name])
            except json.JSONDecodeError as error:
                raise InputError(f"its metadata {name} is not JSON: {error.msg}", where=path) from error
    if not isinstance(found.get("preprocess", {}), dict):
        raise InputError("its metadata resit.preprocess needs keys and values", where=path)
    return found


def _one_input(session: Any, where: str) -> Any:
    inputs = session.get_inputs()
    if len(inputs) != 1 or len(inputs[0].shape) != 4:
        shapes = ", ".join(f"{one.name} {one.shape}" for one in inputs)
        raise UsageError(f"its inputs are {shapes}", where=where, fix="It must have one input of four dimensions.")
    return inputs[0]


def _one_output(session: Any, wanted: str | None, where: str) -> Any:
    outputs = {one.name: one for one in session.get_outputs()}
    if wanted is None and len(outputs) == 1:
        return next(iter(outputs.values()))
    if wanted not in outputs:
        what = "it has several outputs" if wanted is None else f"no output {wanted!r}"
        raise UsageError(what, where=where, fix=f"Say which: ?output= one of {', '.join(outputs)}.")
    return outputs[wanted]


def _layout(shape: list[Any], wanted: str | None, where: str) -> Layout:
    fits = [layout for layout, place in (("NCHW", 1), ("NHWC", 3)) if shape[place] == 3 or not isinstance(shape[place], int)]
    sure = [layout for layout, place in (("NCHW", 1), ("NHWC", 3)) if shape[place] == 3]
    found = wanted or (sure[0] if len(sure) == 1 else "")
    if found not in fits:
        what = f"its input {shape} does not tell where the three colours are" if fits else f"its input {shape} takes no colours"
        raise UsageError(what, where=where, fix=f"Give ?layout={' or '.join(fits) or 'NCHW'}.")
    return "NCHW" if found == "NCHW" else "NHWC"


def _refuse_misfit(source: list[Any], output: list[Any], transform: OnnxTransform, space: LabelSpace, where: str) -> None:
    size = transform.preprocess.size
    sides = (size, size) if isinstance(size, int) else size
    taken = source[2:] if transform.layout == "NCHW" else source[1:3]
    if any(isinstance(side, int) and side != given for side, given in zip(taken, sides, strict=True)):
        raise UsageError(f"it takes images of {taken}, and size is {size}", where=where, fix="Correct the size.")
    if len(output) != 2 or (isinstance(output[1], int) and output[1] != len(space.classes)):
        what = f"its output has shape {output}, and {space.name} has {len(space.classes)} classes"
        raise UsageError(what, where=where, fix="Give the right list of classes, or another ?output=.")


def _digest(path: Path) -> str:
    """Digest of the file and of the files that it names, where large graphs keep their weights."""
    names: set[str] = set()
    with reading(path), path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for found in LOCATION.finditer(content):
            length = found[1][0] if len(found[1]) == 1 else (found[1][0] & 127) + (found[1][1] << 7)
            names.add(content[found.end() : found.end() + length].decode("utf-8", "replace"))
    return file_digest(path, *(other for name in sorted(names) if (other := path.parent / name).is_file()))
