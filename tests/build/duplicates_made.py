"""Pictures that are made, with near-duplicates among them, and neighbours computed one pair at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from PIL import Image

from resit.build.duplicates.pictures import Pictures
from resit.store.schemas import PAIRS, VERDICTS, table

SIDE = 32


def made(n: int, seed: int = 0) -> np.ndarray:
    """Smooth random pictures, (n, 32, 32, 3), of which some are near-copies, copies or of a single colour."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (n, 5, 5, 3))
    found = np.stack([np.asarray(Image.fromarray(one.astype(np.uint8)).resize((SIDE, SIDE))) for one in coarse]).copy()
    for place in range(1, n, 4):
        found[place] = np.roll(found[place - 1], 2, axis=1)
    for place in range(2, n, 5):
        noise = rng.integers(-4, 5, found[place].shape)
        found[place] = np.clip(found[place - 2] + noise, 0, 255)
    for place in range(3, n, 7):
        found[place] = found[place - 3]
    for place in range(6, n, 9):
        found[place] = found[place, 0, 0, 0]
    return found


def pictures(pixels: np.ndarray, ids: Sequence[str]) -> Pictures:
    """Pictures of an array."""
    return Pictures(ids, lambda start, stop: [Image.fromarray(one) for one in pixels[start:stop]])


def correlation(one: np.ndarray, two: np.ndarray) -> float:
    """1 − Pearson's correlation; pictures of a single colour are like one another, and like no other."""
    one, two = one.ravel().astype(float), two.ravel().astype(float)
    flat = [np.ptp(values) == 0 for values in (one, two)]
    return 1.0 - all(flat) if any(flat) else 1 - np.corrcoef(one, two)[0, 1]


def averaged(picture: np.ndarray) -> np.ndarray:
    return np.array([[picture[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].mean(axis=(0, 1)) for x in range(16)] for y in range(16)])


def shifted(one: np.ndarray, two: np.ndarray) -> float:
    small, middle = averaged(one), averaged(two)[1:15, 1:15]
    return min(correlation(small[y : y + 14, x : x + 14], middle) for y in range(3) for x in range(3))


def mirrored(one: np.ndarray, two: np.ndarray) -> float:
    return correlation(averaged(one)[:, ::-1], averaged(two))


def squared(one: np.ndarray, two: np.ndarray) -> float:
    return float(((one / 255 - two / 255) ** 2).sum())


def dissimilarity(one: np.ndarray, two: np.ndarray) -> float:
    from skimage.metrics import structural_similarity

    return (1 - structural_similarity(one, two, channel_axis=2, data_range=255)) / 2


SLOW = {"l2": squared, "correlation": correlation, "shifted": shifted, "mirrored": mirrored, "dssim": dissimilarity}


def all_distances(metric: str, candidates: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.array([[SLOW[metric](one, two) for two in others] for one in candidates])


def by_metric(pairs: pa.Table, neighbours: int) -> dict[tuple[str, str], list[tuple[str, str, float, int]]]:
    """Lists by metric and image: reference, other, distance and rank, in the order of ranks up to the length of a list."""
    found: dict[tuple[str, str], list[tuple[str, str, float, int]]] = {}
    for row in sorted(pairs.to_pylist(), key=lambda row: row["rank"]):
        if row["rank"] <= neighbours:
            key = (row["metric"], row["image"])
            found.setdefault(key, []).append((row["reference"], row["other"], row["distance"], row["rank"]))
    return found


def pair_rows(rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """PAIRS of some rows; what is not given is of a list of its own."""
    default = {"metric": "l2", "reference": "", "rank": 1}
    return table(PAIRS, {name: [{**default, **row}[name] for row in rows] for name in PAIRS})


def said(*verdicts: tuple[str, str, str], kind: str = "pair", class_id: str = "") -> pa.Table:
    """VERDICTS of image, other and verdict, one a minute."""
    columns = {
        "kind": [kind] * len(verdicts),
        "image": [one for one, _, _ in verdicts],
        "other": [two for _, two, _ in verdicts],
        "class_id": [class_id] * len(verdicts),
        "verdict": [verdict for _, _, verdict in verdicts],
        "person": ["p"] * len(verdicts),
        "time": [f"2026-01-31T12:{minute:02}:00Z" for minute in range(len(verdicts))],
    }
    return table(VERDICTS, columns)
