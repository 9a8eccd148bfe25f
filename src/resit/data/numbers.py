"""Numbers as people write them: "1,014.45", "+6", "76.1%", with how many digits were printed."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MISSING = {"", "-", "na", "n/a", "nan", "none", "null", "--"}
NUMBER = re.compile(r"[+-]?(?=\.?\d)(?:[1-9]\d{0,2}(?:,\d{3})+|\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?", re.IGNORECASE)


@dataclass(frozen=True)
class Numbers:
    """A column of numbers.

    Parameters
    ----------
    values : ndarray of float, shape (rows,)
        NaN where nothing is written.
    decimals : ndarray of int, shape (rows,)
        Digits printed after the point.
    percent_signs : int
        How many values carry a percent sign.
    """

    values: npt.NDArray[np.float64]
    decimals: npt.NDArray[np.int_]
    percent_signs: int


def parse_numbers(texts: npt.NDArray[np.str_]) -> Numbers | None:
    """Read a column of numbers, or None if a value is something else.

    Parameters
    ----------
    texts : ndarray of str, shape (rows,)

    Returns
    -------
    Numbers or None
    """
    values = np.full(len(texts), np.nan)
    decimals = np.zeros(len(texts), int)
    signs = 0
    for row, text in enumerate(texts.tolist()):
        plain = text.strip().lstrip("\ufeff").replace("\N{MINUS SIGN}", "-")
        if plain.lower() in MISSING:
            continue
        signs += plain.endswith("%")
        plain = plain.removesuffix("%").strip()
        match = NUMBER.fullmatch(plain)
        if match is None:
            return None
        values[row] = float(plain.replace(",", ""))
        if np.isinf(values[row]):
            return None
        decimals[row] = max(0, len(match[1] or "") - int(match[2] or 0))
    return Numbers(values, decimals, signs)
