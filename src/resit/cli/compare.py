"""``resit compare``: an original and new test sets, compared, shown and reported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from resit.cli.options import (
    INPUT,
    OUTPUT,
    REPAIRS,
    STATISTICS,
    WAIVED,
    Classes,
    Columns,
    Debug,
    Json,
    Labels,
    Level,
    Names,
    Quiet,
    Sizes,
    UnitOption,
    overlaps,
    pairs,
)
from resit.cli.sources import PathOptions, load_all
from resit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from resit.study.result import Result

Resampling = Literal["models", "examples", "crossed", "families"]
Weighting = Literal["micro", "class-macro"]


def compare(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="ORIGINAL NEW [NEW]…", help="Predictions or accuracy tables: the original first, then new test sets."
        ),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(
            "--published",
            metavar="NAME",
            help="Compare figures that ship with resit: imagenetv2, cifar10.1.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    name: Names = None,
    labels: Labels = None,
    classes: Classes = None,
    n: Sizes = None,
    unit: UnitOption = None,
    column: Columns = None,
    model_table: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME", help="Families, kinds and dates of models: a file, or a published name.", rich_help_panel=INPUT
        ),
    ] = None,
    alias: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOUND=NAME", help="A model that has another name in one file. Repeatable.", rich_help_panel=REPAIRS
        ),
    ] = None,
    worst_first: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL@SET", help="A file whose classes are stored worst first. Repeatable.", rich_help_panel=REPAIRS
        ),
    ] = None,
    models: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Compare only these models. Repeatable.", rich_help_panel=REPAIRS)
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Leave these models out. Repeatable.", rich_help_panel=REPAIRS)
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="Models that the line is fitted over: names, or kind=convnet of the model table. Repeatable. Default: all.",
            rich_help_panel=REPAIRS,
        ),
    ] = None,
    overlap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SET,SET=COUNT",
            help="Examples that two new sets share, such as v4,v6=1800. Repeatable.",
            rich_help_panel=REPAIRS,
        ),
    ] = None,
    allow_different_transforms: Annotated[
        bool,
        typer.Option(
            "--allow-different-transforms",
            help="Compare although a model's images were prepared differently on the two sets.",
            rich_help_panel=WAIVED,
        ),
    ] = False,
    bootstrap: Annotated[
        Resampling, typer.Option(help="What the intervals of the line resample.", rich_help_panel=STATISTICS)
    ] = "models",
    model_resamples: Annotated[
        int, typer.Option(min=0, metavar="N", help="Resamples over models or families.", rich_help_panel=STATISTICS)
    ] = 100_000,
    example_resamples: Annotated[
        int, typer.Option(min=0, metavar="N", help="Resamples over examples, and crossed ones.", rich_help_panel=STATISTICS)
    ] = 2_000,
    weighting: Annotated[
        Weighting, typer.Option(help="Each example counts the same, or each class.", rich_help_panel=STATISTICS)
    ] = "micro",
    level: Level = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of everything that is random.", rich_help_panel=STATISTICS)] = 0,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the report goes.", rich_help_panel=OUTPUT)
    ] = Path("resit-report"),
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=OUTPUT)] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare what models score on an original test set and on new ones, and write a report.

    ORIGINAL and each NEW are a folder of one file a model, a table of predictions, or a table of accuracies.
    """
    from resit.cli.show import progress, say, summary

    settings: dict[str, Any] = {
        "models": tuple(models or ()),
        "exclude": tuple(exclude or ()),
        "alias": pairs(alias, "--alias", "FOUND=NAME") or None,
        "worst_first": tuple(worst_first or ()),
        "overlap": overlaps(overlap) or None,
    }
    with progress(quiet=quiet) as tell:
        original, new, defaults = _sources(paths or [], published, PathOptions(name, labels, classes, n, unit, column), tell)
        settings |= defaults
        if model_table:
            from resit.data import load_model_table

            settings["model_table"] = load_model_table(model_table)
        if baseline:
            settings["baseline"] = tuple(baseline)
        from resit.study.compare import compare as library_compare

        result = library_compare(
            original,
            *new,
            **settings,
            level=level,
            seed=seed,
            bootstrap=bootstrap,
            model_resamples=model_resamples,
            example_resamples=example_resamples,
            weighting=weighting,
            allow_different_transforms=allow_different_transforms,
            progress=tell,
        )
    if as_json:
        typer.echo(result.to_json())
    elif not quiet:
        summary(result)
    if not no_report:
        say(_report(result, output, quiet), aside=as_json, quiet=quiet)


def _sources(
    paths: Sequence[Path], published: str | None, options: PathOptions, tell: Callable[[str], None]
) -> tuple[Any, Sequence[Any], dict[str, Any]]:
    if published is None:
        if len(paths) < 2:
            fix = "Write resit compare ORIGINAL NEW, or resit compare --published imagenetv2."
            raise UsageError(f"a comparison needs an original and at least one new test set; {len(paths)} given", fix=fix)
        original, *new = load_all(paths, options, tell)
        return original, new, {}
    if mixed := [*(["paths"] if paths else []), *options.given()]:
        fix = "Leave out one of the two."
        raise UsageError(f"cannot be combined with {', '.join(mixed)}", where="--published", fix=fix)
    from resit.data import published as library_published

    tell(f"Reading the published figures of {published}")
    study = library_published(published)
    return study.original, study.new, {"model_table": study.table, "baseline": (study.baseline,)}


def _report(result: Result, directory: Path, quiet: bool) -> Path:
    from resit.cli.show import progress
    from resit.report import report

    with progress(quiet=quiet) as tell:
        tell("Writing the report")
        return report(result, directory)
