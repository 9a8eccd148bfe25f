"""``resit retrain``: what a new last layer does, for accuracy and for who is left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from resit.cli.options import INPUT, OUTPUT, STATISTICS, Debug, Json, Level, NoReport, Quiet, Seed, pairs
from resit.errors import UsageError

HEADS, RUN = "The heads", "The run"


def retrain(
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="MODEL", help="A model with a linear last layer: timm:….", rich_help_panel=INPUT),
    ],
    on: Annotated[
        str,
        typer.Option(
            metavar="BENCHMARK", help="Set with group columns: a path, a known name or NAME=PATH.", rich_help_panel=INPUT
        ),
    ],
    by: Annotated[str, typer.Option(metavar="COLUMN", help="Group column.", rich_help_panel=INPUT)],
    transfer: Annotated[
        str | None,
        typer.Option(metavar="BENCHMARK", help="Second set, which the new layer only answers.", rich_help_panel=INPUT),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Clusters, such as households: one fold each, and redrawn whole.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Class list of sets given as paths: a known one or a file.", rich_help_panel=INPUT),
    ] = None,
    allow_pickle: Annotated[
        bool,
        typer.Option("--allow-pickle", help="Load model files that can run code when they are read.", rich_help_panel=INPUT),
    ] = False,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Train on groups of one size, averaged over draws.", rich_help_panel=HEADS)
    ] = False,
    refits: Annotated[int, typer.Option(min=1, metavar="N", help="Draws of --balanced.", rich_help_panel=HEADS)] = 10,
    folds: Annotated[
        int,
        typer.Option(min=3, metavar="N", help="Each is answered by a head of the others.", rich_help_panel=HEADS),
    ] = 5,
    grid: Annotated[
        str | None,
        typer.Option(metavar="C,C,…", help="Strengths to choose from. Default: 0.00001 to 1 by tens.", rich_help_panel=HEADS),
    ] = None,
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="GROUP,GROUP",
            help="Two groups named in advance: the first minus the second.",
            rich_help_panel=STATISTICS,
        ),
    ] = None,
    quantiles: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=N", help="Cut a group column of numbers into N groups.", rich_help_panel=STATISTICS),
    ] = None,
    min_size: Annotated[
        int, typer.Option(min=0, metavar="N", help="Smaller groups are flagged, not headline.", rich_help_panel=STATISTICS)
    ] = 30,
    resamples: Annotated[
        int, typer.Option(min=0, metavar="N", help="Permutations, and resamples of clusters.", rich_help_panel=STATISTICS)
    ] = 10_000,
    level: Level = 0.95,
    seed: Seed = 0,
    exif: Annotated[
        Literal["apply", "ignore"],
        typer.Option(help="What to do with the orientation that EXIF tells.", rich_help_panel=RUN),
    ] = "apply",
    features: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where features are kept. Default: features in --output.", rich_help_panel=RUN),
    ] = None,
    device: Annotated[
        str, typer.Option(metavar="NAME", help="auto (CUDA, MPS, CPU), cpu, cuda, cuda:1, mps.", rich_help_panel=RUN)
    ] = "auto",
    precision: Annotated[
        Literal["float32", "float16", "bfloat16"],
        typer.Option(help="Half precision changes features a little; it is recorded.", rich_help_panel=RUN),
    ] = "float32",
    compile_: Annotated[bool, typer.Option("--compile", help="Let torch compile the model.", rich_help_panel=RUN)] = False,
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Default: 256 on an accelerator, 32 on a CPU.", rich_help_panel=RUN),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Threads that decode. Default: the cores.", rich_help_panel=RUN)
    ] = None,
    max_errors: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="FRACTION", help="Unreadable images above which the run fails.", rich_help_panel=RUN
        ),
    ] = 0.01,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Gets the head, its features and the report.", rich_help_panel=OUTPUT
        ),
    ] = Path("retrained"),
    no_report: NoReport = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Train a new last layer on a model's features, and say what it changes: accuracy and disparity, before and after."""
    from resit.cli.retrain_summary import retrain_summary
    from resit.cli.show import progress as shown
    from resit.cli.show import show

    target = output / "report"
    if not no_report:
        from resit.report.write import check_directory

        check_directory(target)
    from resit.models.heads import GRID
    from resit.study.retrain import retrain_last_layer

    with shown(quiet=quiet) as tell:
        result = retrain_last_layer(
            model,
            on,
            output,
            by=by,
            transfer=transfer,
            pair=_pair(pair),
            cluster=cluster,
            quantiles=_quantiles(quantiles),
            classes=classes,
            balanced=balanced,
            refits=refits,
            folds=folds,
            grid=_grid(grid) or GRID,
            min_size=min_size,
            features=features,
            orientation=exif,
            batch_size=batch_size,
            workers=workers,
            device=device,
            precision=precision,
            compile=compile_,
            allow_pickle=allow_pickle,
            max_errors=max_errors,
            level=level,
            seed=seed,
            resamples=resamples,
            progress=tell,
        )
    show(result, retrain_summary, None if no_report else target, as_json=as_json, quiet=quiet)


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


def _grid(value: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in value.split(",")) if value else ()
    except ValueError as error:
        raise UsageError(f"{value!r} are no numbers", where="--grid", fix="Write --grid 0.001,0.01,0.1") from error
