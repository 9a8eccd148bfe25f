"""``resit progress``: what progress on an original test set goes with on other sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resit.cli.options import (
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
    pairs,
)
from resit.cli.sources import PathOptions, load_all
from resit.errors import UsageError


def progress(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="ORIGINAL SET [SET]…", help="Predictions or accuracy tables, the original first."),
    ],
    standard: Annotated[
        str | None,
        typer.Option(metavar="SET", help="Set that the others are held against. Default: the first after the original."),
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
    """Say what a gain on ORIGINAL goes with on each SET, and how much less it buys there than on a standard one."""
    from resit.cli.show import progress as shown
    from resit.cli.show import progress_summary, show

    if len(paths) < 2:
        raise UsageError("progress needs an original and at least one other set", fix="Write resit progress ORIGINAL SET.")
    if not no_report:
        from resit.report.write import check_directory

        check_directory(output)
    with shown(quiet=quiet) as tell:
        original, *others = load_all(paths, PathOptions(name, labels, classes, n, unit, column), tell)
        from resit.data import load_model_table
        from resit.study.progress import progress as library_progress

        result = library_progress(
            original,
            *others,
            standard=standard,
            models=tuple(models or ()),
            exclude=tuple(exclude or ()),
            alias=pairs(alias, "--alias", "FOUND=NAME") or None,
            worst_first=tuple(worst_first or ()),
            model_table=load_model_table(model_table) if model_table else None,
            level=level,
            seed=seed,
            bootstrap=bootstrap,
            model_resamples=model_resamples,
            example_resamples=example_resamples,
            weighting=weighting,
            allow_different_transforms=allow_different_transforms,
            progress=tell,
        )
    show(result, progress_summary, None if no_report else output, as_json=as_json, quiet=quiet)
