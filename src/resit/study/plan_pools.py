"""True frequencies of originals and candidates: given, fitted to the votes of a build, or those that plans assume."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from resit.data.accuracies import Accuracies
from resit.errors import UsageError
from resit.stats.beta_binomial import BetaMixture
from resit.study.plan_result import Pools
from resit.study.settings import Data

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.build.steps.pool import Pool

Betas = Sequence[Sequence[float]]
Curve = tuple[tuple[float, float], ...]
ASSUMED = Pools(
    ((2.8, 1.15, 1.0),),
    ((1.2, 1.2, 1.0),),
    "assumed: originals with ImageNet's mean frequency of 0.71, candidates spread over all frequencies",
)
# CIFAR-10H (Peterson et al. 2019) and the 30 models of Recht et al. (2018); below 0.3 the line goes on.
CIFAR: Curve = ((0.0, 0.44), (0.3, 0.587), (0.5, 0.686), (0.7, 0.777), (0.85, 0.823), (0.95, 0.935), (1.0, 0.969))
CIFAR_SOURCE = "that of 30 models on CIFAR-10 by CIFAR-10H's votes"
GRID = 21


def pools_of(original: Betas | None, candidates: Betas | None, build: str | os.PathLike[str] | None) -> Pools:
    """Pools as they are given, as a build's votes have them, or as assumed; what is given goes before the others.

    Parameters
    ----------
    original, candidates : sequence of (a, b) or (a, b, weight), optional
    build : path, optional
        Folder of a build with votes.

    Returns
    -------
    Pools

    Raises
    ------
    UsageError
        If betas cannot be, or the build lacks votes.
    """
    known = ASSUMED if build is None else _fitted(build)
    given = [None if betas is None else checked(betas, option) for betas, option in _named(original, candidates)]
    source = {(False, False): known.source, (True, True): "given"}.get(
        (given[0] is not None, given[1] is not None), f"given; the other {known.source}"
    )
    return Pools(given[0] or known.original, given[1] or known.candidates, source)


def _named(original: Betas | None, candidates: Betas | None) -> tuple[tuple[Betas | None, str], ...]:
    return (original, "--original-beta"), (candidates, "--candidates-beta")


def checked(betas: Betas, option: str) -> tuple[tuple[float, float, float], ...]:
    """Betas with their weights, which sum to 1.

    Raises
    ------
    UsageError
        If there is none, or a number is not above 0.
    """
    rows = [tuple(float(value) for value in row) for row in betas]
    if not rows or any(len(row) not in (2, 3) or not all(0 < value < np.inf for value in row) for row in rows):
        raise UsageError("a beta has two shapes and a weight, all above 0", where=option, fix="Write 2.8,1.15 or 2,1,0.5")
    weights = [row[2] if len(row) == 3 else 1.0 for row in rows]
    return tuple((row[0], row[1], weight / sum(weights)) for row, weight in zip(rows, weights, strict=True))


def mixture(betas: tuple[tuple[float, float, float], ...]) -> BetaMixture:
    """Betas as the statistics take them."""
    a, b, weight = np.array(betas, float).T
    return BetaMixture(a, b, weight, float("nan"))


def _fitted(build: str | os.PathLike[str]) -> Pools:
    from resit.build.steps.opened import open_build
    from resit.build.steps.pool import read_pool

    with open_build(os.fspath(build)) as opened:
        pool = read_pool(opened)
        originals, candidates = (_fit(_voted(pool, role), role, build) for role in ("original", "candidate"))
    return Pools(originals, candidates, f"fitted to the votes of {os.fspath(build)}")


def _voted(pool: Pool, role: str) -> pa.Table:
    import pyarrow.compute as pc

    from resit.build.eligibility import voted

    rows = voted(pool.images, pool.counts, role)
    return rows.filter(pc.greater(rows["shown"], 0))


def _fit(rows: pa.Table, role: str, build: str | os.PathLike[str]) -> tuple[tuple[float, float, float], ...]:
    from resit.stats.beta_binomial import patterns
    from resit.stats.beta_mixture import fit_mixture

    if not len(rows):
        fix = "Collect votes first, or give the betas."
        raise UsageError(f"no {role} has votes yet", where=os.fspath(build), fix=fix)
    found = fit_mixture(patterns(rows["selected"].to_numpy(), rows["shown"].to_numpy())).mixture
    return tuple(zip(found.a.tolist(), found.b.tolist(), found.weight.tolist(), strict=True))


def curve_of_build(build: str | os.PathLike[str], predictions: Data, pools: Pools) -> tuple[Curve, str]:
    """Accuracy by true frequency of models that were asked about the original of a build.

    Parameters
    ----------
    build : path
    predictions : Predictions
        On the whole original.
    pools : Pools
        Whose originals the frequencies are of.

    Returns
    -------
    curve : tuple of (float, float)
        Between 0 and 1, nowhere falling.
    source : str

    Raises
    ------
    UsageError
        If only figures of the models are known.
    """
    from resit.build.keys import rows_in
    from resit.build.steps.opened import open_build
    from resit.build.steps.pool import read_pool
    from resit.build.steps.sample import correct_share
    from resit.stats.beta_binomial import cell_middles, patterns
    from resit.stats.frequency_curve import curves

    if isinstance(predictions, Accuracies):
        raise UsageError("figures only, and no answers", where=predictions.name, fix="Give the models' answers, or --curve.")
    with open_build(os.fspath(build)) as opened:
        pool = read_pool(opened)
        rows, share = _voted(pool, "original"), correct_share(pool, predictions)
    correct = np.asarray(share["correct"], float)[rows_in(rows, share)]
    counts = patterns(rows["selected"].to_numpy(), rows["shown"].to_numpy())
    images = counts.weights()
    posterior = mixture(pools.original).posterior(counts.selected, counts.shown)
    fitted = curves(posterior, images, counts.weights(correct)[None] / images)
    grid = np.linspace(0, 1, GRID)
    points = zip(grid.round(3).tolist(), np.interp(grid, cell_middles(), fitted[0]).tolist(), strict=True)
    return tuple(points), f"that of {len(predictions.models):,} models on {predictions.name} by the votes of the build"
