"""``resit build bias``: whether a new set is harder because votes are noisy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resit.cli.options import INPUT, STATISTICS, Debug, Folder, Json, Level, NoReport, Output, Quiet
from resit.errors import UsageError

if TYPE_CHECKING:
    from resit.data.predictions import Predictions


def bias(
    folder: Folder,
    runs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Answers of models: first on the original, then on the new set. Give it once or twice.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    fresh: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Votes that were given after the images were chosen: a table.", rich_help_panel=INPUT
        ),
    ] = None,
    revision: Annotated[str | None, typer.Option(metavar="REVISION", help="Default: the last one.")] = None,
    votes: Annotated[
        int | None,
        typer.Option(
            min=2, metavar="N", help="Votes to match on. Default: sampling.minimum_votes.", rich_help_panel=STATISTICS
        ),
    ] = None,
    delete: Annotated[
        int, typer.Option(min=1, metavar="N", help="Votes that the jackknife leaves out.", rich_help_panel=STATISTICS)
    ] = 1,
    resamples: Annotated[
        int, typer.Option(min=2, metavar="N", help="Resamples of images with their votes.", rich_help_panel=STATISTICS)
    ] = 1_000,
    level: Level = 0.95,
    seed: Annotated[int | None, typer.Option(min=0, help="Default: that of build.yaml.", rich_help_panel=STATISTICS)] = None,
    output: Output = Path("resit-report"),
    no_report: NoReport = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say how far a selection is from the original in true frequency, and correct the drop of each model for it."""
    from resit.build.steps.bias import measure_bias, read_fresh
    from resit.build.steps.opened import open_build
    from resit.cli.revisions import revision as number
    from resit.cli.show import progress, say

    if not no_report:
        from resit.report.write import check_directory

        check_directory(output)
    if not 0 < level < 1:
        raise UsageError(f"a level of {level:g}", where="--level", fix="Give one between 0 and 1.")
    with open_build(folder) as build, progress(quiet=quiet) as tell:
        original, new = _answers(runs)
        told = measure_bias(
            build,
            revision=number(revision) if revision else None,
            original=original,
            new=new,
            fresh=read_fresh(fresh) if fresh else None,
            votes=votes,
            delete=delete,
            resamples=resamples,
            level=level,
            seed=seed,
            tell=tell,
        )
        name = f"{build.config.name}, {revision or f'r{build.store.selection().revision}'}"
        if not no_report:
            from resit.report.bias import write_bias

            tell("Writing the report")
            page = write_bias(told, output, name)
    if as_json:
        typer.echo(json.dumps(told.to_record(), indent=1, ensure_ascii=False))
    elif not quiet:
        typer.echo(told)
    if not no_report:
        say(page, aside=as_json, quiet=quiet)


def _answers(runs: list[str] | None) -> tuple[Predictions | None, Predictions | None]:
    """On the original and on the new set, as far as they are given."""
    if runs is not None and len(runs) > 2:
        what = f"{len(runs)} runs"
        raise UsageError(what, where="--runs", fix="Give answers on the original, then on the new set.")
    from resit.data.load import load_predictions

    found = [load_predictions(path) for path in runs or ()]
    return (found[0] if found else None), (found[1] if len(found) > 1 else None)
