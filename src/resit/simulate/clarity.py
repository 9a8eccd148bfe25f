"""How clear each image is: the probability that a good annotator selects it for its class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.models.library import library
from resit.simulate.labelled import Floats, Ints

Array = npt.NDArray[np.float64]
# Shapes of the beta distribution of the true label's frequency in CIFAR-10H (10,000 images, 47 to 63 votes each; Peterson et
# al., 2019), by maximum likelihood of the beta-binomial: `resit.stats.beta_mixture.fit_mixture` with one component.
CIFAR_10H = (6.0335, 0.3215)
FOLDS = 5
COMPONENTS = 40


def confidence(pixels: Floats, labels: Ints, *, seed: int = 0) -> Array:
    """How sure a classifier that never saw an image is of its class.

    A cross-fitted logistic regression on principal components.

    Parameters
    ----------
    pixels : ndarray of float, shape (n, d)
    labels : ndarray of int, shape (n,)
        Places in the list of classes; each class with at least two images.
    seed : int, optional
        Of the folds.

    Returns
    -------
    ndarray of float, shape (n,)
        Probability of the image's class, out of fold.

    Raises
    ------
    UsageError
        If a class has fewer than two images, or scikit-learn is missing.
    """
    library("sklearn", "sklearn")
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classes, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if len(classes) < 2 or sizes.min() < 2:
        raise UsageError("fewer than two images of a class, or one class", where="clarity", fix="Give more images.")
    folds = StratifiedKFold(min(FOLDS, int(sizes.min())), shuffle=True, random_state=seed)
    found = np.empty(len(labels))
    for known, unseen in folds.split(pixels, codes):
        parts = min(COMPONENTS, len(known) - 1, pixels.shape[1])
        model = make_pipeline(PCA(parts, random_state=seed), StandardScaler(), LogisticRegression(max_iter=2_000))
        model.fit(pixels[known], codes[known])
        found[unseen] = model.predict_proba(pixels[unseen])[np.arange(len(unseen)), codes[unseen]]
    return found


def clarity(sure: npt.ArrayLike, ids: Sequence[str], *, shapes: tuple[float, float] = CIFAR_10H) -> Array:
    """Clarity of images by the rank of a classifier's confidence: quantile (r − ½) / n of a beta distribution.

    Parameters
    ----------
    sure : array_like of float, shape (n,)
        Confidence; only its ranks matter.
    ids : sequence of str, length n
        Images with equal confidence are ranked by id.
    shapes : (float, float), optional
        Of the beta distribution. Default: as clear as CIFAR-10's test images are to the people of CIFAR-10H.

    Returns
    -------
    ndarray of float, shape (n,)
        From 0 to 1; its mean is that of the distribution.

    Raises
    ------
    UsageError
        If lengths differ, or a shape is not above 0.
    """
    from scipy.special import betaincinv

    values = np.asarray(sure, float)
    if len(values) != len(ids) or min(shapes) <= 0:
        what = f"{len(values)} confidences for {len(ids)} images, shapes {shapes}"
        raise UsageError(what, where="clarity", fix="Give one confidence for each image, and shapes above 0.")
    order = np.lexsort((np.array(list(ids), str), values))
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.arange(len(values))
    return np.asarray(betaincinv(*shapes, (ranks + 0.5) / max(len(values), 1)), float)
