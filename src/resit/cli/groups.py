"""``resit groups``: who is left behind, and by how much."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resit.cli.options import (
    INPUT,
    STATISTICS,
    Alias,
    Classes,
    Debug,
    Exclude,
    Json,
    Level,
    Models,
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


def groups(
    paths: Annotated[list[Path], typer.Argument(metavar="SET [SET]…", help="Predictions on sets with group columns.")],
    by: Annotated[list[str], typer.Option(metavar="COLUMN", help="Group column. Repeatable: each, and all crossed.")],
    pair: Annotated[
        str | None, typer.Option(metavar="GROUP,GROUP", help="Two groups named in advance: the first minus the second.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Clusters, such as households, that are redrawn whole.")
    ] = None,
    original: Annotated[
        Path | None, typer.Option(metavar="ORIGINAL", help="Set against whose accuracies disparity is held, over models.")
    ] = None,
    quantiles: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=N", help="Cut a column of numbers into N groups of about equal size. Repeatable."),
    ] = None,
    class_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Classes of class-macro and standardised accuracy. Default: accepted labels."),
    ] = None,
    refuse_missing: Annotated[
        bool, typer.Option("--refuse-missing", help="Refuse examples without a group, instead of grouping them.")
    ] = False,
    name: Names = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--labels",
            metavar="[SET=]PATH[::COLUMN]",
            help="Labels and group columns: one for each path in order, the original last, or SET=PATH. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    classes: Classes = None,
    alias: Alias = None,
    worst_first: WorstFirst = None,
    models: Models = None,
    exclude: Exclude = None,
    min_size: Annotated[
        int, typer.Option(min=0, metavar="N", help="Smaller groups are flagged, not headline.", rich_help_panel=STATISTICS)
    ] = 30,
    resamples: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Permutations, and resamples of clusters and models.", rich_help_panel=STATISTICS
        ),
    ] = 10_000,
    level: Level = 0.95,
    seed: Seed = 0,
    output: Output = Path("resit-report"),
    no_report: NoReport = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say how accurate models are on each group of SET, and how far the best group is ahead of the worst."""
    from resit.cli.group_summary import group_summary
    from resit.cli.show import progress as shown
    from resit.cli.show import show

    if not no_report:
        from resit.report.write import check_directory

        check_directory(output)
    with shown(quiet=quiet) as tell:
        everything = [*paths, original] if original else paths
        loaded = load_all(everything, PathOptions(name, labels, classes), tell)
        from resit.study.groups import groups as library_groups

        result = library_groups(
            *loaded[: len(paths)],
            by=by,
            pair=_pair(pair),
            cluster=cluster,
            original=loaded[-1] if original else None,
            quantiles=_quantiles(quantiles),
            class_column=class_column,
            min_size=min_size,
            refuse_missing=refuse_missing,
            models=tuple(models or ()),
            exclude=tuple(exclude or ()),
            alias=pairs(alias, "--alias", "FOUND=NAME") or None,
            worst_first=tuple(worst_first or ()),
            level=level,
            seed=seed,
            resamples=resamples,
            progress=tell,
        )
    show(result, group_summary, None if no_report else output, as_json=as_json, quiet=quiet)


def _pair(value: str | None) -> tuple[str, str] | None:
    if value is None:
        return None
    names = tuple(name.strip() for name in value.split(","))
    if len(names) != 2 or not all(names):
        raise UsageError(f"{value!r} is not of the form GROUP,GROUP", where="--pair", fix="Write --pair Europe,Africa")
    return names[0], names[1]


def _quantiles(values: list[str] | None) -> dict[str, int]:
    found = pairs(values, "--quantiles", "COLUMN=N")
    for column, parts in found.items():
        if not parts.isdecimal():
            raise UsageError(f"{parts!r} is no whole number", where=f"--quantiles {column}={parts}", fix=f"Write {column}=4")
    return {column: int(parts) for column, parts in found.items()}
