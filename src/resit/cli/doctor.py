"""``resit doctor``: what is wrong with these files, and what to do about it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resit.cli.options import INPUT, Classes, Columns, Debug, Json, UnitOption, pairs

if TYPE_CHECKING:
    from resit.data.doctor import Finding

PROBLEMS = 1


def doctor(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Predictions, accuracy tables or folders of them.")],
    labels: Annotated[
        str | None, typer.Option("--labels", metavar="PATH", help="Labels of all these paths.", rich_help_panel=INPUT)
    ] = None,
    classes: Classes = None,
    unit: UnitOption = None,
    column: Columns = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what is wrong with files and what to do about it. Exit code 1 where something is."""
    from resit.cli.show import progress
    from resit.data.doctor import examine

    columns = pairs(column, "--column", "ROLE=COLUMN") or None
    with progress() as tell:
        tell(f"Examining {len(paths)} path{'s' if len(paths) != 1 else ''}")
        findings = examine(*paths, labels=labels, classes=classes, unit=unit, columns=columns)
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], default=str, indent=1, ensure_ascii=False))
    else:
        _show(findings)
    if any(finding.error or finding.notices for finding in findings):
        raise typer.Exit(PROBLEMS)


def _show(findings: tuple[Finding, ...]) -> None:
    from rich.text import Text

    from resit.cli.show import bullet, on_output

    console = on_output()
    for finding in findings:
        mark, style = ("✗", "red") if finding.error else ("!", "yellow") if finding.notices else ("✓", "green")
        text = finding.error or f"{finding.path}: {finding.summary}"
        bullet(console, text, mark=Text(mark, style))
        for notice in finding.notices:
            bullet(console, str(notice), indent=2)
