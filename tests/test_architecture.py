"""The plan of the house, held by reading the source: who imports whom, how long files are, what loads when."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "resit"
ROOMS = (
    *("errors", "data", "stats", "store", "models", "evaluate", "build", "study", "report", "simulate", "web", "cli"),
    "__main__",
)
# stats takes arrays and knows nothing of what they mean or where they come from.
ONLY = {"errors": set(), "stats": {"errors"}}
# The report draws the records of a Result; what it computes it would have to explain.
REPORT_MAY_IMPORT = {
    "resit.study.result",
    "resit.study.estimate",
    "resit.study.explain_result",
    "resit.study.human_result",
    "resit.study.plan_result",
    "resit.study.progress_result",
    "resit.study.groups_result",
    "resit.study.serialize",
    "resit.study.retrain_result",
}
# The rooms at the bottom are imported by nobody else.
MAY_IMPORT = {("cli", "web"), ("__main__", "cli")}
STATS_MAY_NOT_IMPORT = {"pathlib", "os", "io", "pyarrow", "csv", "json", "sys", "shutil", "tempfile"}
HEAVY = ("scipy.stats", "pyarrow", "vl_convert", "jinja2", "pydantic", "typer", "rich", "scipy.special", "numpy")
LONGEST = 400


def imports(path: Path, root: Path) -> Iterator[tuple[str, str]]:
    """Every module that a file imports, wherever in it, with the name taken from it (or ""); relative imports made absolute."""
    parts = ("resit", *path.relative_to(root).with_suffix("").parts)
    package = parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name != "resit")
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "resit":
            yield "resit", node.attr
        elif isinstance(node, ast.ImportFrom):
            base = (
                ".".join((*package[: len(package) - node.level + 1], *filter(None, [node.module])))
                if node.level
                else node.module
            )
            yield from ((base or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            yield from ((str(argument.value), "") for argument in node.args[:1] if isinstance(argument, ast.Constant))


def room_of(module: str, name: str) -> str | None:
    """The room of resit that an import reaches, or None where it leaves the house."""
    if module == "resit":
        return name
    return module.split(".")[1] if module.startswith("resit.") else None


def broken_rules(root: Path) -> list[str]:
    """Every place where a file in ``root`` (a folder like src/resit) breaks the plan."""
    found = []
    for path in sorted(root.rglob("*.py")):
        where = path.relative_to(root).as_posix()
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LONGEST:
            found.append(f"{where}: {lines} lines, more than {LONGEST}")
        if where == "__init__.py":
            continue
        room = where.split("/")[0].removesuffix(".py")
        if room not in ROOMS:
            found.append(f"{where}: not in a room of the plan")
            continue
        for module, name in imports(path, root):
            found += [f"{where}: {fault}" for fault in faults_of_import(room, module, name)]
    return found


def faults_of_import(room: str, module: str, name: str) -> Iterator[str]:
    """What is wrong with a room importing a name from a module."""
    target = room_of(module, name)
    shown = f"{module}.{name}" if name else module
    if room == "stats" and module.split(".")[0] in STATS_MAY_NOT_IMPORT:
        yield f"stats imports {shown}"
    if target is None or target == room:
        return
    if target not in ROOMS:
        if not (target == "__version__" or room == "cli"):
            yield f"{room} imports {shown}, which is no room"
    elif ROOMS.index(target) > ROOMS.index(room):
        yield f"{room} imports {shown}, which stands below it"
    elif (room, target) not in MAY_IMPORT and target in ("web", "cli"):
        yield f"{room} imports {shown}, which nobody may"
    elif target not in ONLY.get(room, ROOMS):
        yield f"{room} imports {shown}; it may import only {', '.join(sorted(ONLY[room])) or 'nothing'}"
    elif room == "report" and target == "stats":
        yield f"report imports {shown}; it computes nothing"
    elif room == "report" and target == "study" and not ({module, shown} & REPORT_MAY_IMPORT):
        yield f"report imports {shown}; of study it may import only records and their reading"


def undocumented(root: Path) -> list[str]:
    """Public modules, functions, classes and methods without a docstring."""
    found = []
    for path in sorted(root.rglob("*.py")):
        where = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += [] if ast.get_docstring(tree) else [where]
        found += [f"{where}: {name}" for name in _bare(tree, "")]
    return found


def _bare(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            if not ast.get_docstring(child) and not any("overload" in ast.unparse(mark) for mark in child.decorator_list):
                yield prefix + child.name
            if isinstance(child, ast.ClassDef):
                yield from _bare(child, f"{prefix}{child.name}.")


def test_every_room_imports_only_rooms_above_it():
    assert broken_rules(PACKAGE) == []


def test_everything_public_is_documented():
    assert undocumented(PACKAGE) == []


@pytest.mark.parametrize(
    ("file", "source", "fault"),
    [
        ("data/a.py", "import resit.study.compare", "stands below"),
        ("data/a.py", "from resit import stats", "stands below"),
        ("data/a.py", "from ..study import compare", "stands below"),
        ("errors.py", "from resit.data import load", "stands below"),
        ("stats/a.py", "def f():\n    from resit.data.models import ModelId", "only errors"),
        ("stats/a.py", "from pathlib import Path", "stats imports pathlib"),
        ("stats/a.py", "import pyarrow.parquet as pq", "stats imports pyarrow"),
        ("stats/a.py", "def f():\n    import os.path", "stats imports os"),
        ("study/a.py", "from resit.report import report", "stands below"),
        ("study/a.py", "import importlib\nimportlib.import_module('resit.report')", "stands below"),
        ("report/a.py", "from resit.stats.intervals import newcombe", "computes nothing"),
        ("report/a.py", "from resit.study.compare import compare", "only records"),
        ("report/a.py", "from resit.study import compare", "only records"),
        ("report/a.py", "from resit.cli import main", "stands below"),
        ("report/a.py", "import resit\nresit.compare()", "no room"),
        ("__main__.py", "from resit.web import app", "nobody may"),
        ("web/a.py", "from resit.cli import main", "stands below"),
        ("extra/a.py", "", "not in a room"),
        ("study/a.py", "x = 1\n" * 401, "401 lines"),
    ],
)
def test_a_broken_rule_is_found(tmp_path: Path, file: str, source: str, fault: str):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    assert any(fault in found for found in broken_rules(tmp_path)), broken_rules(tmp_path)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("stats/a.py", "import numpy as np\nfrom scipy import special\nfrom resit.errors import UsageError\nfrom .b import c"),
        ("study/a.py", "from resit.data.models import ModelId\nfrom resit.stats import intervals\nfrom . import result"),
        ("report/a.py", "from resit.study.result import Result\nfrom resit.study import serialize\nfrom pathlib import Path"),
        ("study/b.py", "import resit\nresit.__version__"),
        ("cli/a.py", "import resit\nresit.compare\nfrom resit.study.compare import compare\nfrom resit import __version__"),
        ("__main__.py", "from resit.cli import main"),
        ("cli/a.py", "from resit.web import run"),
        ("study/a.py", "x = 1\n" * 400),
    ],
)
def test_what_the_plan_allows_passes(tmp_path: Path, file: str, source: str):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    assert broken_rules(tmp_path) == []


def test_what_is_not_documented_is_found(tmp_path: Path):
    source = '"""A."""\nclass A:\n    """B."""\n    def b(self): ...\n    def _c(self): ...\ndef d(): ...\ndef _e(): ...\n'
    (tmp_path / "a.py").write_text(source)
    (tmp_path / "b.py").write_text("x = 1\n")
    assert undocumented(tmp_path) == ["a.py: A.b", "a.py: d", "b.py"]


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_resit_loads_nothing_heavy():
    assert not loaded_by("import resit; dir(resit); resit.__version__") & set(HEAVY)


def test_the_help_loads_nothing_of_the_science():
    heavy = set(HEAVY) - {"typer", "rich", "pydantic"}
    assert not loaded_by("from resit.cli import run; run(['compare', '--help'])") & heavy


def test_reading_and_the_records_do_not_load_what_draws():
    drawing = {"vl_convert", "jinja2", "typer", "rich"}
    assert not loaded_by("from resit import Result, compare, load_predictions, plan") & drawing


def test_the_report_room_loads_what_draws_only_when_it_draws():
    assert not loaded_by("from resit import report") & {"vl_convert", "typer", "rich"}


def test_the_public_names_are_there_and_nothing_hides_them():
    code = (
        "import types, resit, resit.report, resit.study.compare, resit.study.plan; import resit.report as again\n"
        "for name in resit.__all__: assert getattr(resit, name) is not None and name in dir(resit), name\n"
        "assert callable(resit.report) and callable(resit.compare) and callable(resit.plan) and callable(again)\n"
        "assert set(resit._HOME) | {'__version__'} == set(resit.__all__)\n"
        "try: resit.nothing\n"
        "except AttributeError: print('done')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()
