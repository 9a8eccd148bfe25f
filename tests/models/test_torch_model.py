"""What all torch models share, on tiny modules."""

from __future__ import annotations

import numpy as np
import pytest

from extras import needs
from resit.data.models import ModelId
from resit.errors import UsageError
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import FeatureModel, Model, OutOfMemory
from resit.models.spaces import numbered
from resit.models.torch_model import TorchModel, full_float32, last_linear, pick_device, torch_model
from resit.models.weights import file_digest, state_digest

torch = needs("torch")
nn = torch.nn

CPU = ModelOptions(device="cpu")
BATCH = np.random.default_rng(0).normal(size=(5, 3, 4, 4)).astype(np.float32)


class Net(nn.Module):
    def __init__(self, after=lambda scores: scores, *, bias: bool = True) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(48, 8), nn.ReLU(), nn.Dropout(0.5))
        self.last = nn.Linear(8, 6, bias=bias)
        self.after = after

    def forward(self, images):
        return self.after(self.last(self.body(images)))


def made(module=None, options: ModelOptions = CPU, n_classes: int = 6) -> TorchModel:
    torch.manual_seed(0)
    module = module or Net()
    return torch_model(
        ModelId("net"), module, numbered(n_classes), Preprocess(4), options, {"adapter": "x"}, last_linear(module)
    )


def by_hand(model: TorchModel) -> np.ndarray:
    state = {name: tensor.numpy().astype(np.float64) for name, tensor in model.module.state_dict().items()}
    hidden = np.maximum(BATCH.reshape(5, -1) @ state["body.1.weight"].T + state["body.1.bias"], 0)
    return hidden @ state["last.weight"].T + state.get("last.bias", 0)


@pytest.mark.parametrize("bias", [True, False])
def test_scores_features_and_head(bias):
    model = made(Net(bias=bias))
    assert isinstance(model, FeatureModel)
    scores, (weights, biases) = model.scores(BATCH), model.head()
    assert scores.dtype == np.float32
    assert np.allclose(scores, by_hand(model), atol=1e-5)
    assert np.allclose(model.features(BATCH) @ weights.T + biases, scores, atol=1e-5)
    assert (weights.shape, biases.shape) == ((6, 8), (6,))


def test_the_model_is_in_evaluation_and_frozen():
    model = made()
    assert not model.module.training
    assert not any(parameter.requires_grad for parameter in model.module.parameters())
    assert np.array_equal(model.scores(BATCH), model.scores(BATCH))


@pytest.mark.parametrize("after", [lambda scores: scores.softmax(1), lambda scores: scores + 1, lambda scores: scores.flip(1)])
def test_a_last_layer_that_does_not_make_the_scores_is_refused(after):
    model = made(Net(after))
    assert np.isfinite(model.scores(BATCH)).all()
    with pytest.raises(UsageError, match="not what its last linear layer makes"):
        model.features(BATCH)


