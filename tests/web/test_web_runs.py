"""What reviewers are told of what models said of an image."""

from __future__ import annotations

import numpy as np
import pytest

from extras import needs
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.models import ModelId
from resit.data.predictions import Predictions

needs("sqlalchemy")

CLASSES = ("auk", "cat", "deer", "dog", "ship")


def told(*said: str) -> str:
    """What is told where each model says one class of an image of a cat."""
    from resit.web.runs import Run, Runs

    classes = tuple(ClassInfo(key, key) for key in CLASSES)
    benchmark = Benchmark("pets", np.array([[CLASSES.index("cat")]], np.int32), ids=np.array(["one"]), classes=classes)
    answers = np.array([[[CLASSES.index(one)]] for one in said], np.int16)
    models = tuple(ModelId(f"model {at}", "") for at in range(len(said)))
    right = np.array([[one == "cat"] for one in said])
    return Runs((Run(Predictions(benchmark, models, answers), right, {"one": 0}),)).told("one")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["cat"], "1 of 1 model right; all say cat"),
        (["dog", "dog", "cat"], "1 of 3 models right; most say dog"),
        (["cat", "dog", "deer"], "1 of 3 models right; they say cat (1), deer (1), dog (1)"),
        (["dog", "dog", "cat", "cat"], "2 of 4 models right; they say cat (2), dog (2)"),
        (["ship", "ship", "cat", "deer", "dog"], "1 of 5 models right; they say ship (2), cat (1), deer (1) and 1 other class"),
        (
            ["auk", "cat", "deer", "dog", "ship"],
            "1 of 5 models right; they say auk (1), cat (1), deer (1) and 2 other classes",
        ),
    ],
)
def test_most_is_more_than_half(said: list[str], words: str):
    assert told(*said) == words
