"""Makes a release: the tables of a build in, a folder that other tools read out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from resit.build.release import tables
from resit.build.release.archives import write_imagefolder, write_webdataset
from resit.build.release.card import benchmark_yaml, readme
from resit.build.release.check import check
from resit.build.release.croissant import croissant
from resit.build.release.datasheet import datasheet
from resit.build.release.examples import examples_of, write_parquet
from resit.build.release.facts import facts_of
from resit.build.release.figures import export, frequency_chart, frequency_histogram, funnel_chart
from resit.build.release.hold_out import held_out, private_part, public_part, withheld
from resit.build.release.record import Material, Released, ReleaseSettings
from resit.build.release.stage import put, seal, staged, writing
from resit.errors import Notice, UsageError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class _Part:
    """One folder to write."""

    material: Material
    settings: ReleaseSettings
    whole: pa.Table
    names: tables.Names
    notices: tuple[Notice, ...]
    private: bool = False


def release(material: Material, settings: ReleaseSettings, folder: str | Path, private: str | Path | None = None) -> Released:
    """Write a selection as a test set that others can use, with all that is needed to sample again.

    Parameters
    ----------
    material : Material
        The tables of the build.
    settings : ReleaseSettings
    folder : path
        Where the release should be: new or empty. The same release being there already is no error.
    private : path, optional
        Where the images that are held out should be, with all tables whole. Needed where ``settings.hold_out`` is not 0.

    Returns
    -------
    Released

    Raises
    ------
    InputError
        If an image cannot be read or is not what its id says, or the selection and the tables do not fit together.
    OutputError
        If a folder holds something else, or cannot be written. What was there before is left intact.
    UsageError
        If the selection is invalid and may not be released as it is, or no folder is given for images held out.

    Notes
    -----
    The same material, settings and versions of the libraries give the same bytes. Rows are in a fixed order, and the only times
    are those of the build's events. Images are read one at a time, twice or thrice where other layouts are asked for.
    """
    if bool(settings.hold_out) != (private is not None):
        what = (
            "images to hold out, and no folder for them" if settings.hold_out else "a private folder, and nothing to hold out"
        )
        raise UsageError(what, where="release", fix="Give both hold_out (--hold-out) and private (--private), or neither.")
    target, other = Path(folder), None if private is None else Path(private)
    if other is not None and _inside(other, target):
        raise UsageError("one release inside the other", where=other, fix="Choose folders apart from each other.")
    notices = tuple(check(material, settings))
    selected = material.selection.selected
    held = held_out(selected, settings.hold_out, settings.seed, settings.salt) if settings.hold_out else []
    hidden = withheld(held, selected, material.verdicts)
    names = tables.names_of(material, settings.salt)
    public = public_part(material, hidden)
    parts = [(target, _Part(public, settings, public.selection.selected, names, notices))]
    if other is not None:
        mine = replace(settings, name=f"{settings.name}-held-out")
        parts.insert(0, (other, _Part(private_part(material, held), mine, selected, names, notices, private=True)))
    files, fresh = _write_all(parts)
    return Released(target, len(selected) - len(held), other, len(held), len(hidden), files, fresh, notices)


def _inside(first: Path, second: Path) -> bool:
    one, two = first.absolute(), second.absolute()
    return one == two or one in two.parents or two in one.parents


def _write_all(parts: list[tuple[Path, _Part]]) -> tuple[int, bool]:
    """Write all folders, then put them in place one after the other, the public one last.

    Returns
    -------
    files : int
        Of the last.
    fresh : bool
        Whether any was not there already.
    """
    with contextlib.ExitStack() as stack:
        stages = [(stack.enter_context(staged(target)), target, part) for target, part in parts]
        files = 0
        for stage, target, part in stages:
            with writing(target):
                _write(part, stage)
                files = seal(stage)
        fresh = False
        for stage, target, _ in stages:
            with writing(target):
                fresh |= put(stage, target)
    return files, fresh


def _write(part: _Part, stage: Path) -> None:
    material, settings = part.material, part.settings
    contents = examples_of(material, settings.leave_out)
    for name in ("data", "record", "card/figures"):
        (stage / name).mkdir(parents=True)
    write_parquet(contents, stage / "data" / "test.parquet")
    if settings.imagefolder:
        write_imagefolder(contents, stage / "imagefolder")
    if settings.webdataset:
        write_webdataset(contents, stage / "webdataset")
    pool = tables.pool(material, part.whole, settings.leave_out)
    originals = tables.originals(material)
    written = {
        "candidates": pool,
        "originals": originals,
        "votes": tables.votes(material, part.names),
        "pairs": tables.pairs(material),
        "verdicts": tables.verdicts(material, part.names),
        "selection": material.selection.selected.sort_by("image"),
    }
    for name, table in written.items():
        tables.write_table(table, stage / "record" / f"{name}.parquet")
    sets = {"original": originals, "candidates": pool, "new": material.selection.selected}
    facts = facts_of(material, settings, sets, part.notices)
    charts = {
        "funnel": funnel_chart(facts.funnel),
        "selection-frequency": frequency_chart({name: frequency_histogram(one) for name, one in sets.items()}),
    }
    for name, spec in charts.items():
        if spec["data"]["values"]:
            _write_bytes(stage / "card" / "figures", export(name, spec))
    texts = {
        "classes.csv": tables.classes_csv(material.classes),
        "attribution.csv": tables.attribution_csv(material),
        "record/selection.json": tables.record_json(material),
        "record/funnel.csv": tables.funnel_csv(facts.funnel),
        "benchmark.yaml": benchmark_yaml(material, settings),
        "README.md": readme(facts, contents, settings, private=part.private),
        "card/datasheet.md": datasheet(facts, settings),
    }
    for name, text in texts.items():
        (stage / name).write_text(text, encoding="utf-8", newline="\n")
    (stage / "croissant.json").write_text(croissant(contents, material, settings, stage), encoding="utf-8", newline="\n")


def _write_bytes(folder: Path, files: Iterator[tuple[str, bytes]]) -> None:
    for name, content in files:
        (folder / name).write_bytes(content)
