"""Specs, prefixes of other packages, users' own modules, and renaming."""

from __future__ import annotations

import importlib.metadata
import sys

import numpy as np
import pytest

from resit.data.models import ModelId
from resit.errors import UsageError
from resit.models.callable import CallableModel
from resit.models.fake import FakeModel
from resit.models.load import BUILT_IN, adapter_names, find_adapter, load_model
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import FeatureModel, Model
from resit.models.settings import split_spec

TINY = Preprocess(2, (2, 2))


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("timm:resnet50.a1_in1k", ("timm", "resnet50.a1_in1k", {})),
        ("timm:local-dir:/a/b", ("timm", "local-dir:/a/b", {})),
        ("onnx:C:\\m.onnx?size=224", ("onnx", "C:\\m.onnx", {"size": "224"})),
        ("onnx:what?.onnx?a=1&b=x=y", ("onnx", "what?.onnx", {"a": "1", "b": "x=y"})),
        ("onnx:m?classes=a%26b+c.csv", ("onnx", "m", {"classes": "a&b+c.csv"})),
        ("python:mod.sub:attr", ("python", "mod.sub:attr", {})),
    ],
)
def test_specs_are_split(spec, parts):
    assert split_spec(spec) == parts


@pytest.mark.parametrize(
    "spec", ["", "resnet50", ":a", "timm:", "fake:a?", "fake:a?x", "fake:a?=1", "fake:a?x=", "fake:a?b=1&"]
)
def test_specs_of_another_form_are_refused(spec):
    with pytest.raises(UsageError):
        split_spec(spec)


def test_a_setting_that_comes_twice_is_refused():
    with pytest.raises(UsageError, match="'seed' comes twice"):
        load_model("fake:a?seed=1&seed=2")


def test_an_unknown_setting_is_refused_and_the_known_ones_are_listed():
    with pytest.raises(UsageError, match=r"no setting 'sead'.*accuracy, classes, key, name, score_kind, seed"):
        load_model("fake:a?sead=1")


def test_an_unknown_prefix_lists_the_known_ones():
    with pytest.raises(
        UsageError, match=r"no adapter 'tim'.*fake, head, onnx, open_clip, python, sklearn, timm, torchvision, transformers"
    ):
        load_model("tim:resnet50")


@pytest.mark.parametrize("prefix", sorted(BUILT_IN))
def test_every_built_in_adapter_is_there(prefix):
    assert callable(find_adapter(prefix))


@pytest.mark.parametrize(
    ("spec", "library", "extra"),
    [
        ("timm:resnet18", "timm", "timm"),
        ("torchvision:resnet18", "torchvision", "torchvision"),
        ("open_clip:ViT-B-32?pretrained=openai", "open_clip", "open-clip"),
        ("transformers:a/b", "transformers", "transformers"),
        ("sklearn:a.skops", "sklearn", "sklearn"),
    ],
)
def test_a_missing_library_is_told_with_what_installs_it(spec, library, extra, monkeypatch):
    for name in [name for name in sys.modules if name == library or name.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing(library), *sys.meta_path])
    with pytest.raises(UsageError, match=rf"{library} is not installed.*pip install 'resit\[{extra}\]'"):
        load_model(spec)


