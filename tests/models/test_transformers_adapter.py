"""Models of transformers, tiny and random, from folders made here."""

from __future__ import annotations

import json

import numpy as np
import pytest

from extras import needs
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.load import load_model
from resit.models.options import ModelOptions
from resit.models.protocol import POSITIONS, FeatureModel
from resit.models.transforms import probe_images

transformers, torch = needs("transformers"), needs("torch")

CPU = ModelOptions(device="cpu")
SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
PROCESSOR = {"image_processor_type": "ViTImageProcessor", "size": {"height": 32, "width": 32}, "do_normalize": True}
PROCESSOR |= {"image_mean": [0.5] * 3, "image_std": [0.5] * 3, "do_resize": True, "do_rescale": True, "resample": 2}
LETTERS = "abcdefghijklmnopqrstuvwxyz. "


def vit(path, n_classes=4, processor=PROCESSOR, **config):
    torch.manual_seed(0)
    kind = transformers.ViTConfig(image_size=32, patch_size=16, num_labels=n_classes, **SIZES, **config)
    model = transformers.ViTForImageClassification(kind)
    model.save_pretrained(path)
    (path / "preprocessor_config.json").write_text(json.dumps(processor))
    return path


def resnet(path):
    torch.manual_seed(0)
    kind = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1], num_labels=4, layer_type="basic")
    transformers.ResNetForImageClassification(kind).save_pretrained(path)
    (path / "preprocessor_config.json").write_text(json.dumps(PROCESSOR))
    return path


@pytest.mark.parametrize("make", [vit, resnet])
def test_a_classifier_in_a_folder(tmp_path, make):
    path = make(tmp_path / "tiny")
    model = load_model(f"transformers:{path}", CPU)
    assert model.id == ModelId("tiny")
    assert isinstance(model, FeatureModel)
    images = list(probe_images())
    batch = np.stack([model.transform(image) for image in images])
    processor = transformers.AutoImageProcessor.from_pretrained(path)
    reference = transformers.AutoModelForImageClassification.from_pretrained(path).eval()
    with torch.no_grad():
        expected = reference(**processor(images=images, return_tensors="pt")).logits.numpy()
    assert np.allclose(model.scores(batch), expected, atol=1e-5)
    weights, bias = model.head()
    assert np.allclose(model.features(batch) @ weights.T + bias, expected, atol=1e-5)


def test_classes(tmp_path):
    assert load_model(f"transformers:{vit(tmp_path / 'a')}", CPU).label_space.name == POSITIONS
    names = {0: "crane", 1: "dog", 2: "crane", 3: "cat"}
    path = vit(tmp_path / "b", id2label=names, label2id={name: i for i, name in names.items()})
    found = load_model(f"transformers:{path}", CPU).label_space
    assert [one.id for one in found.classes] == ["crane (0)", "dog", "crane (2)", "cat"]
    (tmp_path / "list.csv").write_text("label,id\n0,n0\n1,n1\n2,n2\n3,n3\n")
    found = load_model(f"transformers:{path}?classes={tmp_path}/list.csv", CPU).label_space
    assert [one.id for one in found.classes] == ["n0", "n1", "n2", "n3"]
    with pytest.raises(UsageError, match="1000 classes of imagenet-1k for 4 scores"):
        load_model(f"transformers:{path}?classes=imagenet-1k", CPU)


def test_the_fingerprint_has_all_numbers_of_the_processor(tmp_path):
    changes = [{}, {"image_mean": [0.5, 0.5, 0.51]}, {"resample": 3}, {"size": {"height": 32, "width": 33}}]
    prints = [
        load_model(f"transformers:{vit(tmp_path / str(i), processor=PROCESSOR | change)}", CPU).transform.fingerprint
        for i, change in enumerate(changes)
    ]
    assert len(set(prints)) == 4
    assert all(text.startswith("ViTImageProcessor") for text in prints)
    assert load_model(f"transformers:{tmp_path / '0'}", CPU).transform.fingerprint == prints[0]


