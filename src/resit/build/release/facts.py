"""The numbers that the card and the datasheet of a release tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resit.build.funnel import Funnel, funnel
from resit.build.release.check import class_counts
from resit.build.release.record import Material, ReleaseSettings
from resit.build.release.tables import licences
from resit.build.review import review
from resit.errors import Notice

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Facts:
    """Numbers of one release.

    Parameters
    ----------
    images, classes : int
    fewest, most : int
        Images of the class that has fewest and most.
    candidates, votes, people, assignments : int
        Of the tables that are released.
    first_day, last_day : str
        Of the votes; empty where there are no events.
    frequency : dict of str to float
        Mean selection frequency, by set; without the sets that nobody voted on.
    pairs, pair_verdicts, reviewed : int
        Near-duplicates found, verdicts on such, and selected images that somebody looked at.
    problematic : tuple of str
        Classes noted as problematic.
    strategy : str
        How images were sampled; empty where it is not known.
    revision : int
    licences : tuple of (str, int)
        How many images have each licence.
    funnel : Funnel
    notices : tuple of Notice
    """

    images: int
    classes: int
    fewest: int
    most: int
    candidates: int
    votes: int
    people: int
    assignments: int
    first_day: str
    last_day: str
    frequency: dict[str, float]
    pairs: int
    pair_verdicts: int
    reviewed: int
    problematic: tuple[str, ...]
    strategy: str
    revision: int
    licences: tuple[tuple[str, int], ...]
    funnel: Funnel
    notices: tuple[Notice, ...]


def facts_of(
    material: Material, settings: ReleaseSettings, sets: Mapping[str, pa.Table], notices: tuple[Notice, ...] = ()
) -> Facts:
    """The numbers of one release.

    Parameters
    ----------
    material : Material
        As it is released.
    settings : ReleaseSettings
    sets : mapping of str to pyarrow.Table
        Tables with columns selected and shown, by name, whose frequencies are compared.
    notices : tuple of Notice, optional

    Returns
    -------
    Facts
    """
    import pyarrow.compute as pc

    selection, votes, verdicts = material.selection, material.votes, material.verdicts
    per_class = class_counts(material)
    wanted: int | dict[str, int] = settings.per_class
    if settings.hold_out:
        wanted = {info.id: count for info, count in zip(material.classes, per_class, strict=True)}
    seen = review(selection.selected, None, verdicts, material.pairs.slice(0, 0))
    days = sorted(pc.unique(pc.utf8_slice_codeunits(votes["time"], 0, 10)).to_pylist())
    sampling = settings.config.get("sampling") or {}
    return Facts(
        images=len(selection.selected),
        classes=len(material.classes),
        fewest=min(per_class, default=0),
        most=max(per_class, default=0),
        candidates=int(pc.sum(pc.equal(material.images["role"], "candidate")).as_py() or 0),
        votes=len(votes),
        people=pc.count_distinct(votes["person"]).as_py(),
        assignments=pc.count_distinct(votes["assignment"]).as_py(),
        first_day=days[0] if days else "",
        last_day=days[-1] if days else "",
        frequency=_frequencies(sets),
        pairs=len(material.pairs),
        pair_verdicts=int(pc.sum(pc.equal(verdicts["kind"], "pair")).as_py() or 0),
        reviewed=seen.selected - seen.images.num_rows,
        problematic=seen.problematic,
        strategy=str(selection.record.get("strategy") or sampling.get("strategy") or ""),
        revision=selection.revision,
        licences=tuple(licences(material)),
        funnel=funnel(
            material.images,
            material.counts,
            selection.excluded,
            selection.selected,
            material.classes,
            wanted,
            minimum_votes=settings.minimum_votes,
        ),
        notices=notices,
    )


def _frequencies(sets: Mapping[str, pa.Table]) -> dict[str, float]:
    found = {}
    for name, table in sets.items():
        selected, shown = (np.asarray(table[column], np.int64) for column in ("selected", "shown"))
        if (shown > 0).any():
            found[name] = float(np.mean(selected[shown > 0] / shown[shown > 0]))
    return found
