"""Find near-duplicates of a build's candidates."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from resit.build.clock import now
from resit.build.config import DuplicatesConfig, OriginalConfig
from resit.build.duplicates.find import find_pairs
from resit.build.duplicates.pictures import Pictures, pictures_of_benchmark, pictures_of_folder
from resit.build.duplicates.reviewed import Reviewed, reviewed
from resit.build.steps.init import from_root
from resit.build.steps.opened import Build, Tell, silent
from resit.data.benchmark import Benchmark
from resit.data.load_benchmark import load_benchmark
from resit.errors import InputError, UsageError

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

    The original is a reference. Sets that candidates were compared with before, and those of the configuration, stay
    references. A set that lies elsewhere now is the same one if its images are; of two with the same images the first counts.

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
    given = dict.fromkeys(map(from_root, (build.config.original.source, *build.config.references, *against)))
    references, told = _read(given, before, build.config.original, tell)
    known = {one["name"] for one in told.values() if one in before.values()}
    config = build.config.duplicates
    new = changed = 0
    for found in find_pairs(
        pictures_of_folder(build.folder, ids),
        references,
        fresh=ids if last and _wants_more(config, last.record) else None,
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
    record = {
        "references": told,
        "configured": list(build.config.references),
        "metrics": list(config.metrics),
        "neighbours": config.neighbours,
        "candidates": len(ids),
        "new": new,
        "changed": changed,
    }
    build.store.note(DEDUPE, record, now())
    targets = {name: metric.target for name, metric in config.metrics.items()}
    how_far = reviewed(build.store.pairs(), build.store.verdicts(), targets, neighbours=config.neighbours)
    return Deduped(len(ids), {name: len(one) for name, one in references.items()}, new, changed, how_far)


def reference_sources(build: Build) -> list[str]:
    """Where the sets lie that candidates were compared with."""
    last = build.last(DEDUPE)
    return list(last.record["references"]) if last else []


def out_of_date(build: Build) -> bool:
    """Whether the last search for near-duplicates was with fewer references or neighbours than the configuration says now."""
    last = build.last(DEDUPE)
    if last is None:
        return True
    missing = set(build.config.references) - set(last.record.get("configured", ()))
    return bool(missing) or build.config.duplicates.neighbours > last.record.get("neighbours", 0)


def _wants_more(config: DuplicatesConfig, record: Mapping[str, Any]) -> bool:
    """Whether lists that were stored may lack images that they would have with these settings: all are then made anew."""
    return config.neighbours > record.get("neighbours", 0) or not set(config.metrics) <= set(record.get("metrics", ()))


def _read(given: Iterable[str], before: Sources, original: OriginalConfig, tell: Tell) -> tuple[dict[str, Pictures], Sources]:
    """The reference sets by name, and what to note of each source: a set keeps the name that it had before."""
    references: dict[str, Pictures] = {}
    told: Sources = {}
    names = {one["fingerprint"]: one["name"] for one in before.values()}
    earlier = [source for source in before if source not in set(given)]
    for source in (*given, *earlier):
        if source in earlier and before[source]["fingerprint"] in {one["fingerprint"] for one in told.values()}:
            continue
        tell(f"Reading {source}")
        classes = original.classes if source == from_root(original.source) else None
        benchmark = _loaded(source, classes, again=source in earlier)
        pictures = pictures_of_benchmark(benchmark)
        # A test set's own fingerprint takes a file that was replaced by one of the same size for the same.
        content = hashlib.sha256("\0".join(pictures.ids).encode()).hexdigest()[:16]
        if content in {one["fingerprint"] for one in told.values()}:
            continue
        name = before[source]["name"] if source in before else names.get(content, "")
        held = {before[other]["name"] for other in given if other in before and other != source}
        if not name or name in {*references, *held}:
            name = _free(benchmark.name, {*references, *names.values()})
        references[name] = pictures
        told[source] = {"name": name, "fingerprint": content}
    return references, told


def _loaded(source: str, classes: str | None, *, again: bool) -> Benchmark:
    try:
        return load_benchmark(source, classes=classes)
    except UsageError as error:
        if not again:
            raise
        fix = "Candidates were compared with it before. Put it back, or say where it lies now: --against."
        raise InputError(error.what, where=source, fix=fix) from error


def _free(name: str, taken: Collection[str]) -> str:
    """The name, or the name with the first number that makes it new."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(one for one in names if one not in taken)
