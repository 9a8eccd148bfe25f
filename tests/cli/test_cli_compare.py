"""``resit compare``: what reaches the library, and what is shown."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from resit.errors import InputError, OutputError, UsageError
from resit.study.compare import compare as library_compare

LIBRARY = inspect.signature(library_compare)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, result):
    """Fakes of the library calls that note what they were asked."""
    seen = SimpleNamespace(loads=[], compare=None, report=None)

    def load(path, **options):
        seen.loads.append((str(path), options))
        return f"data of {path}"

    def compare(original, *new, **options):
        seen.compare = ((original, *new), options)
        options["progress"]("Fitting")
        return result

    def report(found, directory):
        seen.report = (found, directory)
        return directory / "index.html"

    monkeypatch.setattr("resit.data.load", load)
    monkeypatch.setattr("resit.data.load_model_table", lambda source: f"table {source}")
    monkeypatch.setattr("resit.study.compare.compare", compare)
    import resit.report  # noqa: F401 - so that the module is there to be faked

    monkeypatch.setattr(sys.modules["resit.report"], "report", report)
    return seen


def test_paths_and_their_options_go_to_the_path_they_belong_to(resit, asked):
    words = ["a", "b", "c.csv", "--name", "A", "--name", "B", "--name", "C", "--n", "50000,,7500", "--unit", "percent"]
    ended = resit(
        "compare", *words, "--labels", "B=lab=els", "--classes", "c.csv", "--column", "model=name", "--column", "top1=acc"
    )
    assert ended.code == 0, ended.err
    shared = {"columns": {"model": "name", "top1": "acc"}, "unit": "percent", "classes": "c.csv"}
    assert asked.loads == [
        ("a", {"labels": None, "n": 50000, "name": "A", **shared}),
        ("b", {"labels": "lab=els", "n": None, "name": "B", **shared}),
        ("c.csv", {"labels": None, "n": 7500, "name": "C", **shared}),
    ]
    assert asked.compare[0] == ("data of a", "data of b", "data of c.csv")


def test_labels_in_the_order_of_the_paths(resit, asked):
    resit("compare", "a", "b", "--labels", "x.npy", "--labels", "y.npy")
    assert [options["labels"] for _, options in asked.loads] == ["x.npy", "y.npy"]


def test_labels_by_the_name_of_a_set_inside_a_file(resit, asked):
    resit("compare", "all.csv::val", "all.csv::v2", "--labels", "v2=y.npy")
    assert [options["labels"] for _, options in asked.loads] == [None, "y.npy"]


def test_labels_whose_path_holds_an_equals_sign(resit, asked, tmp_path: Path):
    file = tmp_path / "a=b.npy"
    file.touch()
    resit("compare", "a", "b", "--labels", file, "--labels", file)
    assert [options["labels"] for _, options in asked.loads] == [str(file), str(file)]


def test_every_option_reaches_the_comparison(resit, asked):
    words = (
        "--alias fv_64k_model=fv_64k --worst-first fv_16k@mf --models fv_* --models v* --exclude *_16k --baseline kind=convnet "
        "--baseline alex* --bootstrap crossed --model-resamples 10 --example-resamples 20 --weighting class-macro "
        "--overlap v4,v6=1800 --allow-different-transforms --level 0.9 --seed 7 --model-table table.csv --no-report"
    )
    ended = resit("compare", "a", "b", *words.split())
    assert ended.code == 0, ended.err
    options = asked.compare[1]
    assert callable(options.pop("progress"))
    assert options == {
        "models": ("fv_*", "v*"),
        "exclude": ("*_16k",),
        "alias": {"fv_64k_model": "fv_64k"},
        "worst_first": ("fv_16k@mf",),
        "baseline": ("kind=convnet", "alex*"),
        "bootstrap": "crossed",
        "model_resamples": 10,
        "example_resamples": 20,
        "weighting": "class-macro",
        "overlap": {("v4", "v6"): 1800},
        "allow_different_transforms": True,
        "level": 0.9,
        "seed": 7,
        "model_table": "table table.csv",
        "human": None,
    }
    assert asked.report is None


def test_defaults_are_those_of_the_library(resit, asked):
    resit("compare", "a", "b", "--no-report")
    given = {name: value or None for name, value in asked.compare[1].items() if name != "progress"}
    library = {name: parameter.default or None for name, parameter in LIBRARY.parameters.items() if name in given}
    assert given == library


def test_published_brings_its_table_and_baseline(resit, asked, monkeypatch: pytest.MonkeyPatch):
    study = SimpleNamespace(original="o", new=("n1", "n2"), table="t", baseline="kind=convnet", citation="c")
    monkeypatch.setattr("resit.data.published", lambda name: study if name == "imagenetv2" else None)
    resit("compare", "--published", "imagenetv2", "--no-report")
    assert asked.compare[0] == ("o", "n1", "n2")
    assert (asked.compare[1]["model_table"], asked.compare[1]["baseline"]) == ("t", ("kind=convnet",))
    resit("compare", "--published", "imagenetv2", "--no-report", "--baseline", "alex*", "--model-table", "mine")
    assert (asked.compare[1]["model_table"], asked.compare[1]["baseline"]) == ("table mine", ("alex*",))


def test_summary_shows_figures_verdict_repairs_and_warnings(resit, asked, result):
    ended = resit("compare", "a", "b", "-o", "somewhere")
    assert ended.code == 0
    assert ended.err == ""
    for shown in (
        *("val (n = 50,000)", "v2 (n = 10,000)", "−12.00 [−13.00, −11.00]", "1.110 [1.078, 1.189]", "0.990", "0 of 2,211"),
        *("Better models stay better.", "alias a=b: a was read as b", "! fv_16k: Classes stored [worst] first."),
        f"Report: {Path('somewhere/index.html')}",
    ):
        assert shown in ended.out
    assert asked.report == (result, Path("somewhere"))


def test_json_has_standard_output_for_itself(resit, asked):
    ended = resit("compare", "a", "b", "--json")
    assert json.loads(ended.out)["schema"] == "resit.compare/1"
    assert "resit-report" in ended.err


def test_quiet_prints_only_where_the_report_is(resit, asked):
    ended = resit("compare", "a", "b", "-q")
    assert (ended.out, ended.err) == (f"{Path('resit-report/index.html')}\n", "")


def test_quiet_json_prints_only_json(resit, asked):
    ended = resit("compare", "a", "b", "--quiet", "--json")
    assert json.loads(ended.out)
    assert ended.err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a"], "needs an original and at least one new test set; 1 given"),
        ([], "needs an original and at least one new test set; 0 given"),
        (["a", "b", "--n", "1,2,3"], "--n: 3 sizes for 2 paths"),
        (["a", "b", "--n", "1,x"], "'x' is no whole number above 0"),
        (["a", "b", "--n", "1,0"], "'0' is no whole number above 0"),
        (["a", "b", "--name", "A"], "--name: given 1 times for 2 paths"),
        (["a", "b", "--labels", "x"], "--labels: given 1 times for 2 paths"),
        (["a", "b", "--labels", "c=x"], "'c' is not the name of a test set"),
        (["a", "a", "--labels", "a=x"], "'a' is the name of several test sets"),
        (["a", "b", "--labels", "a=x", "--labels", "y"], "Use one form for all"),
        (["a", "b", "--column", "model"], "'model' is not of the form ROLE=COLUMN"),
        (["a", "b", "--alias", "=x"], "'=x' is not of the form FOUND=NAME"),
        (["a", "b", "--alias", "x=y", "--alias", "x=z"], "'x' is given twice"),
        (["a", "b", "--overlap", "v4=3"], "is not of the form SET,SET=COUNT"),
        (["a", "b", "--overlap", "v4,v6=many"], "is not of the form SET,SET=COUNT"),
        (["a", "b", "--published", "imagenetv2"], "--published: cannot be combined with paths"),
        (["--published", "imagenetv2", "--n", "1"], "--published: cannot be combined with --n"),
        (["a", "b", "--bootstrap", "images"], "images"),
        (["a", "b", "--nothing"], "Try 'resit compare --help'"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(resit, asked, words, message):
    ended = resit("compare", *words)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert ended.err.startswith("resit: error: ")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("w", where="x", fix="do."), 2),
        (InputError("w", where="x", fix="do."), 3),
        (OutputError("w", where="x", fix="do."), 4),
    ],
)
def test_each_kind_of_error_has_its_code(resit, asked, monkeypatch: pytest.MonkeyPatch, error, code):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("resit.data.load", fail)
    ended = resit("compare", "a", "b")
    assert (ended.code, ended.out, ended.err) == (code, "", "resit: error: x: w. do.\n")


def test_the_summary_is_out_before_the_report_fails(resit, asked, monkeypatch: pytest.MonkeyPatch):
    def full(*_):
        raise OutputError("no space left", where="there", fix="Free some.")

    monkeypatch.setattr(sys.modules["resit.report"], "report", full)
    ended = resit("compare", "a", "b")
    assert ended.code == 4
    assert "Better models stay better." in ended.out


def test_a_fault_inside_is_one_line_with_advice(resit, asked, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("resit.data.load", lambda *_, **__: 1 / 0)
    ended = resit("compare", "a", "b")
    assert ended.code == 70
    assert "ZeroDivisionError: division by zero" in ended.err
    assert "--debug" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("words", [["--debug", "compare", "a", "b"], ["compare", "a", "b", "--debug"]])
def test_debug_shows_the_traceback(resit, asked, monkeypatch: pytest.MonkeyPatch, words):
    monkeypatch.setattr("resit.data.load", lambda *_, **__: 1 / 0)
    ended = resit(*words)
    assert ended.code == 70
    assert "Traceback" in ended.err


def test_interrupted_is_code_130(resit, asked, monkeypatch: pytest.MonkeyPatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("resit.data.load", interrupt)
    assert resit("compare", "a", "b").code == 130
