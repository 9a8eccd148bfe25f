"""One is said in the singular."""

from __future__ import annotations

import pytest

from resit.data.paths import counted


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (1, ("model",), "1 model"),
        (0, ("model",), "0 models"),
        (1200, ("model",), "1,200 models"),
        (1, ("image has", "images have"), "1 image has"),
        (2, ("image has", "images have"), "2 images have"),
    ],
)
def test_one_is_said_in_the_singular(number: int, words: tuple[str, ...], said: str):
    assert counted(number, *words) == said
