"""Digests of weights: what tells two models of one name apart."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from resit.data.guard import reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

LENGTH = 16


def state_digest(state: Mapping[str, torch.Tensor]) -> str:
    """First 16 hex digits of SHA-256 over the tensors of a state dict in their order: name, type, shape and bytes of each."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in state.items():
        whole = tensor.detach().cpu().contiguous()
        digest.update(f"{name}\0{whole.dtype}\0{tuple(whole.shape)}\0".encode())
        digest.update(whole.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:LENGTH]


def file_digest(*paths: Path) -> str:
    """First 16 hex digits of SHA-256 over the bytes of files.

    Raises
    ------
    InputError
        If one cannot be read.
    """
    digest = hashlib.sha256()
    for path in paths:
        with reading(path), path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()[:LENGTH]


def text_digest(text: str) -> str:
    """First 16 hex digits of SHA-256 over text."""
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
