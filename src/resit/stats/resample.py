"""Resampling: models, families of models, and examples within strata. Every function is given its generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Job = TypeVar("Job")
Done = TypeVar("Done")
CHUNK_CELLS = 2_000_000
WORKERS = 4
MOST_BY_FLOAT32 = 4_096


def generator(seed: int, *purpose: int) -> np.random.Generator:
    """Generator for one purpose under a seed, independent of the generators of other purposes."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=purpose))


def draw_counts(rng: np.random.Generator, resamples: int, size: int) -> npt.NDArray[np.int64]:
    """How often each of ``size`` things is drawn when as many are drawn with replacement.

    Parameters
    ----------
    rng : numpy.random.Generator
    resamples : int
        Number of resamples B.
    size : int
        Number of things M.

    Returns
    -------
    ndarray of int, shape (B, M)
        Each row sums to M.
    """
    drawn = rng.integers(size, size=(resamples, size), dtype=np.int32).astype(np.int64)
    drawn += np.arange(resamples)[:, None] * size
    return np.bincount(drawn.ravel(), minlength=resamples * size).reshape(resamples, size)


def draw_family_counts(rng: np.random.Generator, resamples: int, families: npt.NDArray[np.int_]) -> npt.NDArray[np.int64]:
    """How often each model counts when whole families are drawn with replacement.

    Parameters
    ----------
    rng : numpy.random.Generator
    resamples : int
        Number of resamples B.
    families : ndarray of int, shape (M,)
        Family of each model, numbered from 0.

    Returns
    -------
    ndarray of int, shape (B, M)
    """
    return draw_counts(rng, resamples, int(families.max()) + 1)[:, families]


def chunks(rng: np.random.Generator, resamples: int, width: int) -> list[tuple[np.random.Generator, int]]:
    """Pieces in which resamples are drawn, each with its own generator: bounded memory, the same draws on any number of cores.

    Parameters
    ----------
    rng : numpy.random.Generator
        Its children are handed out.
    resamples : int
        Number of resamples B.
    width : int
        Cells of memory that one resample takes.

    Returns
    -------
    list of (numpy.random.Generator, int)
        Generator and number of resamples of each piece.
    """
    step = max(1, CHUNK_CELLS // max(1, width))
    sizes = [min(step, resamples - start) for start in range(0, resamples, step)]
    return list(zip(rng.spawn(len(sizes)), sizes, strict=True))


def in_parallel(function: Callable[[Job], Done], jobs: Sequence[Job]) -> list[Done]:
    """Results of a function for each job, in order, in a few threads (NumPy releases the interpreter's lock)."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(function, jobs))


def resample_examples(
    rng: np.random.Generator,
    scores: npt.NDArray[np.floating],
    resamples: int,
    strata: npt.NDArray[np.int_] | None = None,
) -> Array:
    """Sums of scores over examples drawn with replacement, within strata.

    Parameters
    ----------
    rng : numpy.random.Generator
    scores : ndarray of float, shape (n, R)
        A column for each statistic; 0/1 in float32 is summed exactly up to 2**24 examples.
    resamples : int
        Number of resamples B.
    strata : ndarray of int, shape (n,), optional
        Stratum of each example, numbered from 0; each keeps its size. Default: one stratum.

    Returns
    -------
    ndarray of float, shape (B, R)
    """
    n = len(scores)
    sizes = np.array([n]) if strata is None else np.bincount(strata)
    small = sizes.max(initial=0) <= MOST_BY_FLOAT32
    size_of: npt.NDArray[np.floating] = np.repeat(sizes, sizes).astype(np.float32 if small else np.float64)
    start_of = np.repeat(np.cumsum(sizes) - sizes, sizes)
    ordered = scores if strata is None else scores[np.argsort(strata, kind="stable")]

    def sum_chunk(job: tuple[np.random.Generator, int]) -> Array:
        counts = _count_examples(*job, size_of, start_of).astype(scores.dtype)
        return np.asarray(counts @ ordered, np.float64)

    sums = in_parallel(sum_chunk, chunks(rng, resamples, n))
    return np.concatenate(sums) if sums else np.empty((0, scores.shape[1]))


def _count_examples(
    rng: np.random.Generator, rows: int, size_of: npt.NDArray[np.floating], start_of: npt.NDArray[np.int_]
) -> npt.NDArray[np.int64]:
    n = len(size_of)
    drawn = np.asarray(rng.random((rows, n), dtype=size_of.dtype.type))
    drawn *= size_of  # below the size even after rounding: u <= 1 - eps / 2
    index = drawn.astype(np.int64)
    index += start_of
    index += (np.arange(rows) * n)[:, None]
    return np.bincount(index.ravel(), minlength=rows * n).reshape(rows, n)
