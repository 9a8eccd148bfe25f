"""A head in a file: read back, in torch too, held to its model, and refused where it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from extras import needs
from featured import PixelModel, classes
from resit import InputError, ModelId, OutputError, UsageError
from resit.data.benchmark import ClassInfo
from resit.models.head_file import StoredHead, WithHead, load, load_head, save_head
from resit.models.heads import Head
from resit.models.options import ModelOptions
from resit.models.protocol import FeatureModel, LabelSpace

needs("safetensors")
NAMES = (ClassInfo("n1", "crane"), ClassInfo("n2", "crane"), ClassInfo("ü", "模型 & <b>"))


def base(seed: int = 0, count: int = 3, d: int = 5) -> PixelModel:
    rng = np.random.default_rng(seed)
    return PixelModel(rng.normal(size=(count, d)), rng.normal(size=count), classes(count), "net/1")


def stored(model: PixelModel | None = None) -> StoredHead:
    model = model or base()
    rng = np.random.default_rng(9)
    head = Head(rng.normal(size=(3, 5)).astype(np.float32), rng.normal(size=3).astype(np.float32))
    return StoredHead(head, LabelSpace("3 of letters", NAMES), ModelId("net/1", "224"), "flat", dict(model.provenance))


def test_it_comes_back_as_it_was(tmp_path: Path):
    one = stored()
    save_head(one, tmp_path / "a" / "head.safetensors")
    found = load_head(tmp_path / "a" / "head.safetensors")
    assert np.array_equal(found.head.weight, one.head.weight)
    assert np.array_equal(found.head.bias, one.head.bias)
    assert (found.label_space, found.model, found.transform) == (one.label_space, one.model, one.transform)
    assert found.provenance == one.provenance
    assert found.digest == one.digest
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["head.safetensors"]


def test_torch_reads_it_and_a_linear_layer_gives_the_same_scores(tmp_path: Path):
    torch = needs("torch")
    one = stored()
    save_head(one, tmp_path / "head.safetensors")
    layer = torch.nn.Linear(5, 3)
    layer.load_state_dict(needs("safetensors.torch").load_file(tmp_path / "head.safetensors"))
    features = np.random.default_rng(1).normal(size=(7, 5)).astype(np.float32)
    with torch.inference_mode():
        given = layer(torch.from_numpy(features)).numpy()
    assert np.allclose(given, one.head.scores(features), atol=1e-5)


def test_a_model_with_it_scores_its_classes():
    model = base()
    one = stored(model)
    found = WithHead(model, one)
    assert isinstance(found, FeatureModel)
    batch = np.random.default_rng(2).normal(size=(4, 5)).astype(np.float32)
    assert np.allclose(found.scores(batch), batch @ one.head.weight.T + one.head.bias, atol=1e-6)
    assert found.label_space.classes == NAMES
    assert (str(found.id), found.provenance["head"]) != (str(model.id), None)
    assert found.id == ModelId("net/1", "retrained")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d": 6}, "takes 5 features and net/1 makes 6"),
        ({"seed": 1}, "was trained on features of"),
    ],
)
def test_another_models_features_are_refused(change: dict[str, int], message: str):
    with pytest.raises(UsageError, match=message):
        WithHead(base(**change), stored())


def test_another_preparation_is_refused():
    model = base()
    one = stored(model)
    model.transform.fingerprint = "round"
    with pytest.raises(UsageError, match="prepared as 'flat'"):
        WithHead(model, one)


def test_bad_files_are_refused_in_words(tmp_path: Path):
    path = tmp_path / "head.safetensors"
    with pytest.raises(InputError, match="no such file"):
        load_head(path)
    path.write_bytes(b"no tensors at all")
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        load_head(path)
    save_head(stored(), path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        load_head(path)
    needs("safetensors.numpy").save_file({"weight": np.zeros((2, 2), np.float32)}, path)
    with pytest.raises(InputError, match="no head of the format"):
        load_head(path)
    broken = stored()
    broken.head.weight[0, 0] = np.nan
    save_head(broken, path)
    with pytest.raises(InputError, match="not of finite float32"):
        load_head(path)


def test_what_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="the head cannot be written"):
        save_head(stored(), tmp_path / "file" / "head.safetensors")


def test_the_spec_needs_a_base(tmp_path: Path):
    with pytest.raises(UsageError, match="whose features"):
        load(str(tmp_path / "head.safetensors"), ModelOptions(), {})
    with pytest.raises(UsageError, match="no setting 'bse'"):
        load(str(tmp_path / "head.safetensors"), ModelOptions(), {"bse": "fake:x"})


def test_rows_and_classes_must_agree():
    with pytest.raises(UsageError, match="2 classes for 3 rows"):
        StoredHead(stored().head, LabelSpace("x", NAMES[:2]), ModelId("m"), "flat", {})
