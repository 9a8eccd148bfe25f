"""Find near-duplicates of a build's candidates."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

from resit.build.clock import now
from resit.build.duplicates.find import find_pairs
from resit.build.duplicates.pictures import Pictures, pictures_of_benchmark, pictures_of_folder
from resit.build.duplicates.reviewed import Reviewed, reviewed
from resit.build.steps.init import from_root
from resit.build.steps.opened import Build, Tell, silent
from resit.data.load_benchmark import load_benchmark
from resit.errors import UsageError

DEDUPE = "dedupe"
Sources = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Deduped:
    """What came of a search for near-duplicates.

    Parameters
    ----------
    candidates : int
    references : dict of str to int
        Images of each reference set, by name.
    new, changed : int
        Rows of lists that are new, and that other rows took the place of.
    reviewed : tuple of Reviewed
        How far people have come with the pairs of each metric.
    """

    candidates: int
    references: dict[str, int]
    new: int
    changed: int
    reviewed: tuple[Reviewed, ...]

    def __str__(self) -> str:
        among = ", ".join(f"{name} ({n:,})" for name, n in self.references.items())
        lines = [f"{self.candidates:,} candidates, among each other and {among or 'no references'}"]
        lines.append(f"{self.new:,} neighbours are new, {self.changed:,} changed their place")
        return "\n".join([*lines, *map(str, self.reviewed)])


def find_duplicates(
    build: Build, *, against: Sequence[str] = (), memory: int = 2 << 30, cluster: str | None = None, tell: Tell = silent
) -> Deduped:
    """Find the nearest images of all candidates; what was found before is gone on from.

    Sets that candidates were compared with before, and those of the configuration, stay references.

    Parameters
    ----------
    build : Build
    against : sequence of str, optional
        Further reference sets, as :func:`resit.load_benchmark` takes them.
    memory : int, optional
        Bytes that the search may take.
    cluster : str, optional
        Address of a Ray cluster, or ``local``.
    tell : callable, optional
        Told what is being done.

    Returns
    -------
    Deduped

    Raises
    ------
    InputError
        If a reference set or a picture cannot be read. What was found before stays.
    UsageError
        If there are no candidates, or a setting does not fit.
    """
    ids = sorted(set(build.store.images("candidate")["image"].to_pylist()))
    if not ids:
        raise UsageError("no candidates to compare", where=build.path, fix="Collect some first: `resit build collect`.")
    last = build.last(DEDUPE)
    before = last.record["references"] if last else {}
    sources = dict.fromkeys(map(from_root, (*build.config.references, *before, *against)))
    references, told = _read(sources, before, tell)
    known = {told[source]["name"] for source in told if told[source] == before.get(source)}
    config = build.config.duplicates
    new = changed = 0
    for found in find_pairs(
        pictures_of_folder(build.folder, ids),
        references,
        stored=build.store.pairs(),
        fresh_references=[name for name in references if name not in known],
        metrics=tuple(config.metrics),
        neighbours=config.neighbours,
        memory=memory,
        progress=tell,
        cluster=cluster,
    ):
        added = build.store.add_pairs(found)
        new, changed = new + added.new, changed + added.changed
    build.store.note(DEDUPE, {"references": told, "candidates": len(ids), "new": new, "changed": changed}, now())
    targets = {name: metric.target for name, metric in config.metrics.items()}
    how_far = reviewed(build.store.pairs(), build.store.verdicts(), targets, neighbours=config.neighbours)
    return Deduped(len(ids), {name: len(one) for name, one in references.items()}, new, changed, how_far)


def reference_sources(build: Build) -> list[str]:
    """Where the sets lie that candidates were compared with."""
    last = build.last(DEDUPE)
    return list(last.record["references"]) if last else []


def _read(sources: Iterable[str], before: Mapping[str, Mapping[str, str]], tell: Tell) -> tuple[dict[str, Pictures], Sources]:
    """The reference sets by name, and what to note of each source: a set keeps the name that it had before."""
    references: dict[str, Pictures] = {}
    told: Sources = {}
    for source in sources:
        tell(f"Reading {source}")
        benchmark = load_benchmark(source)
        name = before[source]["name"] if source in before else _free(benchmark.name, {*references, *_names(before)})
        references[name] = pictures_of_benchmark(benchmark)
        # A test set's own fingerprint takes a file that was replaced by one of the same size for the same.
        content = hashlib.sha256("\0".join(references[name].ids).encode()).hexdigest()
        told[source] = {"name": name, "fingerprint": content[:16]}
    return references, told


def _names(before: Mapping[str, Mapping[str, str]]) -> set[str]:
    return {one["name"] for one in before.values()}


def _free(name: str, taken: Collection[str]) -> str:
    """The name, or the name with the first number that makes it new."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(one for one in names if one not in taken)
