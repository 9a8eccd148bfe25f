"""What all models of torch share: device, precision, compilation, memory, digests, and the last linear layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId
from resit.errors import UsageError
from resit.models.library import first_line, is_out_of_memory, library, memory, versions
from resit.models.options import DEFAULT, ModelOptions
from resit.models.protocol import Batch, LabelSpace, ScoreKind, Scores, Transform
from resit.models.weights import state_digest

if TYPE_CHECKING:
    import torch
    from torch import nn

Forward = Callable[[Any, Any], Any]

EXTRA = "torch"
DEVICES = ("cpu", "cuda", "mps", "xpu")
# By how much of the largest score the last layer, done again, may differ: rounding, and half precision.
LINEAR_TOLERANCE = {"float32": 1e-3, "float16": 2e-2, "bfloat16": 1e-1}


class TorchModel:
    """A torch module that gives scores, as a Model.

    The scores are taken for logits. Those of a module that ends in a softmax are known by their sums, and taken as they are.

    Parameters
    ----------
    model_id : ModelId
        Its name.
    module : torch.nn.Module
        Takes a float32 tensor, shape (b, …), and gives scores, shape (b, number of classes). It is moved to the device, set to
        evaluation and frozen.
    label_space : LabelSpace
        The classes of the scores.
    transform : Transform
        How images are prepared.
    options : ModelOptions, optional
        Device, precision and compilation.
    provenance : mapping of str to str, optional
        What makes the answers, besides the weights, precision and torch's version, which are added.
    forward : callable, optional
        Takes the module and a batch, and gives the scores. Default: the module is called.

    Raises
    ------
    OutOfMemory
        If the model does not fit on the device.
    UsageError
        If there is no such device.
    """

    score_kind: ScoreKind = "logit"

    def __init__(
        self,
        model_id: ModelId,
        module: nn.Module,
        label_space: LabelSpace,
        transform: Transform,
        options: ModelOptions = DEFAULT,
        provenance: Mapping[str, str] | None = None,
        *,
        forward: Forward | None = None,
    ) -> None:
        self.id = model_id
        self.label_space = label_space
        self.transform = transform
        self.provenance: Mapping[str, str] = {
            "adapter": "torch",
            **(provenance or {}),
            "weights": state_digest(module.state_dict()),
            "precision": options.precision,
            "compile": str(options.compile).lower(),
            **versions("torch"),
        }
        self.options = options
        self.device = pick_device(options.device)
        with memory(self.id, 0):
            self.module: nn.Module = module.eval().requires_grad_(False).to(self.device)
        self._uncompiled: Any = partial(forward, self.module) if forward else self.module
        self._forward: Any = self._compiled() if options.compile else self._uncompiled

    def scores(self, batch: Batch) -> Scores:
        """Scores of a batch of prepared images, float32, shape (b, number of classes).

        Raises
        ------
        OutOfMemory
            If the batch is too large for the device.
        UsageError
            If the model does not give one score for each class.
        """
        with self._running(len(batch)):
            result = self._forward(self._tensor(batch))
            return self._checked(result, len(batch))

    def _compiled(self) -> Any:
        import torch

        return torch.compile(self._uncompiled)

    def _tensor(self, batch: Batch) -> torch.Tensor:
        import torch

        tensor = torch.from_numpy(np.ascontiguousarray(batch))
        # A copy, as a module may work in place and other models may be given the same batch.
        return tensor.clone() if self.device.type == "cpu" else tensor.to(self.device)

    @contextmanager
    def _running(self, size: int) -> Iterator[None]:
        """Inference with this precision; what goes wrong is told in our words."""
        import torch

        try:
            with memory(self.id, size), ExitStack() as stack:
                stack.enter_context(torch.inference_mode())
                stack.enter_context(full_float32() if self.device.type == "cuda" else nullcontext())
                if self.options.precision != "float32":
                    half = getattr(torch, self.options.precision)
                    stack.enter_context(torch.autocast(self.device.type, dtype=half))
                yield
        except Exception as error:
            if self.device.type == "cuda" and is_out_of_memory(error.__cause__ or error):
                torch.cuda.empty_cache()
            if self.options.compile and type(error).__module__.startswith("torch._dynamo"):
                fix = "Leave compilation out, or install what it needs (on CPUs, a C++ compiler)."
                raise UsageError(f"torch cannot compile it: {first_line(error)}", where=self.id, fix=fix) from error
            raise

    def _checked(self, result: Any, size: int) -> Scores:
        import torch

        expected = (size, len(self.label_space.classes))
        if not isinstance(result, torch.Tensor) or tuple(result.shape) != expected:
            shape = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
            what = f"gives {shape} for a batch of {size}, not one score for each of {expected[1]} classes"
            raise UsageError(what, where=self.id, fix="Give it the right list of classes.")
        scores: Scores = result.float().cpu().numpy()
        return scores


class TorchFeatureModel(TorchModel):
    """A TorchModel whose last layer is linear, as a FeatureModel.

    That the scores are what the last layer makes of the features is checked with the first batch.
    """

    def __init__(
        self,
        model_id: ModelId,
        module: nn.Module,
        label_space: LabelSpace,
        transform: Transform,
        options: ModelOptions = DEFAULT,
        provenance: Mapping[str, str] | None = None,
        *,
        last: nn.Module,
        forward: Forward | None = None,
    ) -> None:
        super().__init__(model_id, module, label_space, transform, options, provenance, forward=forward)
        self._last: Any = last
        self._is_checked = False

    def features(self, batch: Batch) -> Scores:
        """Inputs of the last layer, float32, shape (b, number of features).

        Raises
        ------
        OutOfMemory
            If the batch is too large for the device.
        UsageError
            If the scores are not what the last layer makes of them.
        """
        taken: list[torch.Tensor] = []
        hook = self._last.register_forward_pre_hook(lambda _, inputs: taken.append(inputs[0]))
        try:
            with self._running(len(batch)):
                scores = self._checked(self._uncompiled(self._tensor(batch)), len(batch))
                features: Scores = taken[0].float().cpu().numpy() if taken else np.empty(0, np.float32)
        finally:
            hook.remove()
        weights, _ = self.head()
        if len(taken) != 1 or features.shape != (len(batch), weights.shape[1]):
            raise self._not_linear("its last linear layer does not take one row of features for each image")
        if not self._is_checked:
            self._check(features, scores)
        return features

    def head(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights (classes, features) and biases (classes,) of the last layer."""
        weights = self._last.weight.detach().float().cpu().numpy()
        bias = self._last.bias
        return weights, np.zeros(len(weights), np.float32) if bias is None else bias.detach().float().cpu().numpy()

    def _check(self, features: Scores, scores: Scores) -> None:
        usable = np.isfinite(features).all(axis=1) & np.isfinite(scores).all(axis=1)
        if not usable.any():
            return
        weights, bias = self.head()
        again = features[usable] @ weights.T + bias
        if not np.abs(again - scores[usable]).max() <= LINEAR_TOLERANCE[self.options.precision] * np.abs(again).max():
            raise self._not_linear("its scores are not what its last linear layer makes of the features")
        self._is_checked = True

    def _not_linear(self, what: str) -> UsageError:
        return UsageError(what, where=self.id, fix="Use a model whose last layer is one linear layer.")


