"""What the columns of a table tell of a candidate: licence, author, where it came from, and anything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from resit.build.collect.found import Found
from resit.data.columns import plain

LICENCE = ("licence", "license", "rights")
AUTHOR = ("author", "creator", "photographer", "owner_name", "ownername")
URL = ("url", "image_url", "original_url")


def told(found: Found, columns: Mapping[str, str]) -> Found:
    """The candidate with what its row says of it.

    Parameters
    ----------
    found : Found
    columns : mapping of str to str
        Value by name of the column, without those of its place and label.

    Returns
    -------
    Found
        Licence, author and address by the first column that is called so; all other columns are its attributes.
    """
    named = {plain(name): name for name in reversed(list(columns))}
    chosen = [next((named[name] for name in names if name in named), "") for names in (LICENCE, AUTHOR, URL)]
    licence, author, url = (columns.get(name, "") for name in chosen)
    attributes = {name: value for name, value in columns.items() if name not in chosen}
    return replace(found, licence=licence, author=author, url=url or found.url, attributes=attributes)
