"""What people still have to look at in a build, and what they said: review lists out and in."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from resit.build.clock import now
from resit.build.duplicates.queue import review_queue
from resit.build.folder import write_whole
from resit.build.keys import PAIR, among, keys
from resit.build.review import Review, review
from resit.build.review_lists import Imported, images_list, pairs_list, read_list
from resit.build.steps.dedupe import reference_sources
from resit.build.steps.opened import Build, Tell, silent
from resit.build.steps.originals import image_bytes, path_in_build
from resit.build.steps.pool import Pool, read_pool
from resit.data.guard import reading, refuse_unfit
from resit.data.load_benchmark import load_benchmark
from resit.data.paths import short_list
from resit.errors import InputError, OutputError
from resit.store.schemas import SELECTED, table

if TYPE_CHECKING:
    import pyarrow as pa

IMAGES_LIST, PAIRS_LIST = "review-images.csv", "review-pairs.csv"


def review_state(build: Build, pool: Pool | None = None) -> Review:
    """What of the last revision and of the near-duplicates is left to look at, and whether the rounds have converged."""
    pool = pool or read_pool(build)
    if not build.store.revisions():
        return review(table(SELECTED), None, pool.verdicts, pool.queue)
    last = build.store.selection()
    parent = None if last.parent is None else build.store.selection(last.parent).selected
    found = review(last.selected, parent, pool.verdicts, pool.queue)
    outdated = among(last.selected, pool.eligible.excluded) & ~among(last.selected, found.wrong)
    return replace(found, short=len(last.record["shortages"]), outdated=int(outdated.sum()))


def write_lists(build: Build, folder: str | Path, *, most: int | None = None, tell: Tell = silent) -> tuple[Path, Path, Review]:
    """Write what is left to look at as two lists that people fill in, and put what they are to see into the build's folder.

    Where no metric has a target all pairs are listed, so that looking through them from the top shows where to set one.

    Parameters
    ----------
    build : Build
    folder : path
        Gets ``review-images.csv`` and ``review-pairs.csv``.
    most : int, optional
        Rows of each list. Default: all.
    tell : callable, optional
        Told what is being done.

    Returns
    -------
    images, pairs : Path
    state : Review

    Raises
    ------
    OutputError
        If they cannot be written, or would replace a list with verdicts that were not imported.
    """
    pool = read_pool(build)
    state = review_state(build, pool)
    pairs = _head(state.pairs if pool.has_targets else _all_pairs(build, pool), most)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "Name a folder that can be written."
        raise OutputError(f"cannot be made: {error.strerror or error}", where=folder, fix=fix) from error
    texts = {
        IMAGES_LIST: images_list(_head(state.images, most), pool.images, build.class_names),
        PAIRS_LIST: pairs_list(pairs, _links(build, pool, pairs, tell)),
    }
    for name in texts:
        _refuse_filled_in(build, folder / name)
    for name, text in texts.items():
        write_whole(folder / name, text.encode())
    return folder / IMAGES_LIST, folder / PAIRS_LIST, state


def _refuse_filled_in(build: Build, path: Path) -> None:
    """Refuse to replace a list with verdicts that are not stored."""
    if not path.exists():
        return
    with reading(path):
        text = path.read_text(encoding="utf-8")
    try:
        left = len(_fresh(read_list(text, now(), where=path).verdicts, build.store.verdicts()))
    except InputError:
        left = 1
    if left:
        fix = "Import it first (--import), or export to another folder (--export)."
        raise OutputError("a list that people have filled in, and that was not imported", where=path, fix=fix)


def read_lists(build: Build, path: str | Path) -> Imported:
    """Store the verdicts of a list that people have filled in; reading the same list again changes nothing.

    Raises
    ------
    InputError
        If a line does not hold. Nothing of the list is taken then.
    """
    path = Path(path)
    refuse_unfit(path)
    with reading(path):
        text = path.read_text(encoding="utf-8")
    done = read_list(text, now(), known=_known(build), where=path)
    _refuse_other_classes(done.verdicts, build, path)
    build.store.add_verdicts(_fresh(done.verdicts, build.store.verdicts()))
    return done


def _refuse_other_classes(verdicts: pa.Table, build: Build, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if strange := sorted(set(verdicts["class_id"].to_pylist()) - {"", *build.class_names}):
        raise InputError(f"ids of no class: {short_list(strange)}", where=path, fix="Write them as in the exported list.")
    images = verdicts.filter(pc.equal(verdicts["kind"], "image"))
    if others := keys(images.filter(pa.array(~among(images, build.store.images())))).to_pylist():
        named = short_list(sorted(one.replace("\0", " for ") for one in others), 2)
        fix = "Were some of the list's columns sorted without the others? Export it again."
        raise InputError(f"images that are not there for the class beside them: {named}", where=path, fix=fix)


def _known(build: Build) -> pa.ChunkedArray:
    import pyarrow as pa

    columns = [build.store.images()["image"], build.store.pairs()["other"]]
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string())


def _fresh(given: pa.Table, stored: pa.Table) -> pa.Table:
    """Verdicts that are not what their person said last on the same thing."""
    import pyarrow as pa

    key = ("kind", "image", "other", "class_id", "person")
    last: dict[tuple[str, ...], str] = {}
    for row in stored.to_pylist():
        last[tuple(row[name] for name in key)] = row["verdict"]
    new = [last.get(tuple(row[name] for name in key)) != row["verdict"] for row in given.to_pylist()]
    return given.filter(pa.array(new, pa.bool_()))


def _all_pairs(build: Build, pool: Pool) -> pa.Table:
    return review_queue(build.store.pairs(), pool.verdicts, {}, neighbours=build.config.duplicates.neighbours)


def _head(rows: pa.Table, most: int | None) -> pa.Table:
    return rows if most is None else rows.slice(0, most)


def _links(build: Build, pool: Pool, pairs: pa.Table, tell: Tell) -> dict[str, str]:
    """Path of each image of some pairs, in the build's folder; images of references are put there."""
    found = dict(zip(pool.candidates["image"].to_pylist(), pool.candidates["path"].to_pylist(), strict=True))
    wanted = {image for name in PAIR for image in pairs[name].to_pylist()} - found.keys()
    for source in reference_sources(build) if wanted else ():
        tell(f"Looking up images of {source}")
        benchmark = load_benchmark(source)
        for row in range(benchmark.n):
            data = image_bytes(benchmark, row)
            digest = hashlib.sha256(data).hexdigest()
            if digest in wanted:
                found[build.folder.put_image(data)] = path_in_build(digest, data)
    return found
