"""Every command and option has a help text and is described in a page that somebody wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from resit.cli.app import EXIT_CODES, app

ROOT = Path(__file__).parents[2]
PAGES = [page for page in (ROOT / "docs").rglob("*.md") if not {"generated", "_build"} & set(page.parts)]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "README.md"])
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]


def walk(commands: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by the words that call it."""
    for name, command in commands.items():
        yield before + name, command
        yield from walk(getattr(command, "commands", {}), f"{before}{name} ")


ALL = dict(walk(COMMANDS))


def options() -> Iterator[tuple[str, str, str | None]]:
    for name, command in {"": get_command(app), **ALL}.items():
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--"):
                    yield name, option, parameter.help


@pytest.mark.parametrize(("command", "option", "text"), [pytest.param(*found, id=" ".join(found[:2])) for found in options()])
def test_every_option_is_documented(command: str, option: str, text: str | None):
    assert text, f"{command} {option} has no help"
    assert re.search(rf"(?<![\w-]){option}(?![\w-])", TEXT), f"{command} {option} is in no page of docs/"


@pytest.mark.parametrize("command", ALL)
def test_every_command_is_documented(command: str):
    words = command.split()
    # What a group is given stands between its name and its command's.
    call = " ".join(["resit", *words]) if len(words) < 3 else rf"resit {' '.join(words[:2])} \S+ {words[2]}"
    assert re.search(rf"{call}(?![\w-])", TEXT)
    assert ALL[command].help


def test_every_exit_code_is_documented():
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    codes = re.findall(r"\b(\d+) ", EXIT_CODES)
    assert codes
    assert all(f"| {code} |" in page for code in codes)


def test_options_in_the_pages_exist():
    known = {option for _, option, _ in options()} | {"--help"}
    written = set(re.findall(r"(?<![\w`-])--[a-z][a-z-]*", " ".join(re.findall(r"(?m)^\$ resit .*$", TEXT))))
    assert written <= known
