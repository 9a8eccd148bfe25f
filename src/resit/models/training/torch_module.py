"""Any torch module as a model that can be trained: SGD with momentum, one cycle of learning rates, flips and crops."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.models.library import first_line, library, memory, versions
from resit.models.torch_model import EXTRA, pick_device
from resit.models.training.augment import flipped, shifted
from resit.models.training.diverged import Diverged
from resit.models.training.protocol import Fitter, Inputs, Labels, Tell, Trained, digest
from resit.models.training.torch_trained import Scale, TorchTrained
from resit.stats.splits import make_folds

if TYPE_CHECKING:
    import torch
    from torch import nn

Schedule = Literal["one-cycle", "cosine"]
FEWEST_HELD = 50
WARM = 0.25  # share of a cycle in which the learning rate rises
MOST_SEED = 2**63


class Factory(Protocol):
    """Makes an untrained module. It can be pickled; ``fingerprint`` tells one architecture from another."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def fingerprint(self) -> str:
        """Digest of what decides the module."""

    @property
    def images_per_second(self) -> float:
        """Roughly how many images a second are trained on, on 2 cores."""

    def __call__(self, n_classes: int, shape: tuple[int, ...]) -> nn.Module:
        """A module that takes float32, shape (b, channels, h, w) of images or (b, …) of features, and gives (b, n_classes).

        It is called with torch's generator seeded.
        """


@dataclass(frozen=True)
class TorchSettings:
    """How a module is trained.

    Parameters
    ----------
    epochs, batch : int
    lr : float
        Highest learning rate.
    momentum, weight_decay : float
        Of SGD with Nesterov's momentum.
    schedule : {'one-cycle', 'cosine'}
        Of the learning rate, over all epochs.
    augment : bool
        Whether images are flipped at random and shifted by up to an eighth of their side.
    held_out : float
        Share of the examples that is not trained on, by whose accuracy (then loss) the best epoch is taken; no part is held out
        where it would be of fewer than 50 examples.
    patience : int
        Epochs without a better one after which training stops.
    threads : int
        Of torch on a CPU. They are part of what decides a fit: sums in another order train another model.
    device : str
        ``cpu``, ``cuda`` or ``auto``.
    half : bool
        Whether to compute in bfloat16, by autocast.

    Raises
    ------
    UsageError
        If a number cannot be meant.
    """

    epochs: int = 8
    batch: int = 128
    lr: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 5e-4
    schedule: Schedule = "one-cycle"
    augment: bool = True
    held_out: float = 0.05
    patience: int = 8
    threads: int = 2
    device: str = "cpu"
    half: bool = False

    def __post_init__(self) -> None:
        whole = (self.epochs, self.batch, self.patience, self.threads)
        shares = (self.momentum, self.held_out)
        if min(whole) < 1 or self.lr <= 0 or self.weight_decay < 0 or min(shares) < 0 or max(shares) >= 1:
            raise UsageError(f"settings that cannot be meant: {self}", where="training", fix="Leave those out you do not mean.")
        if self.schedule not in get_args(Schedule):
            raise UsageError(f"no schedule {self.schedule!r}", where="training", fix=f"Use one of {get_args(Schedule)}.")


