"""``resit data``: the test sets that are known by name; fetching them, and checking them on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resit.cli.options import Debug, Json

if TYPE_CHECKING:
    from resit.data.card import Card

PROBLEMS = 1

data = typer.Typer(
    name="data",
    help="Known test sets: list and show them, fetch their files, and check those on disk.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Data folder. Default: $RESIT_DATA, else ~/.resit/data.", show_default=False),
]


@data.command("list")
def list_(folder: Data = None, as_json: Json = False, debug: Debug = False) -> None:
    """List the known test sets, and say which are in the data folder."""
    from resit.data.registry import folder_of, known_benchmarks

    rows = [(card, folder_of(card, folder)) for _, card in sorted(known_benchmarks().items())]
    if as_json:
        found = [{"name": c.name, "title": c.title, "n": c.n, "folder": str(f), "is_there": f.is_dir()} for c, f in rows]
        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
        return
    wide = max(len(card.name) for card, _ in rows)
    for card, place in rows:
        mark = "here" if place.is_dir() else ""
        n = f"{card.n:,}" if card.n is not None else "?"
        typer.echo(f"{card.name:<{wide}}  {n:>7}  {mark:<4}  {card.title}".rstrip())


@data.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a known test set, or a card's YAML file.")],
    folder: Data = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what is known of a test set: its licence, classes, numbers, files, and what to know before using it."""
    from resit.data.registry import folder_of, get_card

    card = _card_file(name) or get_card(name)
    if as_json:
        found = {**asdict(card), "folder": str(folder_of(card, folder))}
        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for line in _lines(card, folder_of(card, folder)):
        typer.echo(line)


@data.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a known test set, or a card's YAML file.")],
    folder: Data = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep archives once they are unpacked.")] = False,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds without a byte until a connection is given up.")] = 60.0,
    attempts: Annotated[int, typer.Option(min=1, help="Tries of each mirror.")] = 4,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Fetch a test set's files, check them, and unpack them. What was cut off goes on where it stopped."""
    from resit.data.fetch import fetch as library_fetch

    with _bytes_shown() as progress:
        found = library_fetch(
            _card_file(name) or name, data=folder, keep=keep, progress=progress, timeout=timeout, attempts=attempts
        )
    typer.echo(json.dumps(found.to_dict(), indent=1, ensure_ascii=False) if as_json else str(found))


@data.command()
def verify(
    source: Annotated[str, typer.Argument(metavar="PATH", help="A path, NAME=PATH, or the name of a known test set.")],
    folder: Data = None,
    classes: Annotated[str | None, typer.Option("--classes", metavar="FILE|NAME", help="Class list.")] = None,
    labels: Annotated[str | None, typer.Option("--labels", metavar="FILE", help="Accepted labels.")] = None,
    layout: Annotated[str | None, typer.Option("--layout", help="How the files are laid out. Default: found out.")] = None,
    ids: Annotated[
        str | None, typer.Option("--ids", metavar="FILE", help="Table of the ids that must be there, in order.")
    ] = None,
    no_decode: Annotated[bool, typer.Option("--no-decode", help="Read images, but do not decode them.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Threads. Default: one for each core.", show_default=False)] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Check a test set on disk: counts, missing, unreadable and identical images. Exit code 1 where something is wrong."""
    from resit.cli.show import progress
    from resit.data.verify import verify as library_verify

    with progress() as tell:
        tell(f"Reading {source}")
        found = library_verify(
            source,
            ids=ids,
            data=folder,
            decode=not no_decode,
            workers=workers,
            progress=lambda done, n: tell(f"{done:,} of {n:,} images"),
            classes=classes,
            labels=labels,
            layout=layout,
        )
    typer.echo(json.dumps(found.to_dict(), indent=1, ensure_ascii=False) if as_json else str(found))
    if not found.ok:
        raise typer.Exit(PROBLEMS)


def _card_file(name: str) -> Card | None:
    from resit.data.read_card import read_card
    from resit.data.registry import CARD_SUFFIXES

    path = Path(name)
    return read_card(path) if path.suffix.lower() in CARD_SUFFIXES else None


def _lines(card: Card, folder: Path) -> Iterator[str]:
    yield f"{card.name}: {card.title}"
    for text in (card.description, card.citation):
        if text:
            yield f"  {text}"
    per_class = f", {card.per_class:,} a class" if isinstance(card.per_class, int) else ""
    facts = {
        "homepage": card.homepage,
        "licence": card.licence,
        "examples": f"{card.n:,}{per_class}" if card.n is not None else "",
        "classes": card.classes or "",
        "answers from": f"the classes of {card.subset}" if card.subset else "",
        "label space": card.label_space,
        "variants": " × ".join(f"{axis}: {', '.join(values)}" for axis, values in card.variants.items()),
        "groups": ", ".join(card.groups),
        "images of": card.base,
        "folder": f"{folder} ({'there' if folder.is_dir() else 'not there'})",
    }
    yield from (f"  {key}: {value}" for key, value in facts.items() if value)
    for file in card.files:
        size = f", {file.size / 1e6:,.1f} MB" if file.size else ""
        yield f"  file: {file.name}{size}"
        for mirror in file.mirrors:
            known = " ".join(f"{kind} {value}" for kind, value in (("sha256", mirror.sha256), ("md5", mirror.md5)) if value)
            yield f"    {mirror.url} ({known or 'no hash known'})"
        if file.source:
            yield f"    hashes from: {file.source}"
    yield from (f"  note: {note}" for note in card.notes)
    if card.access:
        yield f"  access: {card.access}"


@contextmanager
def _bytes_shown() -> Iterator[Callable[[str, int, int | None], None] | None]:
    """A bar of bytes where somebody watches."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        tasks = {}

        def tell(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = shown.add_task(name, total=total)
            shown.update(tasks[name], completed=done, total=total)

        yield tell
