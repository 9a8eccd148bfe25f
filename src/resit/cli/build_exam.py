"""``resit build exam``: people sit the exam themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from resit.cli.options import BUILD, INPUT, OUTPUT, Debug, Folder, Json, Level
from resit.errors import UsageError

CHOICE = "Which images"

exam = typer.Typer(
    name="exam",
    help="Let people sit the exam themselves: make one, list what there is, and say how often people are right.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@exam.callback()
def _exam(ctx: typer.Context, folder: Folder) -> None:
    ctx.meta[BUILD] = folder


@exam.command()
def make(
    ctx: typer.Context,
    original: Annotated[
        str | None,
        typer.Option(metavar="RUNS", help="Answers of models on the original test set.", rich_help_panel=INPUT),
    ] = None,
    new: Annotated[
        str | None,
        typer.Option(metavar="RUNS", help="Answers of the same models on the new images.", rich_help_panel=INPUT),
    ] = None,
    hardest: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="FRACTION",
            help="Draw from those that fewest models get right. Default with models: 0.05.",
            rich_help_panel=CHOICE,
        ),
    ] = None,
    random: Annotated[
        bool, typer.Option("--random", help="Draw from all. Default without models.", rich_help_panel=CHOICE)
    ] = False,
    n: Annotated[
        int, typer.Option("--n", min=1, metavar="N", help="Original images, and as many new ones.", rich_help_panel=CHOICE)
    ] = 100,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="As evenly over classes as the images allow.", rich_help_panel=CHOICE)
    ] = False,
    revision: Annotated[
        str | None,
        typer.Option(metavar="REVISION", help="Whose images are the new ones. Default: the last.", rich_help_panel=CHOICE),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Default: that of build.yaml.", rich_help_panel=CHOICE)] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Of the exam. Default: Exam 1, Exam 2 and so on.")] = None,
    show_answers: Annotated[
        bool, typer.Option("--show-answers", help="People see what was right after they have handed in.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Choose as many original as new images, for instance the hardest, and make an exam of them."""
    from resit.build.steps.exam import make_exam
    from resit.build.steps.opened import open_build
    from resit.cli.revisions import revision as number
    from resit.cli.show import progress
    from resit.data.load import load_predictions

    with open_build(ctx.meta[BUILD]) as build, progress() as tell:
        done = make_exam(
            build,
            original=load_predictions(original) if original else None,
            new=load_predictions(new) if new else None,
            hardest=hardest,
            random=random,
            n=n,
            balanced=balanced,
            revision=number(revision) if revision else None,
            name=name,
            show_answers=show_answers,
            seed=seed,
            tell=tell,
        )
    typer.echo(done)
    typer.echo("People find it under Exam when they are signed in to `resit serve`.")


@exam.command("list")
def list_(ctx: typer.Context, as_json: Json = False, debug: Debug = False) -> None:
    """List the exams, and how many people have begun each and handed it in."""
    from dataclasses import asdict

    from resit.build.steps.exam import list_exams
    from resit.build.steps.opened import open_build

    with open_build(ctx.meta[BUILD]) as build:
        found = list_exams(build)
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False))
    else:
        typer.echo("\n".join(map(str, found)) or "No exam yet: `resit build exam … make`.")


@exam.command()
def results(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Of the exam, where there are several.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write it for `resit compare --human` too.", rich_help_panel=OUTPUT
        ),
    ] = None,
    level: Level = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say how often people are right on original and on new images, each and all together."""
    from resit.build.folder import write_whole
    from resit.build.steps.exam import answers_of
    from resit.build.steps.opened import open_build
    from resit.study.human import human_accuracy

    if output is not None and output.is_dir():
        raise UsageError("a folder", where=output, fix="Name a file, such as human.json.")
    with open_build(ctx.meta[BUILD]) as build:
        found = human_accuracy(answers_of(build, name), level=level, seed=seed)
    if output is not None:
        write_whole(output, found.to_json().encode())
    typer.echo(found.to_json().rstrip() if as_json else found)
