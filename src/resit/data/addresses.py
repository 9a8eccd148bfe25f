"""What the addresses of images tell: which household a picture of Dollar Street was taken in."""

from __future__ import annotations

import re
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

URL_NAMES = ("url", "image_url")
HOUSEHOLD = "household"
DOLLAR_STREET = re.compile(r"https?://static\.dollarstreet\.org/media/([^/]+)/image/.*")


def households(urls: npt.NDArray[np.str_]) -> npt.NDArray[np.str_] | None:
    """Household of each image of Dollar Street, such as ``Bangladesh 10``; None if some address is another.

    Parameters
    ----------
    urls : ndarray of str, shape (n,)

    References
    ----------
    Gaviria Rojas et al. (2022), The Dollar Street Dataset, NeurIPS 35: families are photographed in their homes.
    """
    found = [DOLLAR_STREET.fullmatch(url) for url in urls.tolist()]
    places = [unquote(match[1]) for match in found if match]
    return np.array(places, str) if places and len(places) == len(found) else None
