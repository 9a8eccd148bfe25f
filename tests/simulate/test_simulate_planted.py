from __future__ import annotations

import io

import numpy as np
import pytest

from resit.data.benchmark import ClassInfo
from resit.data.decode import decode
from resit.errors import UsageError
from resit.simulate.labelled import Labelled
from resit.simulate.planted import CHANGES, Plants, changed, plant

CLASSES = tuple(ClassInfo(name, name) for name in "abcd")


def png(pixels: np.ndarray) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def noise(n: int, seed: int) -> Labelled:
    rng = np.random.default_rng(seed)
    files = tuple(png(rng.integers(0, 256, (6, 5, 3), dtype=np.uint8)) for _ in range(n))
    return Labelled(files, np.arange(n) % len(CLASSES), CLASSES)


CANDIDATES, ORIGINALS, REFERENCES = noise(100, 1), noise(40, 2), noise(40, 3)


@pytest.fixture(scope="module")
def planted():
    return plant(CANDIDATES, ORIGINALS, REFERENCES, Plants(0.2, 0.25, 0.3), seed=5)


def test_as_many_labels_are_wrong_as_wanted(planted):
    assert planted.wrong.sum() == 20
    assert planted.tempting.sum() == 5
    assert planted.wrong[planted.tempting].all()
    assert np.array_equal(planted.true_labels[:100], CANDIDATES.labels)
    assert planted.candidates.files[:100] == CANDIDATES.files


def test_copies_come_from_each_source_and_are_new(planted):
    names = {"reference": REFERENCES, "original": ORIGINALS, "candidate": CANDIDATES}
    label_of = {digest: label for some in names.values() for digest, label in zip(some.digests, some.labels, strict=True)}
    twins = planted.twins[100:]
    assert [sum(twin in some.digests for twin in twins) for some in names.values()] == [10, 10, 10]
    assert [planted.changes[100:].count(change) for change in CHANGES] == [12, 9, 9]
    assert len(set(twins)) == 30
    assert len({*planted.candidates.digests, *ORIGINALS.digests, *REFERENCES.digests}) == 100 + 30 + 80
    assert [label_of[twin] for twin in twins] == planted.candidates.labels[100:].tolist()
    assert not planted.wrong[100:].any()
    mislabelled = {digest for digest, wrong in zip(CANDIDATES.digests, planted.wrong, strict=False) if wrong}
    assert not mislabelled & set(twins)


def test_changes_are_as_told():
    pixels = np.array([[[0, 10, 250], [20, 30, 40], [50, 60, 70]]] * 2, np.uint8)
    again = {change: np.asarray(decode(changed(png(pixels), change)).image) for change in CHANGES}
    assert again["shifted"][0].tolist() == [[0, 10, 250], [0, 10, 250], [20, 30, 40]]
    assert again["brightened"][1].tolist() == [[12, 22, 255], [32, 42, 52], [62, 72, 82]]
    smooth = np.broadcast_to(np.arange(64, dtype=np.uint8)[:, None, None] * 2, (64, 64, 3)).copy()
    data = changed(png(smooth), "reencoded")
    assert data.startswith(b"\xff\xd8")
    assert np.abs(np.asarray(decode(data).image).astype(int) - smooth).max() <= 6
    with pytest.raises(UsageError, match="no change 'turned'"):
        changed(png(pixels), "turned")


def test_nothing_is_planted_where_nothing_is_wanted():
    found = plant(CANDIDATES, ORIGINALS, REFERENCES, Plants(0, 0, 0))
    assert found.candidates.files == CANDIDATES.files
    assert not found.wrong.any()


def test_the_seed_decides():
    one, same, other = (plant(CANDIDATES, ORIGINALS, REFERENCES, Plants(), seed=seed) for seed in (1, 1, 2))
    assert one.candidates.files == same.candidates.files
    assert np.array_equal(one.candidates.labels, same.candidates.labels)
    assert not np.array_equal(one.wrong, other.wrong)
    assert one.twins != other.twins


def test_what_cannot_be_planted_is_refused():
    with pytest.raises(UsageError, match="wrong -1 is no share"):
        Plants(wrong=-1)
    with pytest.raises(UsageError, match="images to copy, while 100 near-duplicates are wanted"):
        plant(CANDIDATES, noise(0, 1), noise(0, 1), Plants(0.5, 0, 1))
    single = Labelled(CANDIDATES.files, np.zeros(100, np.int64), CLASSES[:1])
    with pytest.raises(UsageError, match="wrong labels of a single class"):
        plant(single, ORIGINALS, REFERENCES, Plants())
