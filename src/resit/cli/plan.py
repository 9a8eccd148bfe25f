"""``resit plan``: how many examples tell two models apart, and four questions beside it."""

from __future__ import annotations

from typing import Annotated

import typer

from resit.cli.options import (
    STATISTICS,
    Alias,
    Debug,
    Exclude,
    Json,
    Labels,
    Level,
    Models,
    Seed,
    WorstFirst,
)
from resit.cli.plan_inputs import (
    POOLS,
    CandidatesBeta,
    From,
    FromBoth,
    OfBuild,
    OriginalBeta,
    Power,
    Report,
    betas,
    loaded,
    points,
    show_plan,
)
from resit.errors import UsageError

plan = typer.Typer(
    name="plan",
    help="Say how many examples it takes to tell two models apart, and how wide intervals are; or answer another question.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@plan.callback()
def _plan(
    ctx: typer.Context,
    accuracy: Annotated[float | None, typer.Option(help="Accuracy that you expect, as a fraction: 0.76. Required.")] = None,
    difference: Annotated[
        float | None,
        typer.Option(help="Difference between two models that you want to see, as a fraction: 0.01. Required."),
    ] = None,
    discordance: Annotated[
        float | None,
        typer.Option(help="Fraction of examples that exactly one of the two gets right. Default: as if they were independent."),
    ] = None,
    runs: From = None,
    labels: Labels = None,
    power: Power = 0.8,
    level: Level = 0.95,
    output: Report = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    if ctx.invoked_subcommand is not None:
        _refuse_before(ctx)
        return
    if accuracy is None or difference is None:
        missing = "--accuracy" if accuracy is None else "--difference"
        raise UsageError(f"Missing option '{missing}'", fix="Try 'resit plan --help'.")
    if runs and discordance is not None:
        raise UsageError("a discordance, and answers to estimate it from", where="--from", fix="Leave one out.")
    sets = loaded(runs, labels)
    from resit.study.plan import plan as library_plan

    found = library_plan(accuracy, difference, discordance=sets[0] if sets else discordance, power=power, level=level)
    show_plan(found, output, as_json=as_json)


def _refuse_before(ctx: typer.Context) -> None:
    """Options of the first question would say nothing to another one."""
    written = [name for name in ctx.params if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"]
    words = {one.name: one.opts[0] for one in ctx.command.params}
    if wrong := [words[name] for name in written if name != "debug"]:
        call = f"resit plan {ctx.invoked_subcommand}"
        raise UsageError(
            f"{', '.join(wrong)} before {ctx.invoked_subcommand!r}", where="resit plan", fix=f"Write {call} OPTIONS."
        )


@plan.command()
def votes(
    bias: Annotated[float, typer.Option(metavar="FRACTION", help="Shift of accuracy that may be left: 0.01.")] = 0.01,
    original_beta: OriginalBeta = None,
    candidates_beta: CandidatesBeta = None,
    build: OfBuild = None,
    runs: From = None,
    labels: Labels = None,
    curve: Annotated[
        str | None,
        typer.Option(
            metavar="FREQUENCY=ACCURACY,…",
            help="Accuracy by true frequency. Default: from --from, else CIFAR-10's.",
            rich_help_panel=POOLS,
        ),
    ] = None,
    votes: Annotated[
        list[int] | None,
        typer.Option("--votes", min=1, max=100_000, metavar="N", help="Also tell about so many votes. Repeatable."),
    ] = None,
    output: Report = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say how many votes an image needs until matching on them leaves little bias."""
    sets = loaded(runs, labels)
    from resit.study.plan_votes import VOTES, plan_votes

    found = plan_votes(
        bias=bias,
        original_beta=betas(original_beta, "--original-beta"),
        candidates_beta=betas(candidates_beta, "--candidates-beta"),
        build=build,
        runs=sets[0] if sets else None,
        curve=points(curve),
        votes=votes or VOTES,
    )
    show_plan(found, output, as_json=as_json)


@plan.command()
def images(
    accuracy: Annotated[float | None, typer.Option(help="Of a model on a class: 0.76. Default: the mean of --from.")] = None,
    width: Annotated[float, typer.Option(help="Wanted width of the interval of a class's accuracy: 0.1.")] = 0.1,
    per_class: Annotated[
        list[int] | None, typer.Option(min=1, metavar="N", help="Also tell about so many images a class. Repeatable.")
    ] = None,
    runs: From = None,
    labels: Labels = None,
    votes: Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="Votes an image.", rich_help_panel=POOLS)] = 10,
    originals: Annotated[int, typer.Option(min=1, metavar="N", help="Original images a class.", rich_help_panel=POOLS)] = 50,
    sure: Annotated[float, typer.Option(metavar="FRACTION", help="Share of classes to fill.", rich_help_panel=POOLS)] = 0.95,
    original_beta: OriginalBeta = None,
    candidates_beta: CandidatesBeta = None,
    build: OfBuild = None,
    level: Level = 0.95,
    seed: Seed = 0,
    output: Report = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say how many images a class needs, and how many candidates fill the bins of matched frequencies."""
    sets = loaded(runs, labels)
    from resit.study.plan_images import PER_CLASS, plan_images

    found = plan_images(
        accuracy,
        width=width,
        runs=sets[0] if sets else None,
        per_class=per_class or PER_CLASS,
        votes=votes,
        originals=originals,
        sure=sure,
        original_beta=betas(original_beta, "--original-beta"),
        candidates_beta=betas(candidates_beta, "--candidates-beta"),
        build=build,
        level=level,
        seed=seed,
    )
    show_plan(found, output, as_json=as_json)


@plan.command()
def models(
    width: Annotated[float, typer.Option(help="Wanted width of the interval of the slope: 0.1.")] = 0.1,
    runs: FromBoth = None,
    labels: Labels = None,
    alias: Alias = None,
    worst_first: WorstFirst = None,
    models: Models = None,
    exclude: Exclude = None,
    lowest: Annotated[float | None, typer.Option(help="Lowest original accuracy, guessed.")] = None,
    highest: Annotated[float | None, typer.Option(help="Highest original accuracy, guessed.")] = None,
    scatter: Annotated[float | None, typer.Option(help="Standard deviation of models around the line, guessed.")] = None,
    slope: Annotated[float, typer.Option(help="Slope of the line, guessed.")] = 1.0,
    drop: Annotated[float, typer.Option(help="How much lower new accuracies are, guessed.")] = 0.1,
    n: Annotated[
        int | None, typer.Option("--n", min=2, metavar="N", help="Original examples. Default: those of --from, or 50,000.")
    ] = None,
    new_n: Annotated[
        int | None, typer.Option("--new-n", min=2, metavar="N", help="New examples. Default: those of --from, or 10,000.")
    ] = None,
    count: Annotated[
        list[int] | None, typer.Option("--count", min=3, metavar="N", help="Also tell about so many models. Repeatable.")
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=200, metavar="N", help="Sets of models that are drawn.", rich_help_panel=STATISTICS)
    ] = 4_000,
    level: Level = 0.95,
    seed: Seed = 0,
    output: Report = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say how many models give an interval of the slope of a given width."""
    sets = loaded(runs, labels, most=2, alias=alias, worst_first=worst_first, models=models, exclude=exclude)
    from resit.study.plan_models import SIZES, plan_models

    found = plan_models(
        width,
        runs=sets,
        lowest=lowest,
        highest=highest,
        scatter=scatter,
        slope=slope,
        drop=drop,
        n=n,
        new_n=new_n,
        count=count or SIZES,
        level=level,
        resamples=resamples,
        seed=seed,
    )
    show_plan(found, output, as_json=as_json)


@plan.command()
def swap(
    difference: Annotated[float, typer.Option(help="How much better the first model is on the original: 0.01.")],
    new_difference: Annotated[float | None, typer.Option(help="How much worse it is on the new set. Default: as much.")] = None,
    discordance: Annotated[
        float | None, typer.Option(help="Fraction of original examples that exactly one of the two gets right.")
    ] = None,
    new_discordance: Annotated[float | None, typer.Option(help="The same on the new set. Default: as there.")] = None,
    accuracy: Annotated[
        float | None, typer.Option(help="Of the two models, where no discordance is known: then as if independent.")
    ] = None,
    runs: FromBoth = None,
    labels: Labels = None,
    alias: Alias = None,
    worst_first: WorstFirst = None,
    models: Models = None,
    exclude: Exclude = None,
    count: Annotated[
        int | None, typer.Option("--count", min=2, metavar="N", help="Models in all. Default: those of --from, or two.")
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, metavar="N", help="Original examples. Default: those of --from.")
    ] = None,
    new_n: Annotated[
        int | None, typer.Option("--new-n", min=1, metavar="N", help="New examples. Default: those of --from.")
    ] = None,
    power: Power = 0.8,
    level: Level = 0.95,
    output: Report = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what it takes to see that two models truly change places."""
    sets = loaded(runs, labels, most=2, alias=alias, worst_first=worst_first, models=models, exclude=exclude)
    from resit.study.plan_swap import plan_swap

    found = plan_swap(
        difference,
        new_difference=new_difference,
        discordance=discordance,
        new_discordance=new_discordance,
        accuracy=accuracy,
        runs=sets,
        count=count,
        n=n,
        new_n=new_n,
        power=power,
        level=level,
    )
    show_plan(found, output, as_json=as_json)
