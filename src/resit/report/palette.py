"""Colours and shapes of families: Okabe and Ito's palette, and a shape for each, so that colour is never the only sign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from resit.data.paths import counted
from resit.study.result import ModelRow

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C7A00")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
REST = ("#808080", "triangle-left")
# The same hues for a dark page, each at 4.5 to 1 and more against it.
DARK = ("#4aa3e8", "#ff8a47", "#2fc99c", "#e9a3cb", "#ffc24d", "#a9dcff", "#cdb93f")
DARK_REST = "#a9aeb3"


@dataclass(frozen=True, slots=True)
class Look:
    """How the models of one series are drawn."""

    label: str
    colour: str
    dark: str
    shape: str
    n_models: int


@dataclass(frozen=True, slots=True)
class Palette:
    """The looks of a comparison's models, and which of them each model has."""

    title: str
    looks: tuple[Look, ...]
    series: dict[str, str]


def palette(models: Sequence[ModelRow]) -> Palette:
    """Give the families (else the kinds) of models a look each; the largest seven get a colour, the rest share grey.

    Parameters
    ----------
    models : sequence of ModelRow
        The models of one comparison.

    Returns
    -------
    Palette
    """
    column = next((name for name in ("family", "kind") if len({getattr(row, name) for row in models}) > 1), None)
    if column is None:
        return Palette(
            "", (Look("models", COLOURS[0], DARK[0], SHAPES[0], len(models)),), {row.key: "models" for row in models}
        )
    groups = {row.key: getattr(row, column) or f"no {column} given" for row in models}
    common = Counter(groups.values()).most_common()
    room = len(COLOURS) if len(common) > len(COLOURS) else len(common)
    named = [Look(label, COLOURS[i], DARK[i], SHAPES[i], count) for i, (label, count) in enumerate(common[:room])]
    rest = common[room:]
    if rest:
        plural = {"family": "families", "kind": "kinds"}[column]
        others = counted(len(rest), f"other {column}", f"other {plural}")
        named.append(Look(others, REST[0], DARK_REST, REST[1], sum(count for _, count in rest)))
    shown = {look.label for look in named}
    series = {key: label if label in shown else named[-1].label for key, label in groups.items()}
    return Palette(column, tuple(named), series)