def torch_model(
    model_id: ModelId,
    module: nn.Module,
    label_space: LabelSpace,
    transform: Transform,
    options: ModelOptions,
    provenance: Mapping[str, str],
    last: object,
    forward: Forward | None = None,
) -> TorchModel:
    """A model of a torch module; one with features where ``last`` is a linear layer with one output for each class."""
    from torch import nn

    given = (model_id, module, label_space, transform, options, provenance)
    if isinstance(last, nn.Linear) and last.out_features == len(label_space.classes):
        return TorchFeatureModel(*given, last=last, forward=forward)
    return TorchModel(*given, forward=forward)


def last_linear(module: nn.Module) -> nn.Module | None:
    """The linear layer that is last in a module's order, or None."""
    from torch import nn

    return next((part for part in reversed(list(module.modules())) if isinstance(part, nn.Linear)), None)


def pick_device(name: str) -> torch.device:
    """The device of this name; ``auto`` is CUDA, else MPS, else CPU.

    Raises
    ------
    UsageError
        If there is no such device here.
    """
    library("torch", EXTRA)
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    fix = "Use auto, cpu, cuda, cuda:1 … or mps."
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError(f"no device {name!r}", where="device", fix=fix) from error
    if device.type not in DEVICES:
        raise UsageError(f"no device {name!r} for models", where="device", fix=fix)
    try:
        torch.empty(1, device=device)
    except Exception as error:
        raise UsageError(f"the device {name!r} cannot be used: {first_line(error)}", where="device", fix=fix) from error
    return device


@contextmanager
def full_float32() -> Iterator[None]:
    """CUDA without TF32, which torch allows in convolutions by default: float32 then has the precision that its name says."""
    import torch

    before = torch.get_float32_matmul_precision()
    flags: AbstractContextManager[None] = torch.backends.cudnn.flags(enabled=True, allow_tf32=False)
    torch.set_float32_matmul_precision("highest")
    try:
        with flags:
            yield
    finally:
        torch.set_float32_matmul_precision(before)
