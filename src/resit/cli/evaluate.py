"""``resit evaluate``: ask models about benchmarks, and store what they answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from resit.cli.options import INPUT, OUTPUT, Debug, Json, Quiet

RUN, PREPARATION = "The run", "Preparation and classes"


def evaluate(
    models: Annotated[
        list[str],
        typer.Option(
            "--models",
            "-m",
            metavar="MODEL,…",
            help="Models, such as timm:resnet50.a1_in1k. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ],
    on: Annotated[
        list[str],
        typer.Option(
            "--on",
            metavar="BENCHMARK,…",
            help="Benchmarks: paths, known names (see resit data list) or NAME=PATH. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Gets one folder a benchmark.", rich_help_panel=OUTPUT)
    ] = Path("runs"),
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Class list of benchmarks given as paths: a known one, such as imagenet-1k, or a file.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    allow_pickle: Annotated[
        bool,
        typer.Option("--allow-pickle", help="Load model files that can run code when they are read.", rich_help_panel=INPUT),
    ] = False,
    label_space: Annotated[
        Literal["auto", "full", "subset"],
        typer.Option(
            help="Classes that answers are taken from: all of the class list, or the test set's subset. auto: its convention.",
            rich_help_panel=PREPARATION,
        ),
    ] = "auto",
    exif: Annotated[
        Literal["apply", "ignore"],
        typer.Option(help="What to do with the orientation that EXIF tells.", rich_help_panel=PREPARATION),
    ] = "apply",
    top: Annotated[int, typer.Option(min=1, metavar="K", help="Answers to keep, best first.", rich_help_panel=PREPARATION)] = 5,
    device: Annotated[
        str, typer.Option(metavar="NAME", help="auto (CUDA, MPS, CPU), cpu, cuda, cuda:1, mps.", rich_help_panel=RUN)
    ] = "auto",
    precision: Annotated[
        Literal["float32", "float16", "bfloat16"],
        typer.Option(help="Half precision changes scores a little; it is recorded.", rich_help_panel=RUN),
    ] = "float32",
    compile_: Annotated[bool, typer.Option("--compile", help="Let torch compile the models.", rich_help_panel=RUN)] = False,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Default: 256 on an accelerator, 32 on a CPU, less where memory asks.", rich_help_panel=RUN
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Threads that decode. Default: the cores.", rich_help_panel=RUN)
    ] = None,
    models_at_once: Annotated[
        int, typer.Option(min=1, metavar="N", help="Models in memory together, which share the decoding.", rich_help_panel=RUN)
    ] = 8,
    max_errors: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="FRACTION", help="Unreadable images above which the run fails.", rich_help_panel=RUN
        ),
    ] = 0.01,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace stored answers that were made in another way.", rich_help_panel=RUN)
    ] = False,
    executor: Annotated[Literal["local", "ray"], typer.Option(help="Where models are asked.", rich_help_panel=RUN)] = "local",
    address: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Ray cluster; auto finds one. Default: this machine.", rich_help_panel=RUN),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Ask models about benchmarks and store their answers, for compare, groups and progress to read.

    An interrupted run goes on where it stopped when the same command is given again.
    """
    from resit.cli.evaluation import show_evaluation
    from resit.cli.show import progress as shown
    from resit.evaluate.run import evaluate as library_evaluate

    with shown(quiet=quiet) as tell:
        result = library_evaluate(
            _parts(models),
            _parts(on),
            output,
            label_space=label_space,
            classes=classes,
            top=top,
            orientation=exif,
            batch_size=batch_size,
            workers=workers,
            device=device,
            precision=precision,
            compile=compile_,
            allow_pickle=allow_pickle,
            max_errors=max_errors,
            models_at_once=models_at_once,
            overwrite=overwrite,
            executor=executor,
            address=address,
            progress=tell,
        )
    if as_json:
        typer.echo(result.to_json())
    else:
        show_evaluation(result, quiet=quiet)


def _parts(values: list[str]) -> list[str]:
    """Split at commas, except in a path that exists and in the settings of a model."""
    return [part for value in values for part in _split(value)]


def _split(value: str) -> list[str]:
    name, equals, path = value.partition("=")
    if _exists(value) or (equals and "," not in name and _exists(path)):
        return [value]
    parts: list[str] = []
    for part in value.split(","):
        if parts and "?" in parts[-1] and ":" not in part:
            parts[-1] += f",{part}"
        else:
            parts.append(part.strip())
    return [part for part in parts if part]


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # such as a list that is longer than a file's name may be
        return False
