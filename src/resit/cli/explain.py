"""``resit explain``: where the drop between two test sets comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from resit.cli.options import (
    INPUT,
    RUN,
    STATISTICS,
    Alias,
    AllowDifferentTransforms,
    Classes,
    Debug,
    Exclude,
    Json,
    Labels,
    Level,
    Models,
    ModelTable,
    Names,
    NoReport,
    Output,
    Quiet,
    Seed,
    WorstFirst,
    pairs,
)
from resit.cli.sources import PathOptions, load_all
from resit.errors import UsageError

if TYPE_CHECKING:
    from resit.study.explain_result import Explanation

TRAINING = "Training"


def explain(
    paths: Annotated[list[Path] | None, typer.Argument(metavar="ORIGINAL NEW", help="Predictions on both sets.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the hypotheses, and do nothing else.")] = False,
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Ask only this hypothesis. Repeatable.")] = None,
    benchmark: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Images of ORIGINAL, then of NEW. Default: known from runs.", rich_help_panel=INPUT),
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Training data of the original; quoted globs. Repeatable.", rich_help_panel=INPUT),
    ] = None,
    build: Annotated[
        Path | None,
        typer.Option(metavar="BUILD", help="Build that made NEW: votes, near-duplicates, revisions.", rich_help_panel=INPUT),
    ] = None,
    candidates: Annotated[
        Path | None,
        typer.Option(metavar="RUNS", help="Answers on more of the build's candidates, by their ids.", rich_help_panel=INPUT),
    ] = None,
    original_votes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Votes on images of ORIGINAL.", rich_help_panel=INPUT)
    ] = None,
    new_votes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Votes on images of NEW.", rich_help_panel=INPUT)
    ] = None,
    original_duplicates: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Judged pairs of images of ORIGINAL with training images.", rich_help_panel=INPUT),
    ] = None,
    new_duplicates: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same of NEW. Default: those of the build.", rich_help_panel=INPUT),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUNS=VOTES",
            help="Predictions on another new set, and votes on its images. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    human: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What people scored in the exam.", rich_help_panel=INPUT)
    ] = None,
    name: Names = None,
    labels: Labels = None,
    classes: Classes = None,
    model_table: ModelTable = None,
    models: Models = None,
    exclude: Exclude = None,
    alias: Alias = None,
    worst_first: WorstFirst = None,
    allow_different_transforms: AllowDifferentTransforms = False,
    trainer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What is trained: resnet (default), pixels, features:MODEL, …", rich_help_panel=TRAINING
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Folds of cross-validation.", rich_help_panel=TRAINING)] = 6,
    seeds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Trainings with different seeds.", rich_help_panel=TRAINING)
    ] = 2,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep finished trainings there, to go on from.", rich_help_panel=TRAINING),
    ] = None,
    executor: Annotated[
        Literal["local", "ray"], typer.Option(help="What runs folds and grids.", rich_help_panel=RUN)
    ] = "local",
    address: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of the Ray cluster.", rich_help_panel=RUN)] = None,
    metric: Annotated[Literal["top1", "top5"], typer.Option(help="Which accuracy.", rich_help_panel=STATISTICS)] = "top1",
    tried: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Models ever scored on ORIGINAL. Default: as given.", rich_help_panel=STATISTICS),
    ] = None,
    hardest: Annotated[
        float, typer.Option(metavar="FRACTION", help="Fraction of images that counts as hard.", rich_help_panel=STATISTICS)
    ] = 0.05,
    resamples: Annotated[
        int, typer.Option(min=50, metavar="N", help="Resamples of examples.", rich_help_panel=STATISTICS)
    ] = 2_000,
    level: Level = 0.95,
    seed: Seed = 0,
    output: Output = Path("resit-report"),
    no_report: NoReport = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Ask where the drop from ORIGINAL to NEW comes from: every hypothesis that the given material allows."""
    if list_all:
        _list()
        return
    if len(paths or []) != 2:
        fix = "Write resit explain ORIGINAL NEW."
        raise UsageError(f"two sets are needed; {len(paths or [])} given", fix=fix)
    if benchmark and len(benchmark) != 2:
        fix = "Give it once for ORIGINAL and once for NEW."
        raise UsageError(f"given {len(benchmark)} times for 2 sets", where="--benchmark", fix=fix)
    others = pairs(other, "--other", "RUNS=VOTES")
    if not no_report:
        from resit.report.write import check_directory

        check_directory(output)
    from resit.cli.show import progress, show

    with progress(quiet=quiet) as tell:
        original, new = load_all(paths or [], PathOptions(name, labels, classes), tell)
        from resit.data import load_model_table
        from resit.study.explain import explain as library_explain

        result = library_explain(
            original,
            new,
            only=tuple(only or ()),
            train=tuple(train or ()),
            classes=classes,
            original_benchmark=benchmark[0] if benchmark else None,
            new_benchmark=benchmark[1] if benchmark else None,
            original_votes=original_votes,
            new_votes=new_votes,
            original_duplicates=original_duplicates,
            new_duplicates=new_duplicates,
            others=[(load_all([Path(runs)], PathOptions(classes=classes), tell)[0], votes) for runs, votes in others.items()],
            build=build,
            candidates=load_all([candidates], PathOptions(classes=classes), tell)[0] if candidates else None,
            human=human,
            trainer=trainer,
            metric=metric,
            models=tuple(models or ()),
            exclude=tuple(exclude or ()),
            alias=pairs(alias, "--alias", "FOUND=NAME") or None,
            worst_first=tuple(worst_first or ()),
            model_table=load_model_table(model_table) if model_table else None,
            tried=tried,
            hardest=hardest,
            folds=folds,
            seeds=seeds,
            store=store,
            executor=executor,
            address=address,
            level=level,
            seed=seed,
            resamples=resamples,
            allow_different_transforms=allow_different_transforms,
            progress=tell,
        )
    show(result, _summary, None if no_report else output, as_json=as_json, quiet=quiet)


def _list() -> None:
    from resit.study.hypotheses.registry import hypotheses

    for one in hypotheses():
        trains = "  (trains models)" if one.trains else ""
        typer.echo(f"{one.name:<22}{one.question}{trains}\n{'':<22}{one.source}")


def _summary(result: Explanation) -> None:
    typer.echo(str(result))
