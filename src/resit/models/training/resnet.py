"""A small residual network for small images (He et al. 2016, §4.2), which trains on 2 CPU cores in minutes.

The default is a network of 8 layers with weights on its longest way: a 4×4 convolution with stride 2, then one block of two 3×3
convolutions at each of three resolutions with 32, 64 and 128 channels. `RESNET_18` is the network of 18 layers, for a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from resit.errors import UsageError
from resit.models.library import library
from resit.models.torch_model import EXTRA
from resit.models.training.protocol import digest
from resit.models.training.torch_module import TorchSettings

if TYPE_CHECKING:
    from torch import nn

MEASURED = (2_000.0, 24e6)  # images a second on 2 cores, for so many multiplications an image


@dataclass(frozen=True)
class ResNet:
    """A residual network: a first convolution, groups of blocks of which each halves the resolution, a mean, a linear layer.

    Parameters
    ----------
    widths : tuple of int
        Channels of each group.
    blocks : tuple of int
        Blocks of each group.
    stem : int
        Stride of the first convolution: 1 (3×3) or 2 (4×4, four times faster).

    Raises
    ------
    UsageError
        If the numbers do not fit together.
    """

    widths: tuple[int, ...] = (32, 64, 128)
    blocks: tuple[int, ...] = (1, 1, 1)
    stem: int = 2

    def __post_init__(self) -> None:
        sizes = (*self.widths, *self.blocks)
        if len(self.widths) != len(self.blocks) or not sizes or min(sizes) < 1 or self.stem not in (1, 2):
            raise UsageError(f"no such network: {self}", where="resnet", fix="Give a width and a number of blocks a group.")

    @property
    def name(self) -> str:
        """For people: the number of layers with weights."""
        return f"residual network of {2 + 2 * sum(self.blocks)} layers"

    @property
    def fingerprint(self) -> str:
        """Digest of the architecture."""
        return digest("resnet 1", self.widths, self.blocks, self.stem)

    @property
    def images_per_second(self) -> float:
        """Roughly, of 32×32 pixels, on 2 cores."""
        speed, at = MEASURED
        side = 32 // self.stem
        work = 0.0
        for group, (width, blocks) in enumerate(zip(self.widths, self.blocks, strict=True)):
            work += blocks * 18 * width**2 * (side / 2**group) ** 2
        return speed * at / work

    def __call__(self, n_classes: int, shape: tuple[int, ...]) -> nn.Module:
        """The untrained network for images of shape (channels, h, w)."""
        library("torch", EXTRA)
        from torch import nn

        if len(shape) != 3:
            raise UsageError(f"inputs of shape {shape}", where=self.name, fix="It takes images; use a linear head on features.")
        first = self.widths[0]
        stem = (4, 2, 1) if self.stem == 2 else (3, 1, 1)
        layers = [nn.Conv2d(shape[0], first, *stem, bias=False), nn.BatchNorm2d(first), nn.ReLU()]
        for group, (before, width) in enumerate(pairwise((first, *self.widths))):
            for place in range(self.blocks[group]):
                stride = 2 if group and not place else 1
                layers.append(_block(before if not place else width, width, stride))
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(self.widths[-1], n_classes))


RESNET_18 = ResNet((64, 128, 256, 512), (2, 2, 2, 2), 1)
ON_GPU = TorchSettings(epochs=30, device="auto", half=True)


def _block(before: int, width: int, stride: int) -> nn.Module:
    from torch import nn

    class Block(nn.Module):  # type: ignore[misc]
        """Two convolutions, and what went in."""

        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(before, width, 3, stride, 1, bias=False)
            self.norm_1 = nn.BatchNorm2d(width)
            self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.norm_2 = nn.BatchNorm2d(width)
            same = before == width and stride == 1
            narrow = nn.Conv2d(before, width, 1, stride, bias=False)
            self.past = nn.Identity() if same else nn.Sequential(narrow, nn.BatchNorm2d(width))

        def forward(self, x: object) -> object:
            y = nn.functional.relu(self.norm_1(self.first(x)))
            return nn.functional.relu(self.norm_2(self.second(y)) + self.past(x))

    return Block()
