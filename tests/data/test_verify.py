"""A test set on disk is checked: each planted fault is found, and a sound one has none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from resit.data.benchmark import Benchmark
from resit.data.registry import register
from resit.data.verify import ClassCount, VerifyReport, verify
from resit.errors import InputError, UsageError

Make = Callable[[str, int], Path]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty folders of the user, and one known test set."""
    monkeypatch.setenv("RESIT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("resit.data.registry._REGISTERED", {})
    numbered = {"pattern": r"img_(\d+)", "first": 1, "last": 6}
    register({"name": "pets", "n": 6, "per_class": {"cat": 3, "dog": 3}, "numbered": numbered})


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """Six images, three of each of two classes, all different."""
    from PIL import Image

    root = tmp_path / "pets"
    for number in range(1, 7):
        folder = root / ("cat" if number < 4 else "dog")
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (number, 0, 0)).save(folder / f"img_{number}.png")
    return root


def test_a_sound_test_set_has_no_problem(pets: Path):
    found = verify(f"pets={pets}")
    assert found.ok
    assert found.problems == ()
    assert (found.n, found.n_expected, found.n_decoded, found.card) == (6, 6, 6, "pets")
    assert found.classes == (ClassCount("cat", "cat", 3, 3), ClassCount("dog", "dog", 3, 3))
    assert str(found).splitlines()[0] == "pets: 6 examples of 2 classes, 6 images decoded; compared with the card pets"
    assert "no problem found" in str(found)


def test_missing_images_are_named_by_their_numbers(pets: Path):
    (pets / "cat" / "img_2.png").unlink()
    found = verify(f"pets={pets}")
    assert not found.ok
    assert (found.missing, found.extra) == (("number 2",), ())
    assert found.problems == (
        "5 examples, while the card pets says 6 (1 too few)",
        "1 class with another number of examples: cat has 2, not 3",
        "1 image is missing: number 2",
    )


def test_images_that_do_not_belong_are_named(pets: Path):
    (pets / "dog" / "img_4.png").rename(pets / "dog" / "img_9.png")
    (pets / "dog" / "img_5.png").rename(pets / "dog" / "other.png")
    found = verify(f"pets={pets}")
    assert (found.missing, found.extra) == (("number 4", "number 5"), ("dog/img_9.png", "dog/other.png"))


def test_case_13_truncated_and_unreadable_images_are_found_and_the_others_decoded(pets: Path):
    whole = (pets / "cat" / "img_1.png").read_bytes()
    (pets / "cat" / "img_1.png").write_bytes(whole[:-30])
    (pets / "dog" / "img_6.png").write_bytes(b"<html>no image</html>")
    (pets / "dog" / "img_5.png").write_bytes(b"")
    found = verify(f"pets={pets}", workers=2)
    assert [Path(bad.where).name for bad in found.unreadable] == ["img_1.png", "img_5.png", "img_6.png"]
    assert all(bad.reason for bad in found.unreadable)
    assert found.n_decoded == 6
    assert any(problem.startswith("3 of 6 images cannot be read") for problem in found.problems)
    assert verify(f"pets={pets}", decode=False).unreadable == ()


def test_identical_images_are_found_with_and_without_the_same_label(pets: Path):
    (pets / "cat" / "img_2.png").write_bytes((pets / "cat" / "img_1.png").read_bytes())
    (pets / "dog" / "img_6.png").write_bytes((pets / "cat" / "img_3.png").read_bytes())
    found = verify(f"pets={pets}")
    assert [([Path(w).name for w in group.where], group.same_labels) for group in found.duplicates] == [
        (["img_1.png", "img_2.png"], True),
        (["img_3.png", "img_6.png"], False),
    ]
    assert "1 group of identical images with different labels" in "\n".join(found.problems)


def test_ids_that_are_given_are_compared_with_their_order(pets: Path, tmp_path: Path):
    names = [f"{'cat' if n < 4 else 'dog'}/img_{n}.png" for n in range(1, 7)]
    table = tmp_path / "ids.csv"

    def compare(ids: list[str]) -> VerifyReport:
        table.write_text("id,label\n" + "".join(f"{key},x\n" for key in ids))
        return verify(f"pets={pets}", ids=table)

    assert (compare(names).order, compare(names).ok) == ("same", True)
    turned = compare(names[::-1])
    assert (turned.order, turned.problems) == ("other", ("the images are in another order than expected",))
    other = compare([*names[1:], "cat/img_7.png"])
    assert (other.missing, other.extra, other.order) == (("cat/img_7.png",), ("cat/img_1.png",), None)
    table.write_text("label\nx\n")
    with pytest.raises(InputError, match="no column of ids"):
        verify(f"pets={pets}", ids=table)


def test_without_a_card_images_are_still_decoded(pets: Path):
    (pets / "cat" / "img_1.png").write_bytes(b"x")
    found = verify(pets)
    assert (found.card, found.n_expected, len(found.unreadable)) == (None, None, 1)
    assert "no card to compare with" in str(found)


def test_what_cannot_be_read_at_all_is_an_error(tmp_path: Path):
    with pytest.raises(UsageError, match="no such file or folder"):
        verify(tmp_path / "gone")


class Slow:
    """Images that count how many are read at the same time."""

    def __init__(self, n: int) -> None:
        self.n, self.now, self.most, self.lock = n, 0, 0, threading.Lock()

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> np.ndarray:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        image = np.full((2, 2, 3), index % 250, np.uint8)
        with self.lock:
            self.now -= 1
        if index == 7:
            raise OSError("disk gone")
        return image

    def where(self, index: int) -> str:
        return f"row {index}"

    @property
    def fingerprint(self) -> str:
        return "slow"


def test_images_are_read_a_few_at_a_time_in_order_and_progress_is_told():
    images = Slow(2500)
    told: list[tuple[int, int]] = []
    benchmark = Benchmark("slow", np.zeros((2500, 1), np.int32), images=images)  # type: ignore[arg-type]
    found = verify(benchmark, workers=3, progress=lambda *step: told.append(step))
    assert images.most <= 3
    assert [(bad.where, bad.reason) for bad in found.unreadable] == [("row 7", "disk gone")]
    assert len(found.duplicates) == 250
    assert found.duplicates[0].where == tuple(f"row {i}" for i in range(0, 2500, 250))
    assert told[-1] == (2500, 2500)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_real_images_are_all_readable(shared_data: Path):
    found = verify(shared_data / "imagenet-sample", classes="imagenet-1k")
    assert (found.n, found.n_decoded, found.unreadable, found.duplicates) == (300, 300, (), ())
    assert sum(count.found == 1 for count in found.classes) == 300


def test_the_real_test_set_of_cifar_10_is_whole(shared_data: Path):
    found = verify(f"cifar-10={shared_data / 'cifar10' / 'test.parquet'}")
    assert found.problems == ()
    assert (found.n, found.n_decoded, found.n_expected) == (10_000, 10_000, 10_000)
    assert {count.found for count in found.classes} == {1000}