def test_weights_that_are_missing_are_no_random_ones(tmp_path):
    load_file, save_file = needs("safetensors.torch").load_file, needs("safetensors.torch").save_file
    path = vit(tmp_path / "a")
    state = load_file(path / "model.safetensors")
    save_file({name: tensor for name, tensor in state.items() if not name.startswith("classifier")}, path / "model.safetensors")
    with pytest.raises(InputError, match="2 weights are missing, such as classifier"):
        load_model(f"transformers:{path}", CPU)


def test_a_pickle_needs_permission(tmp_path):
    path = vit(tmp_path / "a")
    state = needs("safetensors.torch").load_file(path / "model.safetensors")
    torch.save(state, path / "pytorch_model.bin")
    expected = load_model(f"transformers:{path}", CPU).provenance["weights"]
    (path / "model.safetensors").unlink()
    with pytest.raises(InputError, match="allow_pickle"):
        load_model(f"transformers:{path}", CPU)
    assert load_model(f"transformers:{path}", ModelOptions("cpu", allow_pickle=True)).provenance["weights"] == expected


def test_code_of_a_repository_is_never_run(tmp_path):
    path = vit(tmp_path / "a")
    config = json.loads((path / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModelForImageClassification": "own.Own"}}
    (path / "config.json").write_text(json.dumps(config))
    (path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model(f"transformers:{path}", ModelOptions("cpu", allow_pickle=True))
    assert not (tmp_path / "ran").exists()


def test_models_that_do_not_classify(tmp_path):
    transformers.ViTModel(transformers.ViTConfig(image_size=32, patch_size=16, **SIZES)).save_pretrained(tmp_path / "a")
    (tmp_path / "a" / "preprocessor_config.json").write_text(json.dumps(PROCESSOR))
    with pytest.raises(UsageError, match="a vit model does not classify"):
        load_model(f"transformers:{tmp_path / 'a'}", CPU)
    with pytest.raises(UsageError, match="no setting 'templates'"):
        load_model(f"transformers:{vit(tmp_path / 'b')}?templates=simple", CPU)
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model(f"transformers:{tmp_path / 'none'}", CPU)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("hf") / "clip"
    torch.manual_seed(0)
    vocabulary = {"<|startoftext|>": 0, "<|endoftext|>": 1}
    for letter in LETTERS.replace(" ", ""):
        vocabulary |= {letter: len(vocabulary), f"{letter}</w>": len(vocabulary) + 1}
    text = {**SIZES, "vocab_size": len(vocabulary), "max_position_embeddings": 40, "bos_token_id": 0, "eos_token_id": 1}
    config = transformers.CLIPConfig(
        text_config=text, vision_config={**SIZES, "image_size": 32, "patch_size": 16}, projection_dim=8
    )
    transformers.CLIPModel(config).save_pretrained(path)
    (path / "vocab.json").write_text(json.dumps(vocabulary))
    (path / "merges.txt").write_text("#version: 0.2\n")
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CLIPTokenizer", "model_max_length": 40}))
    (path / "preprocessor_config.json").write_text(
        json.dumps({"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 32}, "crop_size": 32})
    )
    (path / "classes.csv").write_text("label,id,name\n0,n1,cat\n1,n2,dog\n2,n3,zebra\n")
    return path


def test_a_model_that_compares_with_text(clip):
    model = load_model(f"transformers:{clip}?classes={clip}/classes.csv&templates=simple", CPU)
    assert not isinstance(model, FeatureModel)
    images = list(probe_images())
    reference = transformers.CLIPModel.from_pretrained(clip).eval()
    processor = transformers.AutoImageProcessor.from_pretrained(clip)
    tokenizer = transformers.AutoTokenizer.from_pretrained(clip)
    texts = [f"a photo of a {name}." for name in ("cat", "dog", "zebra")]
    with torch.no_grad():
        inputs = {**tokenizer(texts, padding=True, return_tensors="pt"), **processor(images=images, return_tensors="pt")}
        expected = reference(**inputs).logits_per_image.numpy()
    batch = np.stack([model.transform(image) for image in images])
    assert np.allclose(model.scores(batch), expected, atol=1e-4)
    assert [one.id for one in model.label_space.classes] == ["n1", "n2", "n3"]
    assert model.provenance["templates"] == "simple"


def test_it_needs_classes(clip):
    with pytest.raises(UsageError, match="classes are missing"):
        load_model(f"transformers:{clip}", CPU)