class Missing:
    """Finds no module of one name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, name, *_):
        if name.split(".")[0] == self.name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def own_adapter(name, options, settings):
    return FakeModel(f"{name} {options.device} {dict(settings)}")


def no_adapter(name, options, settings):
    return "a model"


def offer(monkeypatch, *points):
    found = importlib.metadata.EntryPoints(importlib.metadata.EntryPoint(name, value, "resit.models") for name, value in points)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: found.select(group=group))


def test_adapters_of_other_packages(monkeypatch):
    offer(monkeypatch, ("mine", f"{__name__}:own_adapter"))
    model = load_model("mine:abc?x=1", ModelOptions(device="cpu"))
    assert model.id == ModelId("abc cpu {'x': '1'}")
    assert "mine" in adapter_names()


def test_a_built_in_prefix_cannot_be_taken(monkeypatch):
    offer(monkeypatch, ("fake", f"{__name__}:own_adapter"))
    with pytest.raises(UsageError, match="'fake' is resit's own"):
        load_model("fake:a")


def test_two_packages_with_one_prefix_are_refused(monkeypatch):
    offer(monkeypatch, ("mine", f"{__name__}:own_adapter"), ("mine", f"{__name__}:no_adapter"))
    with pytest.raises(UsageError, match="offered by"):
        load_model("mine:a")


def test_an_adapter_that_fails_or_gives_no_model_is_told(monkeypatch):
    offer(monkeypatch, ("mine", f"{__name__}:no_adapter"), ("gone", "no_such_module_at_all:x"))
    with pytest.raises(UsageError, match="gave a str"):
        load_model("mine:a")
    with pytest.raises(UsageError, match="cannot be imported: No module named 'no_such_module_at_all'"):
        load_model("gone:a")


def test_a_model_can_be_renamed():
    plain, model = load_model("fake:a?seed=3"), load_model("fake:a?seed=3&name=My model/1")
    assert model.id == ModelId("My model/1")
    assert isinstance(model, FeatureModel)
    batch = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
    assert np.array_equal(model.scores(batch), plain.scores(batch))
    assert np.array_equal(model.features(batch), plain.features(batch))
    assert model.label_space == plain.label_space
    assert model.transform.fingerprint == plain.transform.fingerprint
    assert dict(model.provenance) == {**plain.provenance, "renamed from": "a"}


def test_a_renamed_model_without_features_has_none():
    from resit.models.renamed import renamed

    plain = CallableModel("a", lambda batch: np.zeros((len(batch), 2)), ["x", "y"], TINY)
    assert isinstance(renamed(plain, "b"), Model)
    assert not isinstance(renamed(plain, "b"), FeatureModel)


MODULE = """
import numpy as np
from resit.models.callable import CallableModel
from resit.models.preprocess import Preprocess

def make():
    return CallableModel("own", lambda batch: np.zeros((len(batch), 2)), ["a", "b"], Preprocess(2))

class Holder:
    model = make()

def lacks():
    import not_installed_at_all

def fails():
    raise ValueError("no\\nweights")

number = 3
"""


@pytest.fixture
def in_folder(tmp_path, monkeypatch, request):
    name = f"own_models_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield name
    sys.modules.pop(name, None)


def test_python_models_are_found_in_the_current_folder(in_folder):
    before = list(sys.path)
    assert load_model(f"python:{in_folder}:make").id == ModelId("own")
    assert load_model(f"python:{in_folder}:Holder.model?name=x").id == ModelId("x")
    assert sys.path == before


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("fails", "ValueError: no"),
        ("lacks", "ModuleNotFoundError: No module named"),
        ("number", "it is a int"),
        ("nothing", "has no 'nothing'"),
        ("Holder", "it is a Holder"),
    ],
)
def test_python_models_that_are_none(in_folder, attribute, said):
    with pytest.raises(UsageError, match=said):
        load_model(f"python:{in_folder}:{attribute}")


@pytest.mark.parametrize("spec", ["python:os", "python:os:", "python::x", "python:a b:c", "python:os:path; x"])
def test_python_specs_of_another_form(spec):
    with pytest.raises(UsageError):
        load_model(spec)


def test_a_python_module_that_is_not_there():
    with pytest.raises(UsageError, match=r"no module 'not_there_at_all'.*PYTHONPATH"):
        load_model("python:not_there_at_all:x")


def test_a_python_module_that_needs_another(tmp_path, monkeypatch):
    (tmp_path / "needy_models.py").write_text("import not_installed_at_all\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="needs 'not_installed_at_all', which is not installed"):
        load_model("python:needy_models:x")
