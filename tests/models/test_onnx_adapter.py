"""ONNX graphs of several kinds, made here; each computes the mean of each colour, so that scores are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from extras import needs
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.load import load_model
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import FeatureModel, Model, OutOfMemory
from resit.models.transforms import probe_images

onnx, ort = needs("onnx"), needs("onnxruntime")
yaml = needs("yaml")
helper, kinds = onnx.helper, onnx.TensorProto

SIZE = 16
PREPROCESS = {"size": SIZE, "resize": 20, "interpolation": "bilinear", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]}
SIDECAR = {"classes": ["red", "green", "blue"], "preprocess": PREPROCESS}
QUERY = "?classes={folder}/rgb.csv&size=16&resize=20&interpolation=bilinear&mean=0.5,0.4,0.3&std=0.2,0.3,0.4"


def graph(path, *, kind=kinds.FLOAT, shape=("n", 3, SIZE, SIZE), axes=(2, 3), metadata=None, outputs=1, sidecar=SIDECAR):
    """A file whose scores are the means over these axes."""
    nodes = [helper.make_node("Cast", ["x"], ["f"], to=kinds.FLOAT)]
    axes_of = helper.make_tensor("axes", kinds.INT64, [len(axes)], axes)
    nodes.append(helper.make_node("ReduceMean", ["f", "axes"], ["scores"], keepdims=0))
    if outputs > 1:
        nodes.append(helper.make_node("Neg", ["scores"], ["negative"]))
    given = helper.make_tensor_value_info("x", kind, shape)
    results = [helper.make_tensor_value_info(name, kinds.FLOAT, [shape[0], 3]) for name in ("scores", "negative")[:outputs]]
    model = helper.make_model(
        helper.make_graph(nodes, "g", [given], results, [axes_of]), opset_imports=[helper.make_opsetid("", 18)], ir_version=9
    )
    for key, value in (metadata or {}).items():
        model.metadata_props.add(key=key, value=value)
    onnx.save(model, path)
    if sidecar:
        path.with_suffix(".yaml").write_text(yaml.safe_dump(sidecar))
    return path


def batch_of(model):
    return np.stack([model.transform(image) for image in probe_images()])


OURS = Preprocess(SIZE, 20, "bilinear", (0.5, 0.4, 0.3), (0.2, 0.3, 0.4))


def test_a_graph_with_a_sidecar(tmp_path):
    model = load_model(f"onnx:{graph(tmp_path / 'mean.onnx')}")
    assert isinstance(model, Model)
    assert not isinstance(model, FeatureModel)
    assert model.id == ModelId("mean")
    assert [one.id for one in model.label_space.classes] == ["red", "green", "blue"]
    assert model.transform.fingerprint == OURS.fingerprint
    assert set(model.provenance) == {"adapter", "weights", "output", "precision", "onnxruntime version"}
    batch = batch_of(model)
    assert np.allclose(model.scores(batch), batch.mean(axis=(2, 3)), atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(kinds.FLOAT, np.float32), (kinds.FLOAT16, np.float16), (kinds.UINT8, np.uint8)],
    ids=["f32", "f16", "u8"],
)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_types_and_layouts(tmp_path, kind, dtype, layout):
    is_last = layout == "NHWC"
    shape, axes = (("n", SIZE, SIZE, 3), (1, 2)) if is_last else (("n", 3, SIZE, SIZE), (2, 3))
    known = {key: PREPROCESS[key] for key in ("size", "resize", "interpolation")} if dtype is np.uint8 else PREPROCESS
    path = graph(tmp_path / "m.onnx", kind=kind, shape=shape, axes=axes, sidecar={**SIDECAR, "preprocess": known})
    model = load_model(f"onnx:{path}")
    batch = batch_of(model)
    assert batch.dtype == dtype
    assert batch.shape[1:] == shape[1:]
    images = [OURS.pixels(image).transpose(2, 0, 1) if dtype is np.uint8 else OURS(image) for image in probe_images()]
    expected = np.stack([image.astype(np.float64).mean(axis=(1, 2)) for image in images])
    assert np.allclose(model.scores(batch), expected, atol=5e-3 if dtype is np.float16 else 1e-3)
    assert (model.transform.fingerprint == OURS.fingerprint) == (dtype is np.float32 and not is_last)


def test_pixels_of_eight_bits_have_no_mean(tmp_path):
    path = graph(tmp_path / "m.onnx", kind=kinds.UINT8)
    with pytest.raises(UsageError, match="mean, std in its preprocessing has no meaning"):
        load_model(f"onnx:{path}")


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
def test_a_fixed_batch_is_filled_up_and_the_filling_is_dropped(tmp_path, size):
    model = load_model(f"onnx:{graph(tmp_path / 'm.onnx', shape=(size, 3, SIZE, SIZE))}")
    batch = batch_of(model)
    for n in range(1, len(batch) + 1):
        assert np.allclose(model.scores(batch[:n]), batch[:n].mean(axis=(2, 3)), atol=1e-5)


@pytest.mark.parametrize("missing", ["size", "resize", "interpolation", "mean", "std"])
def test_no_part_of_the_preprocessing_is_guessed(tmp_path, missing):
    known = {key: value for key, value in PREPROCESS.items() if key != missing}
    path = graph(tmp_path / "m.onnx", sidecar={**SIDECAR, "preprocess": known})
    with pytest.raises(UsageError, match=rf"{missing} of its preprocessing is not known.*m\.yaml.*preprocess:.*size: 224"):
        load_model(f"onnx:{path}")


def test_neither_classes_nor_preprocessing_are_guessed(tmp_path):
    path = graph(tmp_path / "m.onnx", sidecar=None)
    with pytest.raises(UsageError, match="not guessed"):
        load_model(f"onnx:{path}")
    path = graph(tmp_path / "n.onnx", sidecar={"preprocess": PREPROCESS})
    with pytest.raises(UsageError, match="its classes are not known"):
        load_model(f"onnx:{path}")


def test_what_a_file_needs_may_be_in_the_spec_or_in_the_file(tmp_path):
    (tmp_path / "rgb.csv").write_text("label,id\n0,red\n1,green\n2,blue\n")
    beside = load_model(f"onnx:{graph(tmp_path / 'a.onnx')}")
    bare = graph(tmp_path / "b.onnx", sidecar=None)
    spec = load_model(f"onnx:{bare}" + QUERY.format(folder=tmp_path))
    metadata = {"resit.preprocess": json.dumps(PREPROCESS), "resit.classes": json.dumps(SIDECAR["classes"])}
    inside = load_model(f"onnx:{graph(tmp_path / 'c.onnx', sidecar=None, metadata=metadata)}")
    for model in (spec, inside):
        assert model.transform == beside.transform
        assert [one.id for one in model.label_space.classes] == ["red", "green", "blue"]
    changed = load_model(f"onnx:{tmp_path / 'a.onnx'}?resize=none")
    assert changed.transform.preprocess == Preprocess(SIZE, None, "bilinear", (0.5, 0.4, 0.3), (0.2, 0.3, 0.4))
    other = {**metadata, "resit.preprocess": json.dumps({**PREPROCESS, "resize": 21})}
    with pytest.raises(InputError, match="preprocess inside of the file is another than beside it"):
        load_model(f"onnx:{graph(tmp_path / 'd.onnx', metadata=other)}")


def test_a_class_list_beside_the_file(tmp_path, monkeypatch):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "rgb.csv").write_text("label,id\n0,red\n1,green\n2,blue\n")
    monkeypatch.chdir(tmp_path)
    model = load_model(f"onnx:{graph(folder / 'a.onnx', sidecar={**SIDECAR, 'classes': 'rgb.csv'}).relative_to(tmp_path)}")
    assert [one.id for one in model.label_space.classes] == ["red", "green", "blue"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2", "not valid YAML"),
        ("just text", "keys classes and preprocess"),
        ("classes: [a, b, c]\nmean: [1, 2, 3]", "keys classes and preprocess"),
        ("classes: [a, b, c]\npreprocess: 224", "needs keys and values"),
        ("!!python/object/apply:os.getcwd []", "not valid YAML"),
    ],
)
def test_sidecars_that_cannot_be_read(tmp_path, text, said):
    path = graph(tmp_path / "m.onnx")
    path.with_suffix(".yaml").write_text(text)
    with pytest.raises(InputError, match=said):
        load_model(f"onnx:{path}")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"size": 17}, "takes images of"),
        ({"size": "big"}, "size cannot be 'big'"),
        ({"size": 16.5}, "size cannot be 16.5"),
        ({"size": [1, 2, 3]}, r"size cannot be \[1, 2, 3\]"),
        ({"mean": 0.5}, "mean and std need three numbers"),
        ({"std": [0.2, 0.2, 0]}, "mean and std need three numbers"),
        ({"interpolation": "cubic"}, "no interpolation 'cubic'"),
        ({"crop_pct": 0.9}, "crop_pct in its preprocessing has no meaning"),
    ],
)
def test_preprocessing_that_cannot_be_meant(tmp_path, change, said):
    path = graph(tmp_path / "m.onnx", sidecar={**SIDECAR, "preprocess": {**PREPROCESS, **change}})
    with pytest.raises(UsageError, match=said):
        load_model(f"onnx:{path}")


def test_graphs_that_are_no_classifiers(tmp_path):
    with pytest.raises(UsageError, match="has 2 classes"):
        load_model(f"onnx:{graph(tmp_path / 'a.onnx', sidecar={**SIDECAR, 'classes': ['a', 'b']})}")
    with pytest.raises(UsageError, match="takes no colours"):
        load_model(f"onnx:{graph(tmp_path / 'b.onnx', shape=('n', 1, SIZE, SIZE))}")
    with pytest.raises(UsageError, match="four dimensions"):
        load_model(f"onnx:{graph(tmp_path / 'c.onnx', shape=('n', 3, SIZE), axes=(2,))}")
    with pytest.raises(UsageError, match="of type tensor"):
        load_model(f"onnx:{graph(tmp_path / 'd.onnx', kind=kinds.INT32)}")
    path = graph(tmp_path / "e.onnx", shape=("n", "c", "h", "w"))
    with pytest.raises(UsageError, match=r"where the three colours are.*layout=NCHW or NHWC"):
        load_model(f"onnx:{path}")
    assert load_model(f"onnx:{path}?layout=NCHW").transform.layout == "NCHW"


def test_one_of_several_outputs_must_be_named(tmp_path):
    path = graph(tmp_path / "m.onnx", outputs=2)
    with pytest.raises(UsageError, match="output= one of scores, negative"):
        load_model(f"onnx:{path}")
    first, second = (load_model(f"onnx:{path}?output={name}") for name in ("scores", "negative"))
    batch = batch_of(first)
    assert np.array_equal(first.scores(batch), -second.scores(batch))
    assert first.provenance != second.provenance


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"device": "mps"}, "no device 'mps'"),
        ({"device": "cuda:x"}, "no device"),
        ({"precision": "float16"}, "its own precision"),
        ({"compile": True}, "its own precision"),
    ],
)
def test_options_that_onnx_does_not_have(tmp_path, options, said):
    path = graph(tmp_path / "m.onnx")
    with pytest.raises(UsageError, match=said):
        load_model(f"onnx:{path}", ModelOptions(**options))


def test_files_that_are_no_graphs(tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"not a graph")
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model(f"onnx:{tmp_path / 'm.onnx'}")
    with pytest.raises(InputError, match="no such file"):
        load_model(f"onnx:{tmp_path / 'n.onnx'}")


def test_a_real_allocation_that_fails(tmp_path):
    """The scores are added to the mean of 16 TiB, which are not there."""
    path = tmp_path / "large.onnx"
    huge = helper.make_tensor("huge", kinds.INT64, [2], [2**22, 2**20])
    axes_of = helper.make_tensor("axes", kinds.INT64, [2], [2, 3])
    nodes = [
        helper.make_node("ReduceMean", ["x", "axes"], ["mean"], keepdims=0),
        helper.make_node("ReduceMean", ["mean"], ["one"], keepdims=0),
        helper.make_node("Expand", ["one", "huge"], ["many"]),
        helper.make_node("ReduceMean", ["many"], ["one again"], keepdims=0),
        helper.make_node("Add", ["mean", "one again"], ["scores"]),
    ]
    given = helper.make_tensor_value_info("x", kinds.FLOAT, ["n", 3, SIZE, SIZE])
    scores = helper.make_tensor_value_info("scores", kinds.FLOAT, ["n", 3])
    made = helper.make_graph(nodes, "g", [given], [scores], [huge, axes_of])
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    path.with_suffix(".yaml").write_text(yaml.safe_dump(SIDECAR))
    model = load_model(f"onnx:{path}")
    with pytest.raises(OutOfMemory, match="a batch of 5 does not fit"):
        model.scores(batch_of(model))


def test_other_errors_are_not_taken_for_missing_memory(tmp_path):
    model = load_model(f"onnx:{graph(tmp_path / 'm.onnx')}")
    with pytest.raises(InputError, match="another shape"):
        model.scores(batch_of(model)[:, :, :3])


def test_other_bytes_have_another_digest(tmp_path):
    first = load_model(f"onnx:{graph(tmp_path / 'a.onnx')}").provenance["weights"]
    again = load_model(f"onnx:{graph(tmp_path / 'b.onnx')}").provenance["weights"]
    other = load_model(f"onnx:{graph(tmp_path / 'c.onnx', metadata={'x': 'y'})}").provenance["weights"]
    assert first == again != other


@pytest.mark.parametrize("name", ["w.bin", "n" * 150])
def test_weights_in_a_file_of_their_own_are_in_the_digest(tmp_path, name):
    """Two graphs may differ in nothing but the file that they name."""
    digests = []
    for value in (1.0, 2.0):
        weights = onnx.numpy_helper.from_array(np.full((3, 3), value, np.float32), "w")
        axes_of = helper.make_tensor("axes", kinds.INT64, [2], [2, 3])
        nodes = [
            helper.make_node("ReduceMean", ["x", "axes"], ["m"], keepdims=0),
            helper.make_node("MatMul", ["m", "w"], ["s"]),
        ]
        given = helper.make_tensor_value_info("x", kinds.FLOAT, ["n", 3, SIZE, SIZE])
        scores = helper.make_tensor_value_info("s", kinds.FLOAT, ["n", 3])
        made = helper.make_model(
            helper.make_graph(nodes, "g", [given], [scores], [weights, axes_of]),
            opset_imports=[helper.make_opsetid("", 18)],
            ir_version=9,
        )
        path = tmp_path / str(value) / "m.onnx"
        path.parent.mkdir()
        onnx.save(made, path, save_as_external_data=True, location=name, size_threshold=0)
        path.with_suffix(".yaml").write_text(yaml.safe_dump(SIDECAR))
        model = load_model(f"onnx:{path}")
        batch = batch_of(model)
        assert np.allclose(model.scores(batch), batch.mean(axis=(2, 3)).sum(axis=1, keepdims=True) * value, atol=1e-4)
        digests.append(model.provenance["weights"])
    assert (tmp_path / "1.0" / "m.onnx").read_bytes() == (tmp_path / "2.0" / "m.onnx").read_bytes()
    assert digests[0] != digests[1]
