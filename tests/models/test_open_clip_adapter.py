"""Zero-shot models of open_clip, tiny and random, from folders made here."""

from __future__ import annotations

import json

import numpy as np
import pytest

from extras import needs
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.adapters.open_clip import _refuse_other_activation
from resit.models.load import load_model
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import FeatureModel
from resit.models.transforms import WrappedTransform, probe_images
from resit.models.zero_shot import read_prompts

open_clip, torch = needs("open_clip"), needs("torch")
save_file = needs("safetensors.torch").save_file

CPU = ModelOptions(device="cpu")
MODEL = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}
CLASSES = "label,id,name\n0,n1,tabby cat\n1,n2,dog\n2,n3,zebra\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("clip") / "tiny"
    path.mkdir()
    with torch.no_grad():
        model = open_clip.model.CLIP(**{**MODEL, "vision_cfg": open_clip.CLIPVisionCfg(**MODEL["vision_cfg"])})
    save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()}, path / "open_clip_model.safetensors")
    configure(path, {})
    (path / "classes.csv").write_text(CLASSES)
    return path


def configure(path, preprocess):
    (path / "open_clip_config.json").write_text(json.dumps({"model_cfg": MODEL, "preprocess_cfg": preprocess}))


def load(folder, query=""):
    return load_model(f"open_clip:local-dir:{folder}?classes={folder}/classes.csv{query}", CPU)


def by_the_book(folder, templates):
    """Scores as open_clip's own documentation computes them."""
    model, _, prepare = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    model.eval()
    classifier = open_clip.build_zero_shot_classifier(model, tokenizer, ["tabby cat", "dog", "zebra"], templates)
    with torch.no_grad():
        images = torch.stack([prepare(image) for image in probe_images()])
        features = torch.nn.functional.normalize(model.encode_image(images), dim=-1)
        return (model.logit_scale.exp() * features @ classifier).numpy()


@pytest.mark.parametrize(
    ("query", "templates"),
    [
        ("", open_clip.OPENAI_IMAGENET_TEMPLATES),
        ("&templates=openai", open_clip.OPENAI_IMAGENET_TEMPLATES),
        ("&templates=simple", ["a photo of a {}."]),
    ],
)
def test_scores_are_those_of_open_clip(folder, query, templates):
    model = load(folder, query)
    batch = np.stack([model.transform(image) for image in probe_images()])
    assert np.allclose(model.scores(batch), by_the_book(folder, templates), atol=1e-4)
    assert model.id == ModelId("tiny")
    assert [one.id for one in model.label_space.classes] == ["n1", "n2", "n3"]
    assert not isinstance(model, FeatureModel)


def test_there_are_eighty_templates():
    assert len(read_prompts({"classes": "cifar-10"}, "x").templates) == 80


def test_templates_of_a_file(folder, tmp_path):
    (tmp_path / "t.txt").write_text("a {} at night\n\na drawing of a {}\n")
    prompts = read_prompts({"classes": "cifar-10", "templates": str(tmp_path / "t.txt")}, "x")
    assert prompts.sentences("frog") == ["a frog at night", "a drawing of a frog"]
    model = load(folder, f"&templates={tmp_path}/t.txt")
    batch = np.stack([model.transform(image) for image in probe_images()])
    expected = by_the_book(folder, ["a {} at night", "a drawing of a {}"])
    assert np.allclose(model.scores(batch), expected, atol=1e-4)
    (tmp_path / "t.txt").write_text("a photo\n")
    with pytest.raises(InputError, match="exactly one"):
        load(folder, f"&templates={tmp_path}/t.txt")


def test_imagenet_has_the_names_that_openai_wrote():
    prompts = read_prompts({"classes": "imagenet-1k"}, "x")
    assert (prompts.names[134], prompts.names[517]) == ("crane bird", "construction crane")
    assert prompts.provenance["names"] == "openai, which has twice: missile, sunglasses"


def test_classes_that_openai_calls_alike_have_equal_scores(folder):
    model = load_model(f"open_clip:local-dir:{folder}?classes=imagenet-1k&templates=simple", CPU)
    names = read_prompts({"classes": "imagenet-1k"}, "x").names
    scores = model.scores(np.stack([model.transform(image) for image in probe_images()]))
    for name in ("missile", "sunglasses"):
        first, second = (i for i, one in enumerate(names) if one == name)
        assert np.array_equal(scores[:, first], scores[:, second])
    assert len(np.unique(scores[0])) == 998


def test_case_23_two_classes_of_one_name_are_refused():
    with pytest.raises(UsageError, match=r"more than one class is called.*crane"):
        read_prompts({"classes": "imagenet-1k", "names": "list"}, "x")


def test_what_makes_the_answers_is_told(folder, tmp_path):
    (tmp_path / "other.csv").write_text(CLASSES.replace("dog", "hound"))
    models = [load(folder), load(folder, "&templates=simple")]
    models.append(load_model(f"open_clip:local-dir:{folder}?classes={tmp_path}/other.csv", CPU))
    assert len({tuple(sorted(model.provenance.items())) for model in models}) == 3
    assert len({model.provenance["weights"] for model in models}) == 1
    assert models[0].provenance == load(folder).provenance


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({}, Preprocess),
        ({"resize_mode": "squash", "interpolation": "bilinear", "mean": [0.5] * 3, "std": [0.5] * 3}, Preprocess),
        ({"resize_mode": "longest"}, WrappedTransform),
    ],
)
def test_images_are_prepared_as_open_clip_does_it(folder, config, kind):
    configure(folder, config)
    model = load(folder)
    _, _, theirs = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    assert isinstance(model.transform, kind)
    for image in probe_images():
        assert np.array_equal(model.transform(image), theirs(image).numpy())
    configure(folder, {})


def test_weights_that_are_missing_are_no_random_ones(folder, tmp_path):
    configure(tmp_path, {})
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model(f"open_clip:local-dir:{tmp_path}?classes={folder}/classes.csv", CPU)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ViT-B-32?classes=cifar-10", "a tag, such as openai"),
        ("local-dir:{folder}?pretrained=openai&classes=cifar-10", "Leave pretrained out"),
        ("local-dir:{folder}", "classes are missing"),
        ("local-dir:{folder}?classes=cifar-11", "cifar-11"),
        ("local-dir:{folder}?classes=cifar-10&names=openai", "of imagenet-1k"),
        ("local-dir:{folder}?classes=cifar-10&names=mine", "no names"),
        ("local-dir:{folder}?classes=cifar-10&templates=some", "no templates"),
    ],
)
def test_specs_that_cannot_be_meant(folder, spec, said):
    with pytest.raises(UsageError, match=said):
        load_model("open_clip:" + spec.format(folder=folder), CPU)


@pytest.mark.parametrize("tag", ["openai", "metaclip_400m"])
def test_weights_of_another_activation_are_refused(tag):
    with pytest.raises(UsageError, match=f"open_clip:ViT-B-32-quickgelu[?]pretrained={tag}"):
        load_model(f"open_clip:ViT-B-32?pretrained={tag}&classes=cifar-10", CPU)


@pytest.mark.parametrize(
    ("name", "tag"), [("ViT-B-32-quickgelu", "openai"), ("ViT-B-32", "laion2b_s34b_b79k"), ("ViT-B-32", "file.pt")]
)
def test_weights_of_the_right_activation_are_not(name, tag):
    _refuse_other_activation(open_clip, name, tag, "")
