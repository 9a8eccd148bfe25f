from __future__ import annotations

import numpy as np
import pytest

from extras import needs
from resit.errors import InputError, UsageError
from resit.models.callable import CallableModel
from resit.models.preprocess import Preprocess
from resit.models.protocol import FeatureModel, Model

TINY = Preprocess(2, (2, 2))
BATCH = np.arange(36, dtype=np.float32).reshape(3, 3, 2, 2)


def test_a_function_is_a_model():
    model = CallableModel("mean", lambda batch: batch.mean(axis=(2, 3)), ["r", "g", "b"], TINY, version="2")
    assert isinstance(model, Model)
    assert not isinstance(model, FeatureModel)
    assert np.array_equal(model.scores(BATCH), BATCH.mean(axis=(2, 3)))
    assert [one.id for one in model.label_space.classes] == ["r", "g", "b"]
    assert model.provenance == {"adapter": "callable", "version": "2"}


def test_nan_scores_are_passed_on_and_whole_numbers_become_floating():
    nan = CallableModel("n", lambda batch: np.full((len(batch), 2), np.nan), ["a", "b"], TINY)
    assert np.isnan(nan.scores(BATCH)).all()
    whole = CallableModel("n", lambda batch: np.ones((len(batch), 2), int), ["a", "b"], TINY)
    assert whole.scores(BATCH).dtype == np.float64


@pytest.mark.parametrize(
    "result", [np.zeros((3, 3)), np.zeros(3), np.zeros((2, 2)), np.full((3, 2), "a"), np.zeros((3, 2), complex)]
)
def test_other_results_are_refused(result):
    with pytest.raises(UsageError, match=r"must give numbers of shape \(3, 2\)"):
        CallableModel("n", lambda _: result, ["a", "b"], TINY).scores(BATCH)


def test_class_lists(tmp_path):
    def classes(given):
        return CallableModel("n", np.asarray, given, TINY).label_space

    imagenet = classes("imagenet-1k")
    assert imagenet.name == "imagenet-1k"
    assert (imagenet.classes[0].id, len(imagenet.classes)) == ("n01440764", 1000)
    assert classes([one.id for one in imagenet.classes]) == imagenet
    shuffled = classes([one.id for one in imagenet.classes][::-1])
    assert shuffled.name != "imagenet-1k"
    file = tmp_path / "imagenet-1k.csv"
    file.write_text("label,wnid,name\n1,b,second\n0,a,first\n")
    assert [(one.id, one.name) for one in classes(file).classes] == [("a", "first"), ("b", "second")]
    assert classes(file).name != "imagenet-1k"
    assert [one.id for one in classes([{"id": "007", "name": "Bond"}]).classes] == ["007"]


@pytest.mark.parametrize("given", [[], 3, None, [1, 2], [{"name": "a"}], "no-such-list"])
def test_what_is_no_list_of_classes(given):
    with pytest.raises(UsageError):
        CallableModel("n", np.asarray, given, TINY)


def test_a_class_that_comes_twice():
    with pytest.raises(InputError, match="'a' comes twice"):
        CallableModel("n", np.asarray, ["a", "b", "a"], TINY)


def test_a_function_that_works_in_place_does_not_touch_what_other_models_are_given():
    def in_place(batch):
        batch *= 0
        return batch.sum(axis=(2, 3))

    batch = BATCH.copy()
    assert not CallableModel("n", in_place, ["r", "g", "b"], TINY).scores(batch).any()
    assert np.array_equal(batch, BATCH)


def test_tensors_of_torch_are_taken():
    torch = needs("torch")
    for kind in (torch.float32, torch.float64, torch.bfloat16, torch.int64):
        tensor = torch.arange(6).reshape(3, 2).to(kind)
        tensor = tensor.requires_grad_() if kind.is_floating_point else tensor
        found = CallableModel("n", lambda _, tensor=tensor: tensor, ["a", "b"], TINY).scores(BATCH)
        assert np.array_equal(found, np.arange(6).reshape(3, 2))
        assert np.issubdtype(found.dtype, np.floating)


def test_rows_of_several_lengths_are_refused():
    with pytest.raises(UsageError, match="gives a list that is no array"):
        CallableModel("n", lambda _: [[1, 2], [1], [1, 2]], ["a", "b"], TINY).scores(BATCH)
