"""How the documentation is built: strictly, offline, with references generated from the code itself."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

import resit
from resit.cli.app import app
from resit.study import explain_result, groups_result, human_result, progress_result, retrain_result
from resit.study import result as records

project = "resit"
author = "The resit developers"
copyright = "The resit developers"
version = release = resit.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "reference/generated/*"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "resit"
html_static_path = ["_static"]
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
html_show_sourcelink = False

autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
nitpicky = True
# Names of other projects and of type aliases: the build is offline, so there is nothing to link them to.
nitpick_ignore_regex = [("py:.*", r"(?!resit\b).*"), ("py:.*", r"resit\..*\.(Floats|Answers|Labels|Texts|Bools|Ints)")]

GENERATED = Path(__file__).parent / "reference" / "generated"


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command; arguments of a group stand before its commands."""
    yield words
    given = tuple(str(one.metavar) for one in command.params if one.param_type_name == "argument")
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, *given, name))


def write_cli_reference() -> None:
    """The pages of ``--help``, one a command, as the installed command prints them."""
    environment = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    parts = []
    for words in commands(get_command(app)):
        call = [sys.executable, "-m", "resit", *words, "--help"]
        text = subprocess.run(call, capture_output=True, encoding="utf-8", env=environment, check=True).stdout
        body = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
        parts.append(f"## {' '.join(['resit', *words])}\n\n```text\n{body}\n```\n")
    (GENERATED / "cli.md").write_text("\n".join(parts), encoding="utf-8")


def write_schema_reference() -> None:
    """The records of a result, one a section, with the type of every field as it stands in JSON."""
    homes = (records, progress_result, groups_result, human_result, retrain_result, explain_result)
    found = {name: kind for home in homes for name, kind in vars(home).items()}
    kinds = {name: kind for name, kind in found.items() if dataclasses.is_dataclass(kind) and isinstance(kind, type)}
    parts = []
    for name, kind in sorted(kinds.items(), key=lambda item: item[0] != "Result"):
        doc = re.sub(r"``(.+?)``", r"`\1`", (kind.__doc__ or "").strip()).replace("\n    ", "\n")
        rows = [f"| `{field.name}` | {json_type(str(field.type), kinds)} |" for field in dataclasses.fields(kind)]
        parts.append(
            "\n".join([f"(record-{name.lower()})=", f"## {name}", "", doc, "", "| key | value |", "|---|---|", *rows, ""])
        )
    (GENERATED / "result.md").write_text("\n".join(parts), encoding="utf-8")


def json_type(annotation: str, kinds: dict[str, Any]) -> str:
    """An annotation as JSON has it: numbers, strings, lists, objects."""
    simple = {"float": "number", "int": "whole number", "str": "string", "bool": "true or false", "None": "null"}
    simple |= {"State": "`ran`, `not run` or `failed`", "Unit": "`fraction`, `points`, `count` or `number`"}
    if found := re.fullmatch(r"Literal\[(.+)\]", annotation):
        return " or ".join(f"`{word.strip(chr(34))}`" for word in found[1].split(", "))
    if " | " in annotation and not annotation.endswith("]"):
        return " or ".join(json_type(part, kinds) for part in annotation.split(" | "))
    if found := re.fullmatch(r"tuple\[(\w+), \.\.\.\]( \| None)?", annotation):
        return f"list of {json_type(found[1], kinds)}{' or null' if found[2] else ''}"
    if found := re.fullmatch(r"dict\[str, (\w+)\]", annotation):
        return f"object of {json_type(found[1], kinds)}"
    if annotation in kinds:
        return f"[{annotation}](#record-{annotation.lower()})"
    return simple.get(annotation, f"`{annotation}`")


def setup(_: Any) -> None:
    """Write the generated pages before anything is read."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    write_cli_reference()
    write_schema_reference()
