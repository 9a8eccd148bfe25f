"""``resit build``: a new test set, from candidates to a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from resit.cli.build_bias import bias
from resit.cli.build_collect import collect
from resit.cli.build_exam import exam
from resit.cli.build_label import label
from resit.cli.build_review import diff, export, release, review, status
from resit.cli.build_simulate import simulate
from resit.cli.build_what_if import what_if
from resit.cli.options import INPUT, OUTPUT, RUN, Debug, Folder, Json
from resit.errors import UsageError

Strategy = Literal["matched-frequency", "threshold", "top-images", "keyword", "uniform", "corrected-frequency"]
DESIGN = "The new test set"
GIB = 2**30
MOST_GIB = 2**20

build = typer.Typer(
    name="build",
    help="Build a new test set the way the old one was built: init, collect, dedupe, label, sample, review, release.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@build.command()
def init(
    folder: Folder,
    original: Annotated[
        str, typer.Option(metavar="BENCHMARK", help="The test set to build anew: a path, a known name or NAME=PATH.")
    ],
    per_class: Annotated[int, typer.Option(min=1, metavar="N", help="Wanted images of each class.")],
    strategy: Annotated[
        Strategy, typer.Option(help="How images are chosen among the candidates.", rich_help_panel=DESIGN)
    ] = "matched-frequency",
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of the new test set. Default: that of the folder.", rich_help_panel=DESIGN),
    ] = None,
    version: Annotated[str, typer.Option(metavar="VERSION", help="Of the new test set.", rich_help_panel=DESIGN)] = "1.0",
    seed: Annotated[int, typer.Option(min=0, help="Of all that is random.", rich_help_panel=DESIGN)] = 0,
    attribute: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="keyword: attribute of images to match.", rich_help_panel=DESIGN),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(metavar="LIST", help="Class list of the original.", rich_help_panel=INPUT)
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Votes on originals that there are already: .npy or a table.", rich_help_panel=INPUT),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Set that no new image may nearly repeat. Repeatable.", rich_help_panel=INPUT),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="postgresql+psycopg://USER@HOST/NAME for a team. Default: a file.", rich_help_panel=OUTPUT
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Begin a build: a folder with its configuration, its database, and the images of the original."""
    from resit.build.steps.init import init_build, new_config
    from resit.cli.show import progress

    config = new_config(
        name=name or Path(folder).absolute().name,
        version=version,
        seed=seed,
        database=database,
        per_class=per_class,
        original={"source": original, "classes": classes, "counts": counts},
        sampling={"strategy": strategy, "attribute": attribute},
        references=against or (),
    )
    with progress() as tell:
        done = init_build(folder, config, tell=tell)
    typer.echo(done)


build.command()(collect)


@build.command()
def dedupe(
    folder: Folder,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Set to compare candidates with, beside those in build.yaml: a path, a glob in quotes. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    memory: Annotated[
        float,
        typer.Option(min=0.1, max=MOST_GIB, metavar="GIB", help="Memory to keep within.", rich_help_panel=RUN),
    ] = 2.0,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A Ray cluster to search on; local for this machine.", rich_help_panel=RUN),
    ] = None,
    debug: Debug = False,
) -> None:
    """Find near-duplicates of candidates among each other and reference sets; name the original as one of them."""
    from resit.build.steps.dedupe import find_duplicates
    from resit.build.steps.opened import open_build
    from resit.cli.show import progress

    with open_build(folder) as opened, progress() as tell:
        done = find_duplicates(opened, against=against or (), memory=int(memory * GIB), cluster=cluster, tell=tell)
    typer.echo(done)


build.add_typer(label)


@build.command()
def sample(
    folder: Folder,
    parent: Annotated[
        str | None, typer.Option(metavar="REVISION", help="Revision to go on from: r3. Default: the last one.")
    ] = None,
    afresh: Annotated[bool, typer.Option("--afresh", help="Keep nothing of an earlier revision.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Default: that of build.yaml.")] = None,
    strategy: Annotated[
        Strategy | None, typer.Option(help="How images are chosen. Default: that of build.yaml.", rich_help_panel=DESIGN)
    ] = None,
    correct_bias: Annotated[
        bool,
        typer.Option("--correct-bias", help="matched-frequency: match estimated true frequencies.", rich_help_panel=DESIGN),
    ] = False,
    predictions: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Answers of models on the original: tells the expected shift of accuracy."),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Draw the next revision, going on from the last one, and say what noisy votes do to it."""
    from resit.build.steps.opened import open_build
    from resit.build.steps.sample import draw_revision
    from resit.cli.revisions import revision
    from resit.cli.show import progress
    from resit.data.load import load_predictions

    if afresh and parent:
        raise UsageError("a parent, and nothing to keep of it", where="--afresh", fix="Leave out --parent or --afresh.")
    answers = load_predictions(predictions) if predictions else None
    number = revision(parent) if parent else None
    with open_build(folder) as opened, progress() as tell:
        done = draw_revision(
            opened,
            afresh=afresh,
            parent=number,
            seed=seed,
            strategy=strategy,
            correct_bias=correct_bias,
            predictions=answers,
            tell=tell,
        )
        told = opened.store.selection(done.revision).record
    typer.echo(json.dumps({"revision": done.revision, **told}, indent=1, ensure_ascii=False) if as_json else done)


build.command()(bias)
build.command()(review)
build.command()(status)
build.command()(diff)
build.command()(export)
build.command()(release)
build.add_typer(exam)
build.command()(simulate)
build.command("what-if")(what_if)
