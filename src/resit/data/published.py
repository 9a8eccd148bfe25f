"""Figures of published test sets that ship with the package."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from resit.data.accuracies import Accuracies
from resit.data.models import ModelTable
from resit.errors import UsageError


@dataclass(frozen=True)
class Published:
    """Figures of many models on an original test set and on its new ones.

    Parameters
    ----------
    name : str
    original : Accuracies
    new : tuple of Accuracies
    table : ModelTable
        Family and kind of each model.
    baseline : str
        Models that the paper fits its line over.
    citation : str
        Whom to cite.
    """

    name: str
    original: Accuracies
    new: tuple[Accuracies, ...]
    table: ModelTable
    baseline: str
    citation: str


SETS = {
    "imagenetv2": ("imagenet", "imagenetv2-matched-frequency", "imagenetv2-threshold0.7"),
    "cifar10.1": ("cifar10", "cifar10.1-v4", "cifar10.1-v6"),
}
CITATIONS = {
    "imagenetv2": "Recht, B., et al. (2019). Do ImageNet Classifiers Generalize to ImageNet? arXiv:1902.10811.",
    "cifar10.1": "Recht, B., et al. (2018). Do CIFAR-10 Classifiers Generalize to CIFAR-10? arXiv:1806.00451.",
}


def published_names() -> tuple[str, ...]:
    """Names of the published figures that ship with the package."""
    return tuple(SETS)


@cache
def published(name: str) -> Published:
    """Figures of a published test set.

    Parameters
    ----------
    name : str
        One of :func:`published_names`.

    Returns
    -------
    Published

    Raises
    ------
    UsageError
        If there are no such figures.
    """
    from resit.data.accuracy_table import accuracies_of_table
    from resit.data.model_table import model_table_of
    from resit.data.tables import read_table

    if name not in SETS:
        raise UsageError(f"no published figures {name!r}", fix=f"There are {', '.join(SETS)}.")
    with resources.as_file(resources.files("resit.data") / "figures") as folder:
        figures, models = read_table(folder / f"{name}.csv"), read_table(folder / f"{name}-models.csv")
    original, *new = (
        replace(
            accuracies_of_table(figures, name=test_set, test_set=test_set, columns=None, unit=None, n=None),
            provenance={"source": f"figures that ship with resit: {CITATIONS[name]}"},
        )
        for test_set in SETS[name]
    )
    return Published(
        name,
        original,
        tuple(new),
        replace(model_table_of(models), name=f"ships with resit ({name})"),
        "kind=convnet",
        CITATIONS[name],
    )
