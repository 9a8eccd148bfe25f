"""Collect candidates into a build."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from resit.build.clock import now
from resit.build.collect import ClassRules, Collected, Downloader, Manners, Search, class_terms, collect, open_source
from resit.build.collect.class_rules import read_class_map
from resit.build.collect.run import Progress
from resit.build.steps.opened import Build

COLLECT = "collect"
PARTS = "parts"


def gather(
    build: Build,
    source: str,
    *,
    class_map: str | Path | None = None,
    terms: str | Path | None = None,
    search: Search | None = None,
    manners: Manners | None = None,
    progress: Progress | None = None,
) -> Collected:
    """Collect candidates from one source into a build; safe to repeat.

    Parameters
    ----------
    build : Build
    source : str
        As :func:`resit.build.collect.open_source` takes it.
    class_map, terms : path, optional
        Tables that say which class each label means, and what each class is searched by.
    search : Search, optional
    manners : Manners, optional
    progress : callable, optional
        Told the stage, and how many were found and failed so far.

    Returns
    -------
    Collected

    Raises
    ------
    InputError, OutputError, UsageError
        As :func:`resit.build.collect.collect`. What was saved before stays.
    """
    rules = ClassRules(build.classes, read_class_map(class_map) if class_map else None, str(class_map or "class map"))
    words = class_terms(build.classes, terms)
    with Downloader(build.path / PARTS, manners) as downloader:
        done = collect(
            open_source(source, rules, downloader),
            words,
            build.folder.put_image,
            build.store.add_images,
            search=search,
            downloader=downloader,
            known=build.store.images("candidate"),
            originals=set(build.store.images("original")["image"].to_pylist()),
            progress=progress,
        )
    record = {
        "source": done.source,
        **{name: getattr(done, name) for name in ("found", "new", "known", "repeated")},
        "failed": dict(sorted(Counter(done.failed["class_id"].to_pylist()).items())),
    }
    build.store.note(COLLECT, record, now())
    return done


def failed(build: Build) -> Counter[str]:
    """How many candidates of each class could not be had, by what each source told last."""
    last = {note.record["source"]: note.record["failed"] for note in build.store.notes() if note.step == COLLECT}
    known = {info.id for info in build.classes}
    return sum((Counter({key: n for key, n in one.items() if key in known}) for one in last.values()), Counter())
