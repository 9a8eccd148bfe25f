"""What adapters say of their scores, and which operator of an ONNX graph makes them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from extras import needs
from resit.errors import InputError
from resit.models.adapters.onnx_graph import operator_of
from resit.models.adapters.sklearn import sklearn_model
from resit.models.load import load_model
from resit.models.preprocess import Preprocess
from resit.models.protocol import score_kind_of


def graph(path: Path, *operators: str) -> Path:
    """Means of the colours of an image, and what the operators make of them one after the other."""
    onnx = needs("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    names = ["mean", *(f"after {operator}" for operator in operators[:-1]), "scores"] if operators else ["scores"]
    nodes = [helper.make_node("ReduceMean", ["x", "axes"], [names[0]], keepdims=0)]
    nodes += [helper.make_node(name, [names[at]], [names[at + 1]]) for at, name in enumerate(operators)]
    given = helper.make_tensor_value_info("x", kinds.FLOAT, ["n", 3, 8, 8])
    made = helper.make_tensor_value_info("scores", kinds.FLOAT, ["n", 3])
    weights = helper.make_tensor("axes", kinds.INT64, [2], [2, 3])
    whole = helper.make_graph(nodes, "g", [given], [made], [weights])
    onnx.save(helper.make_model(whole, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    sidecar = {"classes": ["r", "g", "b"], "preprocess": {"size": 8, "resize": 8, "interpolation": "bilinear"}}
    sidecar["preprocess"] |= {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}
    path.with_suffix(".yaml").write_text(needs("yaml").safe_dump(sidecar))
    return path


@pytest.mark.parametrize(
    ("operators", "kind"),
    [((), None), (("Softmax",), "probability"), (("Softmax", "Neg"), None), (("Neg", "Softmax"), "probability")],
)
def test_a_graph_gives_probabilities_where_a_softmax_is_last(tmp_path: Path, operators: tuple[str, ...], kind: str | None):
    needs("onnxruntime")
    path = graph(tmp_path / "g.onnx", *operators)
    assert operator_of(path, "scores") == (operators[-1] if operators else "ReduceMean")
    model = load_model(f"onnx:{path}")
    assert score_kind_of(model) == kind
    if kind:
        scores = model.scores(np.random.default_rng(0).normal(size=(4, 3, 8, 8)).astype(np.float32))
        assert np.allclose(scores.sum(axis=1), 1, atol=1e-6)


def test_an_output_that_nothing_makes_has_no_operator(tmp_path: Path):
    assert operator_of(graph(tmp_path / "g.onnx"), "other") is None


@pytest.mark.parametrize("content", [b"\x0b", b"\xff" * 40, b"\x3a\x7f\x0a\x7f", b"\x3a"])
def test_what_is_no_graph_is_said(tmp_path: Path, content: bytes):
    path = tmp_path / "bad.onnx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.onnx"):
        operator_of(path, "scores")


def test_estimators_tell_what_is_sure():
    linear, tree = needs("sklearn.linear_model"), needs("sklearn.tree")
    rows = np.random.default_rng(0).normal(size=(60, 12))
    labels = np.arange(60) % 3
    transform = Preprocess(2, (2, 2))
    sure = sklearn_model("t", tree.DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, labels), None, transform)
    assert score_kind_of(sure) == "probability"
    margins = sklearn_model("l", linear.LogisticRegression().fit(rows, labels), None, transform)
    assert score_kind_of(margins) is None


def test_a_model_that_says_nothing():
    assert score_kind_of(SimpleNamespace(id="m")) is None
