"""What is true of the images of a simulated build, and nobody in it knows: classes, clarity, what was planted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.keys import among, firsts, rows_in
from resit.data.paths import short_list
from resit.errors import InputError
from resit.simulate.clarity import CIFAR_10H, clarity, confidence
from resit.simulate.labelled import Labelled
from resit.simulate.planted import Planted
from resit.store.schemas import table

if TYPE_CHECKING:
    import pyarrow as pa

WRONG_LABEL, NEAR_DUPLICATE = "wrong-label", "near-duplicate"
TRUTH = {
    "image": "string",  # digest of the image's bytes
    "class_id": "string",  # the class that it is an original or a candidate of
    "role": "string",  # original or candidate
    "true_class": "string",
    "clarity": "double",  # probability that a good annotator selects it for class_id
    "planted": "string",  # wrong-label, near-duplicate, or empty
    "change": "string",  # what made it a near-duplicate
    "twin": "string",  # the image that it is a near-duplicate of
}
SIZE = 16  # pixels a side that clarity is estimated at
Array = npt.NDArray[np.float64]


def truth_of(
    original: Labelled, planted: Planted, *, shapes: tuple[float, float] = CIFAR_10H, size: int = SIZE, seed: int = 0
) -> pa.Table:
    """The truth of all originals and candidates.

    All are ranked together, by a classifier that is cross-fitted to their true classes. A copy is as clear as its twin where
    that is an original or a candidate. An image with a wrong label is selected for it as often as for its true class where it
    is tempting, else as often as for any other class.

    Parameters
    ----------
    original : Labelled
    planted : Planted
    shapes : (float, float), optional
        Of the beta distribution of clarity, see :func:`resit.simulate.clarity.clarity`.
    size : int, optional
        Pixels a side that the classifier sees.
    seed : int, optional
        Of the folds.

    Returns
    -------
    pyarrow.Table
        TRUTH, ordered by role, class and image; of images with the same bytes and class the first.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    candidates, n = planted.candidates, len(original)
    ids = [*original.digests, *candidates.digests]
    true = np.concatenate([original.labels, planted.true_labels])
    pixels = np.concatenate([original.pixels(size), candidates.pixels(size)])
    clear = clarity(confidence(pixels, true, seed=seed), ids, shapes=shapes)
    row_of = {image: row for row, image in reversed(list(enumerate(ids)))}
    clear = clear[[row_of.get(twin, row) for row, twin in enumerate(("",) * n + planted.twins)]]
    unbelieved = np.concatenate([np.zeros(n, bool), planted.wrong & ~planted.tempting])
    clear[unbelieved] = for_another(clear[unbelieved], len(original.classes))
    kinds = np.select([planted.wrong, np.array(planted.twins, object) != ""], [WRONG_LABEL, NEAR_DUPLICATE], "")
    columns: dict[str, object] = {
        "image": ids,
        "class_id": [*original.class_ids, *candidates.class_ids],
        "role": ["original"] * n + ["candidate"] * len(candidates),
        "true_class": [original.classes[label].id for label in true.tolist()],
        "clarity": clear,
        "planted": [""] * n + kinds.tolist(),
        "change": [""] * n + list(planted.changes),
        "twin": [""] * n + list(planted.twins),
    }
    found = table(TRUTH, columns)
    found = found.filter(pa.array(firsts(found, ("image", "class_id", "role"))))
    order = [("role", "descending"), ("class_id", "ascending"), ("image", "ascending")]
    return found.take(pc.sort_indices(found, order))


def for_another(clear: npt.ArrayLike, n_classes: int) -> Array:
    """Probability that a good annotator selects an image for one of the classes that it is not of."""
    return np.asarray((1 - np.asarray(clear, float)) / max(n_classes - 1, 1), float)


def seen_as(rows: pa.Table, truth: pa.Table) -> Array:
    """Probability that a good annotator selects each image for the class that is asked about.

    Parameters
    ----------
    rows : pyarrow.Table
        Columns image and class_id.
    truth : pyarrow.Table
        TRUTH.

    Returns
    -------
    ndarray of float, shape (rows,)

    Raises
    ------
    InputError
        If the truth of an image is not known.
    """
    import pyarrow.compute as pc

    refuse_unknown(rows, truth)
    clear = np.asarray(truth["clarity"], float)
    own, image = rows_in(rows, truth), rows_in(rows, truth, ("image",))
    return np.where(own >= 0, clear[own], for_another(clear[image], len(pc.unique(truth["class_id"]))))


def refuse_unknown(rows: pa.Table, truth: pa.Table) -> None:
    """Refuse images whose truth is not known.

    Raises
    ------
    InputError
        If there is one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    known = among(rows, truth, ("image",))
    if not known.all():
        strange = sorted(pc.unique(rows["image"].filter(pa.array(~known))).to_pylist())
        what = f"{len(strange):,} images of which nothing is known: {short_list(strange, 3)}"
        raise InputError(what, where="simulation", fix="Is it the truth of another build?")
