"""A Result as JSON, text and HTML."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from made import FEW, accuracies, predictions

import resit
from resit import InputError, Result
from resit.study.serialize import json_schema

OLD = [0.6, 0.7, 0.8, 0.9]


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return [
        resit.compare(predictions("old", OLD), predictions("a", OLD, seed=1), predictions("b", OLD, seed=2), **FEW),
        resit.compare(accuracies("old", OLD), accuracies("new", [0.5, 0.6, 0.8, 1.0]), **FEW),
        resit.compare(accuracies("old", [0.5]), accuracies("new", [0.4]), **FEW),
    ]


def test_json_round_trip(results: list[Result]):
    for result in results:
        text = result.to_json()
        assert Result.from_json(text) == result
        assert Result.from_json(text.encode()) == result
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.mark.parametrize(
    ("text", "message"),
    [("{}", "not a result of schema"), ("no json", "not a result of schema"), ("[]", "not a result of schema")],
)
def test_other_text_is_refused(text: str, message: str):
    with pytest.raises(InputError, match=message):
        Result.from_json(text)


def test_another_schema_is_refused(results: list[Result]):
    text = replace(results[0], schema="resit.compare/9").to_json()
    with pytest.raises(InputError, match=r"'resit\.compare/9'"):
        Result.from_json(text)


def test_schema_names_every_key(results: list[Result]):
    assert json_schema(Result)["properties"].keys() == json.loads(results[0].to_json()).keys()


def test_text_has_the_verdict_the_overlap_and_the_warnings(results: list[Result]):
    text = str(results[0])
    assert all(sentence in text for one in results[0].comparisons for sentence in one.verdict)
    assert "whether the sets share examples is not known" in text
    assert "–" in str(results[2])


def test_names_are_escaped_in_notebooks():
    name = "<script>alert(1)</script>"
    page = resit.compare(accuracies("old", OLD), accuracies(name, OLD), **FEW)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_every_missing_figure_has_a_reason(results: list[Result]):
    def check(value, path: str) -> None:
        if isinstance(value, dict):
            if value.get("estimate", 0) is None or ("low" in value and value["low"] is None and "estimate" in value):
                assert value["reason"], path
            for key, inner in value.items():
                check(inner, f"{path}.{key}")
        elif isinstance(value, list):
            for at, inner in enumerate(value):
                check(inner, f"{path}[{at}]")

    for result in results:
        check(json.loads(result.to_json()), "result")
