"""Models that may be the same under two names."""

from __future__ import annotations

import re
from collections.abc import Iterable

FILLER = re.compile(r"model|predictions?|preds?|outputs?|results?|logits|[^a-z0-9]")


def suggest_aliases(original_only: Iterable[str], new_only: Iterable[str]) -> tuple[str, ...]:
    """Pairs that look like one model, as values of ``--alias``: ``fv_64k_model=fv_64k`` renames the first to the second.

    Two names look alike where they only differ in case, in punctuation, or in words such as "model". Where more than one
    name could be meant there is no suggestion. Nothing is renamed: only the user knows.

    Parameters
    ----------
    original_only, new_only : iterable of str
        Models that are on one of two test sets only.

    Returns
    -------
    tuple of str
        ``NAME ON THE NEW SET=NAME ON THE ORIGINAL``, sorted.
    """
    originals, news = _by_core(original_only), _by_core(new_only)
    shared = originals.keys() & news.keys()
    return tuple(
        sorted(f"{news[core][0]}={originals[core][0]}" for core in shared if len(news[core]) == len(originals[core]) == 1)
    )


def _by_core(names: Iterable[str]) -> dict[str, list[str]]:
    cores: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        lower = name.lower()
        cores.setdefault(FILLER.sub("", lower) or lower, []).append(name)
    return cores
