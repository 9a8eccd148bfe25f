"""The files of a simulated build: candidates with planted faults, and the truth about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resit.data.benchmark import ClassInfo
from resit.simulate.clarity import CIFAR_10H
from resit.simulate.labelled import save, write_labelled
from resit.simulate.parts import Parts
from resit.simulate.planted import Plants, plant
from resit.simulate.truth import truth_of

if TYPE_CHECKING:
    import pyarrow as pa

CANDIDATES, TRUTH_FILE = "candidates.parquet", "truth.parquet"


@dataclass(frozen=True)
class Pool:
    """What a simulated build starts from.

    Parameters
    ----------
    original : str
        The original test set, as :func:`resit.load_benchmark` takes it.
    references : tuple of str
        Training images.
    candidates : Path
        Candidates: a source ``parquet:PATH``.
    truth : pyarrow.Table
        TRUTH.
    classes : tuple of ClassInfo
    class_list : str or None
        Class list that the original and the references are read with.
    """

    original: str
    references: tuple[str, ...]
    candidates: Path
    truth: pa.Table
    classes: tuple[ClassInfo, ...]
    class_list: str | None

    def __str__(self) -> str:
        import pyarrow.compute as pc

        counts = {kind: pc.sum(pc.equal(self.truth["planted"], kind)).as_py() for kind in ("wrong-label", "near-duplicate")}
        pool = pc.sum(pc.equal(self.truth["role"], "candidate")).as_py()
        return (
            f"{len(self.truth) - pool:,} originals and {pool:,} candidates of {len(self.classes):,} classes, among these "
            f"{counts['wrong-label']:,} wrong labels and {counts['near-duplicate']:,} near-duplicates that were planted"
        )


def make_pool(
    parts: Parts,
    folder: str | Path,
    *,
    plants: Plants | None = None,
    shapes: tuple[float, float] = CIFAR_10H,
    seed: int = 0,
) -> Pool:
    """Plant faults among candidates, and write ``candidates.parquet`` and ``truth.parquet``.

    Parameters
    ----------
    parts : Parts
        From :func:`resit.simulate.parts.digits_parts` or :func:`resit.simulate.parts.given_parts`.
    folder : path
        Where to write.
    plants : Plants, optional
        Default: 5 % wrong labels, half of them tempting, and 5 % near-duplicates.
    shapes : (float, float), optional
        Of the beta distribution of clarity, see :func:`resit.simulate.clarity.clarity`.
    seed : int, optional

    Returns
    -------
    Pool

    Raises
    ------
    OutputError
        If the folder cannot be written.
    UsageError
        If there are too few images, or scikit-learn is missing.
    """
    planted = plant(parts.candidates, parts.original, parts.references, plants or Plants(), seed=seed)
    truth = truth_of(parts.original, planted, shapes=shapes, seed=seed)
    path = Path(folder) / CANDIDATES
    write_labelled(planted.candidates, path)
    save(truth, Path(folder) / TRUTH_FILE)
    classes = parts.original.classes
    return Pool(parts.original_source, parts.reference_sources, path, truth, classes, parts.class_list)