def test_a_last_layer_that_is_used_for_every_place_of_an_image_is_refused():
    class Places(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = nn.Linear(4, 6)

        def forward(self, images):
            return self.last(images).mean(dim=(1, 2))

    with pytest.raises(UsageError, match="one row of features"):
        made(Places()).features(BATCH)


def test_without_a_linear_last_layer_there_are_no_features():
    module = nn.Sequential(nn.Conv2d(3, 6, 4), nn.Flatten())
    model = made(module)
    assert isinstance(model, Model)
    assert not isinstance(model, FeatureModel)


@pytest.mark.parametrize("result", [lambda s: (s, s), lambda s: s[:, :5], lambda s: s[None], lambda s: s[:3]])
def test_results_of_another_shape_are_refused(result):
    with pytest.raises(UsageError, match="one score for each of 6 classes"):
        made(Net(result)).scores(BATCH)


def test_nan_is_passed_on():
    model = made(Net(lambda scores: scores * float("nan")))
    assert np.isnan(model.scores(BATCH)).all()


ALLOCATION = {
    "cuda": lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
    "cpu": lambda: RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory: you tried"),
    "windows": lambda: RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"),
    "mps": lambda: RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"),
    "cublas": lambda: RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"),
    "python": MemoryError,
}


@pytest.mark.parametrize("kind", sorted(ALLOCATION))
def test_running_out_of_memory_is_told_as_such(kind):
    def fail(scores):
        raise ALLOCATION[kind]()

    with pytest.raises(OutOfMemory, match="a batch of 5 does not fit"):
        made(Net(fail)).scores(BATCH)


def test_a_real_allocation_that_fails():
    model = made(Net(lambda _: torch.empty(2**50)))
    with pytest.raises(OutOfMemory):
        model.scores(BATCH)


def test_other_errors_are_not_taken_for_missing_memory():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        made().scores(BATCH[:, :, :2])


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_half_precision_is_near_and_is_told(precision):
    exact, half = made(), made(options=ModelOptions("cpu", precision))
    scores = half.scores(BATCH)
    assert scores.dtype == np.float32
    assert not np.array_equal(scores, exact.scores(BATCH))
    assert np.allclose(scores, exact.scores(BATCH), atol=0.05)
    assert half.provenance["precision"] == precision
    assert half.features(BATCH).dtype == np.float32


def test_compiled_without_a_compiler_it_says_so(monkeypatch):
    def failing(graph, inputs):
        raise RuntimeError("no C++ compiler")

    real = torch.compile
    monkeypatch.setattr(torch, "compile", lambda module: real(module, backend=failing))
    with pytest.raises(UsageError, match=r"cannot compile.*Leave compilation out"):
        made(options=ModelOptions("cpu", compile=True)).scores(BATCH)
    torch._dynamo.reset()


def test_compiled_scores_are_the_same(monkeypatch):
    real = torch.compile
    monkeypatch.setattr(torch, "compile", lambda module: real(module, backend="eager"))
    model = made(options=ModelOptions("cpu", compile=True))
    assert np.allclose(model.scores(BATCH), made().scores(BATCH), atol=1e-6)
    assert np.allclose(model.scores(BATCH[:2]), made().scores(BATCH[:2]), atol=1e-6)
    assert model.provenance["compile"] == "true"
    torch._dynamo.reset()


@pytest.mark.parametrize("name", ["gpu", "meta", "cpu:x", "", "cuda:99", "mps:7"])
def test_devices_that_are_not_there(name):
    with pytest.raises(UsageError, match="device"):
        pick_device(name)


def test_provenance_names_weights_and_not_the_device():
    first, second = made(), made()
    assert first.provenance == second.provenance
    assert set(first.provenance) == {"adapter", "weights", "precision", "compile", "torch version"}
    with torch.no_grad():
        module = Net()
        other = made(module)
        assert other.provenance["weights"] != first.provenance["weights"]


def test_digests_of_states():
    state = {"a": torch.arange(6.0).reshape(2, 3), "n": torch.tensor(3)}
    digest = state_digest(state)
    assert len(digest) == 16
    assert digest == state_digest({name: tensor.clone() for name, tensor in state.items()})
    assert digest == state_digest({**state, "a": torch.arange(6.0).reshape(3, 2).T.contiguous().T.reshape(2, 3)})
    others = [
        {**state, "a": torch.arange(6.0).reshape(3, 2)},
        {**state, "a": torch.arange(6.0).reshape(2, 3).double()},
        {**state, "n": torch.tensor(4)},
        {"n": state["n"], "a": state["a"]},
        {"a": state["a"]},
        {"b": state["a"], "n": state["n"]},
        {**state, "a": state["a"].bfloat16()},
    ]
    assert len({digest, *map(state_digest, others)}) == len(others) + 1


def test_digests_of_files(tmp_path):
    import hashlib

    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    (tmp_path / "b").write_bytes(b"y")
    assert file_digest(tmp_path / "a") == hashlib.sha256(b"x" * 3_000_000).hexdigest()[:16]
    assert file_digest(tmp_path / "a", tmp_path / "b") == hashlib.sha256(b"x" * 3_000_000 + b"y").hexdigest()[:16]


def test_full_float32_puts_back_what_was_set():
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, torch.backends.cudnn.enabled
    with full_float32():
        assert not torch.backends.cudnn.allow_tf32
        assert torch.get_float32_matmul_precision() == "highest"
    assert (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, torch.backends.cudnn.enabled) == before


def test_a_module_that_works_in_place_does_not_touch_what_other_models_are_given():
    class InPlace(Net):
        def forward(self, images):
            return super().forward(images.mul_(0))

    batch = BATCH.copy()
    model = made(InPlace())
    model.scores(batch)
    model.features(batch)
    assert np.array_equal(batch, BATCH)
