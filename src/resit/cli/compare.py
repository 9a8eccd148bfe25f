"""``resit compare``: an original and new test sets, compared, shown and reported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resit.cli.options import (
    INPUT,
    REPAIRS,
    Alias,
    AllowDifferentTransforms,
    Bootstrap,
    Classes,
    Columns,
    Debug,
    ExampleResamples,
    Exclude,
    Json,
    Labels,
    Level,
    ModelResamples,
    Models,
    ModelTable,
    Names,
    NoReport,
    Output,
    Quiet,
    Seed,
    Sizes,
    UnitOption,
    WeightingOption,
    WorstFirst,
    overlaps,
    pairs,
)
from resit.cli.sources import PathOptions, load_all
from resit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
    model_table: ModelTable = None,
    alias: Alias = None,
    worst_first: WorstFirst = None,
    models: Models = None,
    exclude: Exclude = None,
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
    human: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="How people did: what `resit build exam … results -o` wrote.", rich_help_panel=INPUT),
    ] = None,
    allow_different_transforms: AllowDifferentTransforms = False,
    bootstrap: Bootstrap = "models",
    model_resamples: ModelResamples = 100_000,
    example_resamples: ExampleResamples = 2_000,
    weighting: WeightingOption = "micro",
    level: Level = 0.95,
    seed: Seed = 0,
    output: Output = Path("resit-report"),
    no_report: NoReport = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare what models score on an original test set and on new ones, and write a report.

    ORIGINAL and each NEW are a folder of one file a model, a table of predictions, or a table of accuracies.
    """
    from resit.cli.show import progress, show, summary

    settings: dict[str, Any] = {
        "models": tuple(models or ()),
        "exclude": tuple(exclude or ()),
        "alias": pairs(alias, "--alias", "FOUND=NAME") or None,
        "worst_first": tuple(worst_first or ()),
        "overlap": overlaps(overlap) or None,
    }
    if not no_report:
        from resit.report.write import check_directory

        check_directory(output)
    with progress(quiet=quiet) as tell:
        original, new, defaults = _sources(paths or [], published, PathOptions(name, labels, classes, n, unit, column), tell)
        settings |= defaults
        if model_table:
            from resit.data import load_model_table

            settings["model_table"] = load_model_table(model_table)
        if baseline:
            settings["baseline"] = tuple(baseline)
        from resit.study.compare import compare as library_compare
        from resit.study.human_result import load_human

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
            human=load_human(human) if human else None,
            progress=tell,
        )
    show(result, summary, None if no_report else output, as_json=as_json, quiet=quiet)


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