@dataclass(frozen=True)
class TorchModule:
    """Trains what a factory makes.

    Parameters
    ----------
    factory : Factory
    settings : TorchSettings, optional
    """

    factory: Factory
    settings: TorchSettings = field(default_factory=TorchSettings)

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.factory.name}, {self.settings.epochs} epochs"

    @property
    def fingerprint(self) -> str:
        """Digest of the architecture, the settings and torch's version."""
        return digest("torch 1", self.factory.fingerprint, self.settings, sorted(versions("torch").items()))

    @property
    def cpus(self) -> int:
        """Threads of a fit."""
        return self.settings.threads

    @property
    def gpus(self) -> int:
        """One, unless on a CPU."""
        return 0 if self.settings.device == "cpu" else 1

    def seconds(self, rows: int) -> float:
        """Roughly, on 2 cores."""
        return self.settings.epochs * rows / self.factory.images_per_second

    def grid(self) -> tuple[tuple[str, Fitter], ...]:
        """Learning rates, penalties, batches and lengths around the settings."""
        s = self.settings
        other: list[dict[str, Any]] = [
            {},
            *({"lr": s.lr * by} for by in (0.1, 0.3, 3.0)),
            *({"weight_decay": s.weight_decay * by} for by in (0.1, 10.0)),
            {"batch": 4 * s.batch},
            {"epochs": max(1, s.epochs // 2)},
            {"augment": not s.augment},
        ]
        return tuple((_named(one), replace(self, settings=replace(s, **one))) for one in other)

    def fit(self, inputs: Inputs, labels: Labels, n_classes: int, *, seed: int, tell: Tell) -> Trained:
        """Train on examples; see :class:`resit.models.training.protocol.Fitter`.

        Torch's global generator is as before afterwards.
        """
        if len(np.unique(labels)) < 2:
            raise UsageError(
                "training examples of fewer than two classes", where=self.name, fix="Give examples of two at least."
            )
        device = pick_device(self.settings.device)
        with _alone(device, seed, self.settings.threads), memory(self.name, self.settings.batch):
            return _Run(self, device, inputs, labels, n_classes, seed).trained(tell)


class _Run:
    """One training."""

    def __init__(
        self, plan: TorchModule, device: torch.device, inputs: Inputs, labels: Labels, n_classes: int, seed: int
    ) -> None:
        import torch

        self.plan, self.settings, self.device = plan, plan.settings, device
        self.inputs, self.labels = inputs, labels
        self.rng = np.random.default_rng(seed)
        self.train, self.held = _split(labels, self.settings.held_out, self.rng)
        scale = Scale.of(inputs, self.train)
        module = _made(plan.factory, n_classes, scale.shape)
        layout = torch.channels_last if len(scale.shape) == 3 else torch.contiguous_format
        self.net = TorchTrained(module.to(device, memory_format=layout), scale, device, n_classes, self.settings.half)

    def trained(self, tell: Tell) -> TorchTrained:
        best, kept, since = (-1, -math.inf), None, 0
        optimiser, schedule = self._optimiser()
        for epoch in range(1, self.settings.epochs + 1):
            loss = self._epoch(optimiser, schedule)
            said = f"{self.plan.factory.name}: epoch {epoch} of {self.settings.epochs}, loss {loss:.3f}"
            if not len(self.held):
                tell(said)
                continue
            found = self._held_out()
            tell(f"{said}, {found[0] / len(self.held):.1%} of the held-out part right")
            if found > best:
                best, kept, since = found, copy.deepcopy(self.net.module.state_dict()), 0
            else:
                since += 1
            if since >= self.settings.patience:
                break
        if kept is not None:
            self.net.module.load_state_dict(kept)
        self.net.module.eval()
        return self.net

    def _optimiser(self) -> tuple[Any, Any]:
        import torch

        s = self.settings
        steps = s.epochs * math.ceil(len(self.train) / s.batch)
        optimiser = torch.optim.SGD(
            self.net.module.parameters(), s.lr, momentum=s.momentum, weight_decay=s.weight_decay, nesterov=s.momentum > 0
        )
        warm = max(1, round(WARM * steps)) if s.schedule == "one-cycle" else 0

        def share(step: int) -> float:
            if step < warm:
                return (step + 1) / (warm + 1)
            return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))

        return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, share)

    def _epoch(self, optimiser: Any, schedule: Any) -> float:
        import torch

        self.net.module.train()
        order = self.rng.permutation(self.train)
        total = 0.0
        for start in range(0, len(order), self.settings.batch):
            rows = order[start : start + self.settings.batch]
            if len(rows) == 1 and len(order) > 1:  # a batch of one has no spread to normalise by
                continue
            batch = self.inputs[rows]
            if self.settings.augment and batch.ndim == 4:
                batch = flipped(shifted(batch, self.rng), self.rng)
            target = torch.from_numpy(self.labels[rows]).to(self.device)
            loss = torch.nn.functional.cross_entropy(self.net.forward(batch), target)
            value = float(loss.detach())
            if not math.isfinite(value):
                fix = "Take a lower learning rate (lr), or look for values that are not finite."
                raise Diverged(f"the loss is {value}", where=self.plan.name, fix=fix)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += value * len(rows)
        return total / len(order)

    def _held_out(self) -> tuple[int, float]:
        scores, labels = self.net.scores(self.inputs[self.held]), self.labels[self.held]
        if not np.isfinite(scores).all():
            raise Diverged("the scores are not finite", where=self.plan.name, fix="Take a lower learning rate (lr).")
        highest = scores.max(axis=1, keepdims=True)
        norm = highest[:, 0] + np.log(np.exp(scores - highest).sum(axis=1))
        loss = float((norm - scores[np.arange(len(labels)), labels]).mean())
        return int((scores.argmax(axis=1) == labels).sum()), -loss


def _named(changed: dict[str, Any]) -> str:
    said = [f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in changed.items()]
    return ", ".join(said) or "as set"


def _split(labels: Labels, share: float, rng: np.random.Generator) -> tuple[npt.NDArray[np.int_], npt.NDArray[np.int_]]:
    """Rows to train on, and a held-out part with the same share of each class."""
    every = np.arange(len(labels))
    if share * len(labels) < FEWEST_HELD:
        return every, every[:0]
    folds = make_folds(rng, labels, round(1 / share)) if share <= 0.5 else np.zeros(len(labels), int)
    return every[folds != 0], every[folds == 0]


def _made(factory: Factory, n_classes: int, shape: tuple[int, ...]) -> nn.Module:
    import torch

    try:
        module = factory(n_classes, shape)
    except Exception as error:
        what = f"the factory fails: {type(error).__name__}: {first_line(error)}"
        raise UsageError(what, where=factory.name, fix="It takes the number of classes and the shape of one input.") from error
    if not isinstance(module, torch.nn.Module):
        raise UsageError(f"the factory gives a {type(module).__name__}", where=factory.name, fix="It must give a torch module.")
    if any(isinstance(one, torch.nn.parameter.UninitializedParameter) for one in module.parameters()):
        module(torch.zeros(2, *shape))  # lazy layers take their shape from a first batch
    return module


@contextmanager
def _alone(device: torch.device, seed: int, threads: int) -> Iterator[None]:
    """Torch with its own seed and number of threads; both are as before afterwards."""
    torch = library("torch", EXTRA)
    before = torch.get_num_threads()
    own = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=own):
        torch.manual_seed(seed % MOST_SEED)
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)
