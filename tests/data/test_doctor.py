"""The doctor says what is wrong with each path, in one line, and never raises for bad input."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from exam_files import LABELS, write_csv, write_folder

from resit.data.aliases import suggest_aliases
from resit.data.doctor import examine

MIB = 2**20


def images(root: Path) -> None:
    (root / "n01440764").mkdir(parents=True)
    (root / "n01440764" / "a.JPEG").write_bytes(b"\xff\xd8\xff")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"[1, 2, " * 200)
        file.truncate(3 * 2**30)


def cut(path: Path) -> None:
    np.savez(path, a=np.arange(1000))
    path.write_bytes(path.read_bytes()[:500])


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (Path.mkdir, "an empty folder. One file a model is needed"),
    "images": (images, "a folder of images; predictions are needed here"),
    "binary.json": (lambda path: path.write_bytes(bytes(range(256))), "binary data under a .json name"),
    "large.json": (sparse, "3.0 GiB of json, the limit is 256 MiB"),
    "cut.npz": (cut, "cannot be read as npz"),
    "deep.json": (lambda path: path.write_text("[" * 200_000 + "]" * 200_000), "cannot be read as json"),
    "loop": (lambda path: path.symlink_to(path), "a link that leads back to itself"),
    "nothing": (lambda _: None, "no such file or folder"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_line_in_bounded_memory(tmp_path: Path, name: str):
    make, message = BAD[name]
    make(tmp_path / name)
    tracemalloc.start()
    [finding] = examine(tmp_path / name, labels=None if name in ("empty", "images", "loop", "nothing") else LABELS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert finding.kind == "unreadable"
    assert finding.error is not None
    assert message in finding.error
    assert finding.error.startswith(str(tmp_path / name))
    assert "\n" not in finding.error
    assert peak < 64 * MIB


def test_a_healthy_folder(folder: Path):
    [finding] = examine(folder)
    assert finding.kind == "predictions"
    assert finding.summary == "exam: 2 models, 6 examples, 1 answer an example, 3 classes, no ids, by position"
    assert finding.notices == ()
    assert finding.error is None


def test_accuracies_and_right_and_wrong(tmp_path: Path):
    table = write_csv(tmp_path / "imagenet.csv", "model,top1,top5", ["a,70.5,90", "b,71,91"])
    matrix = write_csv(tmp_path / "right.csv", "id,a,b", ["x,0,1", "y,1,1"])
    first, second = examine(table, matrix)
    assert (first.kind, second.kind) == ("accuracies", "correctness")
    assert first.summary == "imagenet: top1, top5 of 2 models, imagenet-1k, from percent"
    assert second.summary == "right: 2 models, 2 examples, right and wrong, ids"


def test_one_bad_path_does_not_hide_the_next(folder: Path, tmp_path: Path):
    bad, good = examine(tmp_path / "nothing", folder)
    assert bad.kind == "unreadable"
    assert good.kind == "predictions"


def test_what_looks_wrong_is_told(tmp_path: Path):
    labels = np.arange(400) % 20
    folder = write_folder(tmp_path, {"shuffled": ((labels + 7) % 20).tolist()}, labels=labels)
    [finding] = examine(folder)
    assert [notice.code for notice in finding.notices] == ["near-chance"]


def test_case_25_and_26_models_on_one_set_only_are_listed_with_the_repair(tmp_path: Path):
    old = write_folder(tmp_path, {"fv_16k": LABELS, "fv_64k": LABELS, "vgg": LABELS}, name="old")
    new = write_folder(tmp_path, {"fv_16k": LABELS, "fv_64k_model": LABELS}, name="new")
    first, second = examine(old, new)
    assert first.notices == ()
    [notice] = second.notices
    assert notice.code == "unmatched-models"
    assert "2 only on old (fv_64k, vgg)" in notice.message
    assert "1 only on new (fv_64k_model)" in notice.message
    assert notice.message.endswith("compare with --alias fv_64k_model=fv_64k.")


@pytest.mark.parametrize(
    ("original", "new", "found"),
    [
        (["fv_64k"], ["fv_64k_model"], ("fv_64k_model=fv_64k",)),
        (["ResNet-50"], ["resnet50"], ("resnet50=ResNet-50",)),
        (["resnet50"], ["resnet101"], ()),
        (["a-b", "a_b"], ["ab"], ()),
        (["model"], ["predictions"], ()),
        ([], ["x"], ()),
    ],
)
def test_case_25_names_that_look_alike_are_only_suggested(original: list[str], new: list[str], found: tuple[str, ...]):
    assert suggest_aliases(original, new) == found
