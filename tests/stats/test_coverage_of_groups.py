"""Coverage of the intervals of disparity and of a named pair, with known truth on the sizes of real geographic sets."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from resit.data.labels import read_labels
from resit.stats import clusters as clustered
from resit.stats import disparity

pytestmark = pytest.mark.slow

TRUTHS = {
    "apart": [0.55, 0.66, 0.64, 0.72, 0.65, 0.63],
    "two apart": [0.60, 0.60, 0.60, 0.70, 0.60, 0.60],
    "all alike": [0.70] * 6,
    "near the ceiling": [0.97, 0.98, 0.975, 0.99, 0.985, 0.98],
}


def sizes(path: Path, column: str, least: int = 0) -> np.ndarray:
    with path.open(encoding="utf-8-sig", newline="") as file:
        counts = np.unique([line[column] for line in csv.DictReader(file)], return_counts=True)[1]
    return counts[counts >= least]


def covered(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] - 1e-12 <= truth <= interval[1] + 1e-12


@pytest.mark.parametrize("truth", list(TRUTHS))
def test_disparity_and_pair_cover_on_geode(shared_data: Path, truth: str):
    n = sizes(shared_data / "geography" / "geode_metadata.csv", "region")
    p, rng, runs = np.array(TRUTHS[truth]), np.random.default_rng(0), 4_000
    assert sorted(n.tolist()) == [1459, 1586, 1611, 1743, 1885, 2049]
    hits = np.zeros(3)
    for _ in range(runs):
        correct = rng.binomial(n, p)
        found = disparity.by_counts(correct, n)
        pair = disparity.by_counts(correct[[3, 0]], n[[3, 0]])
        hits += (
            covered(found.largest(), np.ptp(p)),
            pair.low[0, 1] <= p[3] - p[0] <= pair.high[0, 1],
            covered(found.largest_ratio(), np.ptp(p) / p.max()),
        )
    largest, pair_hits, ratio = hits / runs
    print(f"geode, {truth}: disparity {largest:.4f}, pair {pair_hits:.4f}, normalised {ratio:.4f}")
    assert largest >= 0.94
    assert ratio >= 0.94
    assert 0.94 <= pair_hits <= 0.97


def test_disparity_covers_over_countries_of_very_different_sizes(shared_data: Path):
    n = sizes(shared_data / "geography" / "geode_metadata.csv", "ip_country", 30)
    rng, runs = np.random.default_rng(1), 2_000
    p = rng.uniform(0.5, 0.8, len(n))
    hits = sum(covered(disparity.by_counts(rng.binomial(n, p), n).largest(), np.ptp(p)) for _ in range(runs))
    print(f"{len(n)} countries: {hits / runs:.4f}")
    assert hits / runs >= 0.94


def simulate(rng: np.random.Generator, home: np.ndarray, chance: np.ndarray, spread: float) -> np.ndarray:
    """Right or wrong of each example, its household shifting the chance up or down by ``spread``."""
    shift = spread * (2 * rng.integers(2, size=home.max() + 1) - 1)
    return rng.random(len(home)) < chance + shift[home]


@pytest.mark.parametrize("accuracies", [[0.5, 0.6, 0.65, 0.7], [0.6] * 4])
def test_disparity_and_pair_cover_with_households_of_dollar_street(shared_data: Path, accuracies: Sequence[float]):
    sheet = read_labels(shared_data / "geography" / "dollarstreet_metadata.csv")
    home = np.unique(sheet.groups["household"], return_inverse=True)[1]
    region = np.unique(sheet.groups["region"], return_inverse=True)[1]
    counted = clustered.make_clusters(home, region, 4)
    p, rng, runs = np.array(accuracies), np.random.default_rng(2), 600
    hits = np.zeros(3)
    for _ in range(runs):
        correct = counted.count_right(simulate(rng, home, p[region], 0.15))
        drawn = clustered.redraw_clusters(rng, counted, correct, 600)
        pair = clustered.by_clusters(drawn.take(np.array([3, 0]))[0])
        naive = disparity.by_counts(correct.sum(axis=0)[[3, 0]], counted.n.sum(axis=0)[[3, 0]])
        hits += (
            covered(clustered.by_clusters(drawn).largest(), np.ptp(p)),
            pair.low[0, 1] <= p[3] - p[0] <= pair.high[0, 1],
            naive.low[0, 1] <= p[3] - p[0] <= naive.high[0, 1],
        )
    largest, pair_hits, without = hits / runs
    print(f"households: disparity {largest:.3f}, pair {pair_hits:.3f}, pair without clusters {without:.3f}")
    assert largest >= 0.92
    assert 0.92 <= pair_hits <= 0.98
    assert without < 0.85


def test_null_has_its_size(shared_data: Path):
    """Where no group differs, a p-value is at most 0.05 one time in twenty."""
    n = sizes(shared_data / "geography" / "geode_metadata.csv", "region")
    rng, p = np.random.default_rng(3), []
    for _ in range(600):
        correct = rng.binomial(n, 0.7)
        null = disparity.null_of_examples(rng, int(correct.sum()), n, 400, lambda a: disparity.largest_difference(a)[:, None])
        p.append(disparity.p_value(null[:, 0], float(disparity.largest_difference(correct / n))))
    print(f"null: p at most 0.05 in {np.mean(np.array(p) <= 0.05):.3f}")
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.025)
