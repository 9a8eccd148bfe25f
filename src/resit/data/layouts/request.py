"""What is said of a test set by those who ask for it, beside its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from resit.data.classes import ClassMap


@dataclass(frozen=True)
class Request:
    """How to read a test set.

    Parameters
    ----------
    name : str, optional
        Its name. Default: that of the folder or file.
    classes : ClassMap, optional
        The class list. Default: what the layout says of its classes.
    labels : path, array or list, optional
        Labels that are taken instead of those in the layout: whatever :func:`resit.data.labels.read_labels` reads, or a
        ``.txt`` file with a line an image. They are joined by id where both have ids, else by position.
    layout : str, optional
        One of :data:`resit.data.layouts.LAYOUTS`. Default: told by what is there.
    image_column, label_column, id_column : str, optional
        Columns of a table. Default: told by their types and names.
    channels : {'first', 'last'}, optional
        Where the channels of an array are. Default: last, and an array in which they may be first is refused.
    version : str
        Version of the test set.
    """

    name: str | None = None
    classes: ClassMap | None = None
    labels: object = None
    layout: str | None = None
    image_column: str | None = None
    label_column: str | None = None
    id_column: str | None = None
    channels: Literal["first", "last"] | None = None
    version: str = ""
