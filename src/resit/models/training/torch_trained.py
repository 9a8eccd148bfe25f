"""A trained torch module, and the scale of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.models.training.protocol import Inputs, Scores

if TYPE_CHECKING:
    import torch
    from torch import nn

ROWS = 1_024  # scored at once


@dataclass(frozen=True)
class Scale:
    """Mean and spread by channel (of images) or by feature, of the training examples; a constant one is only centred.

    Parameters
    ----------
    mean, spread : ndarray of float32, shape (channels,) or (d,)
    shape : tuple of int
        Of one input of the module: (channels, h, w) of images.
    """

    mean: npt.NDArray[np.float32]
    spread: npt.NDArray[np.float32]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, inputs: Inputs, rows: npt.NDArray[np.int_]) -> Scale:
        """Scale of some rows of images, shape (n, h, w, c), or features, shape (n, d)."""
        axes = (0, 1, 2) if inputs.ndim == 4 else (0,)
        total, squares, count = 0.0, 0.0, 0
        for start in range(0, len(rows), ROWS):
            part = inputs[rows[start : start + ROWS]].astype(np.float64)
            total, squares = total + part.sum(axes), squares + (part**2).sum(axes)
            count += part[..., 0].size if inputs.ndim == 4 else len(part)
        mean = np.asarray(total) / count
        spread = np.sqrt(np.maximum(np.asarray(squares) / count - mean**2, 0))
        spread[spread <= 1e-6 * np.maximum(1, np.abs(mean))] = 1
        h_w_c = inputs.shape[1:]
        shape = (h_w_c[2], h_w_c[0], h_w_c[1]) if inputs.ndim == 4 else h_w_c
        return cls(mean.astype(np.float32), spread.astype(np.float32), shape)


@dataclass(frozen=True)
class TorchTrained:
    """A module with the scale of its inputs."""

    module: nn.Module
    scale: Scale
    device: torch.device
    n_classes: int
    half: bool

    def forward(self, batch: Inputs) -> torch.Tensor:
        """Scores of a batch as a tensor, shape (b, n_classes)."""
        import torch

        tensor = torch.from_numpy(np.ascontiguousarray(batch)).to(self.device).float()
        mean, spread = (torch.from_numpy(one).to(self.device) for one in (self.scale.mean, self.scale.spread))
        tensor = (tensor - mean) / spread
        if tensor.ndim == 4:
            tensor = tensor.permute(0, 3, 1, 2)  # the memory keeps its order: channels last
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            found: torch.Tensor = self.module(tensor)
        if found.shape != (len(batch), self.n_classes):
            what = f"the module gives scores of shape {tuple(found.shape)}"
            raise UsageError(what, where="training", fix=f"It must give {(len(batch), self.n_classes)}.")
        return found.float()

    def scores(self, inputs: Inputs) -> Scores:
        """Scores of each class, shape (n, n_classes)."""
        import torch

        self.module.eval()
        scores = np.empty((len(inputs), self.n_classes), np.float32)
        with torch.no_grad():
            for start in range(0, len(inputs), ROWS):
                scores[start : start + ROWS] = self.forward(inputs[start : start + ROWS]).cpu().numpy()
        return scores
