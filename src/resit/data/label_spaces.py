"""Which set of classes the figures of a known test set are over, told by its name."""

from __future__ import annotations

import re

from resit.data.predictions import CORRECTNESS

UNNAMED = "unnamed"
IMAGENET_1K = "imagenet-1k"
# The first that fits the beginning of a name holds; names are in lower case, with a hyphen between words.
SPACES = (
    (r"imagenet-?(a|adversarial)\b", "imagenet-a (200 of imagenet-1k)"),
    (r"imagenet-?(r|renditions?)\b", "imagenet-r (200 of imagenet-1k)"),
    (r"imagenet-?100\b", "imagenet-100 (100 of imagenet-1k)"),
    (r"imagenet-?(o|vid|12k|21k|22k|full|tiny)\b", UNNAMED),
    (r"(imagenet|ilsvrc)(-?(1k|2012|v2|sketch|real|c|x))?\b", IMAGENET_1K),
    (r"objectnet\b", "objectnet (113 of imagenet-1k)"),
    (r"cifar-?10(?!\d)", "10 classes"),
    (r"cifar-?100(?!\d)", "100 classes"),
)


def label_space_of(*names: str | None) -> str:
    """Label space of a known test set.

    Parameters
    ----------
    *names : str or None
        Names of the set, the surest first, such as ``imagenet-a`` or ``ImageNetV2 (MF)``.

    Returns
    -------
    str
        Space of the first name that is known, else ``unnamed``.

    Notes
    -----
    ImageNet-A and ImageNet-R each have 200 of the 1,000 classes, and not the same ones [1]_ [2]_; ObjectNet shares 113 with
    ImageNet [3]_. Of CIFAR-10 only the number of classes is said, as answers without a class list tell no more.

    References
    ----------
    .. [1] Hendrycks, D., et al. (2021). Natural Adversarial Examples. arXiv:1907.07174.
    .. [2] Hendrycks, D., et al. (2021). The Many Faces of Robustness. arXiv:2006.16241.
    .. [3] Barbu, A., et al. (2019). ObjectNet. NeurIPS 32.
    """
    words = (re.sub(r"[\W_]+", "-", name.lower()).strip("-") for name in names if name)
    found = (next((space for start, space in SPACES if re.match(start, word)), UNNAMED) for word in words)
    return next((space for space in found if space != UNNAMED), UNNAMED)


def differ(first: str, second: str) -> bool:
    """Whether two label spaces surely differ.

    A space without a name may be any, right or wrong alone says nothing of classes, and a bare number of classes, such as
    ``10 classes``, counts ids that were seen: there may be more.
    """
    told = {space for space in (first, second) if not (space in (UNNAMED, CORRECTNESS) or re.fullmatch(r"\d+ classes", space))}
    return len(told) == 2
