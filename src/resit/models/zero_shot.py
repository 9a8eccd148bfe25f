"""Classes as sentences, for models that compare images with text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.data.guard import reading
from resit.data.paths import short_list
from resit.errors import InputError, UsageError
from resit.models.library import library
from resit.models.protocol import LabelSpace
from resit.models.spaces import named
from resit.models.torch_model import full_float32
from resit.models.weights import text_digest

if TYPE_CHECKING:
    import torch

SETTINGS = ("classes", "names", "templates")
SIMPLE = ("a photo of a {}.",)
CLASSES_AT_ONCE = 16


@dataclass(frozen=True)
class Prompts:
    """Sentences for each class.

    Parameters
    ----------
    label_space : LabelSpace
    names : tuple of str
        What each class is called in the sentences.
    templates : tuple of callable
        Each makes a sentence of a name.
    provenance : mapping of str to str
        Where names and templates come from, and a digest of all sentences.
    """

    label_space: LabelSpace
    names: tuple[str, ...]
    templates: tuple[Callable[[str], str], ...]
    provenance: Mapping[str, str]

    def sentences(self, name: str) -> list[str]:
        """The sentences for one class."""
        return [template(name) for template in self.templates]


def read_prompts(settings: Mapping[str, str], where: str) -> Prompts:
    """Sentences from the settings of a spec.

    Parameters
    ----------
    settings : mapping
        ``classes``: a bundled list such as ``imagenet-1k``, or the path of a class list. ``names``: ``list`` (its own names) or
        ``openai`` (the names that OpenAI wrote for ImageNet's classes; the default for ``imagenet-1k``). ``templates``:
        ``openai`` (80 sentences; the default), ``simple`` ("a photo of a …"), or the path of a text file with one sentence a
        line and ``{}`` for the name.

    Raises
    ------
    UsageError
        If the classes are missing, two have one name, or a setting is unknown.
    InputError
        If a file cannot be read.

    Notes
    -----
    OpenAI's names for ImageNet have "missile" and "sunglasses" twice. Published figures are made with them, so they are taken
    as they are: the two classes always have equal scores, and the first one is the answer. Provenance says so.

    References
    ----------
    Radford, A., et al. (2021). Learning Transferable Visual Models From Natural Language Supervision. arXiv:2103.00020.
    """
    if "classes" not in settings:
        fix = "Give ?classes=imagenet-1k, or the path of a class list."
        raise UsageError("it compares images with text, and the classes are missing", where=where, fix=fix)
    label_space = named(settings["classes"], where)
    source = settings.get("names", "openai" if label_space.name == "imagenet-1k" else "list")
    names = _names(source, label_space, where)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice and source == "list":
        fix = "Give names that tell the classes apart, in a class list; for imagenet-1k there is ?names=openai."
        raise UsageError(f"more than one class is called {short_list(twice)}", where=where, fix=fix)
    kind = settings.get("templates", "openai")
    templates = _templates(kind, where)
    every = "\n".join(template(name) for name in names for template in templates)
    told = f"{source}, which has twice: {', '.join(twice)}" if twice else source
    provenance = {"names": told, "templates": kind, "sentences": text_digest(every)}
    return Prompts(label_space, names, templates, provenance)


def class_vectors(prompts: Prompts, encode: Callable[[list[str]], torch.Tensor]) -> torch.Tensor:
    """One unit vector for each different name: the mean of the unit vectors of its sentences, scaled to length one.

    Parameters
    ----------
    prompts : Prompts
    encode : callable
        Vectors of sentences, shape (number of sentences, width).

    Returns
    -------
    tensor of float32, shape (different names, width)
        In the order in which they first come.
    """
    import torch

    found = []
    with torch.no_grad(), full_float32():
        names = list(dict.fromkeys(prompts.names))
        for start in range(0, len(names), CLASSES_AT_ONCE):
            some = names[start : start + CLASSES_AT_ONCE]
            vectors = unit(encode([text for name in some for text in prompts.sentences(name)]).float())
            found.append(unit(vectors.reshape(len(some), len(prompts.templates), -1).mean(dim=1)))
    return torch.cat(found)


def unit(vectors: torch.Tensor) -> torch.Tensor:
    """Rows scaled to length one."""
    import torch

    return torch.nn.functional.normalize(vectors, dim=-1)


def zero_shot_forward(
    encode_image: Callable[[Any, torch.Tensor], torch.Tensor], vectors: torch.Tensor, prompts: Prompts
) -> Callable[[Any, torch.Tensor], torch.Tensor]:
    """What gives the scores of a model and a batch: the cosines of images with classes, times the model's own scale.

    The model's ``logit_scale`` is the logarithm of the scale; a ``logit_bias`` is the same for all classes and left out.

    Parameters
    ----------
    encode_image : callable
        Vectors of a model and a batch of images.
    vectors : tensor, shape (different names, width)
        As `class_vectors` gives them.
    prompts : Prompts
        Classes of one name have equal scores, to the bit.
    """
    import torch

    place = {name: i for i, name in enumerate(dict.fromkeys(prompts.names))}
    columns = torch.tensor([place[name] for name in prompts.names], device=vectors.device)

    def forward(model: Any, images: torch.Tensor) -> torch.Tensor:
        encoded = unit(encode_image(model, images).float())
        with torch.autocast(images.device.type, enabled=False):
            scores = model.logit_scale.float().exp() * encoded @ vectors.T
        return scores[:, columns]

    return forward


def _names(source: str, label_space: LabelSpace, where: str) -> tuple[str, ...]:
    if source == "list":
        return tuple(one.name for one in label_space.classes)
    if source != "openai":
        raise UsageError(f"no names {source!r}", where=where, fix="Use list or openai.")
    if label_space.name != "imagenet-1k":
        raise UsageError(f"OpenAI's names are of imagenet-1k, not of {label_space.name}", where=where, fix="Use ?names=list.")
    return tuple(library("open_clip", "open-clip").IMAGENET_CLASSNAMES)


def _templates(kind: str, where: str) -> tuple[Callable[[str], str], ...]:
    if kind == "openai":
        return tuple(library("open_clip", "open-clip").OPENAI_IMAGENET_TEMPLATES)
    if kind == "simple":
        return _of_lines(SIMPLE)
    path = Path(kind).expanduser()
    if not path.is_file():
        raise UsageError(f"no templates {kind!r}", where=where, fix="Use openai, simple, or the path of a text file.")
    with reading(path):
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if not lines or any(line.count("{}") != 1 for line in lines):
        raise InputError("a line without exactly one {}", where=path, fix="Write one sentence a line: a photo of a {}.")
    return _of_lines(lines)


def _of_lines(lines: Sequence[str]) -> tuple[Callable[[str], str], ...]:
    return tuple(lambda name, line=line: line.replace("{}", name) for line in lines)
