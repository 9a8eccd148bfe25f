from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from extras import needs
from resit.build.collect import ClassRules, Query, open_source
from resit.data.load_benchmark import load_benchmark
from resit.errors import InputError, UsageError
from resit.simulate.labelled import read_labelled, write_labelled
from resit.simulate.parts import DIGITS, Parts, digits_parts, given_parts
from resit.simulate.planted import Plants
from resit.simulate.pool import Pool, make_pool

needs("sklearn")


def test_digits_are_split_into_thirds_that_share_nothing(parts: Parts):
    thirds = [set(part.digests) for part in (parts.original, parts.candidates, parts.references)]
    assert [len(third) for third in thirds] == [599, 599, 599]
    assert len(set.union(*thirds)) == 1797


def test_pixels_and_labels_are_those_of_scikit_learn(parts: Parts):
    bunch = needs("sklearn.datasets").load_digits()
    known = {image.tobytes(): label for image, label in zip(np.round(bunch.images), bunch.target, strict=True)}
    pixels = parts.original.pixels(8).reshape(-1, 8, 8, 3)
    greys = np.round(pixels[..., 0] * 16).astype(float)
    assert np.ptp(pixels, axis=-1).max() == 0
    assert [known[image.tobytes()] for image in greys] == parts.original.labels.tolist()


def test_files_are_read_back_as_they_were(parts: Parts, pool: Pool):
    for source, part in ((pool.original, parts.original), (pool.references[0], parts.references)):
        benchmark = load_benchmark(source)
        assert [info.id for info in benchmark.classes] == list(DIGITS)
        again = read_labelled(benchmark)
        assert again.files == part.files
        assert again.class_ids == part.class_ids


def test_files_are_read_by_datasets(pool: Pool, tmp_path: Path):
    datasets = needs("datasets")
    loaded = datasets.load_dataset("parquet", data_files=pool.original, split="train", cache_dir=str(tmp_path))
    assert loaded.features["label"].names == list(DIGITS)
    assert loaded[0]["image"].size == (32, 32)


def test_candidates_are_a_source_whose_truth_is_known(pool: Pool):
    source = open_source(f"parquet:{pool.candidates}", ClassRules(pool.classes))
    found = list(source.found([Query(info.id) for info in pool.classes]))
    listed = sorted((one.class_id, hashlib.sha256(one.data).hexdigest()) for one in found)
    truth = pool.truth.filter(pc.equal(pool.truth["role"], "candidate"))
    assert listed == list(zip(truth["class_id"].to_pylist(), truth["image"].to_pylist(), strict=True))
    assert pq.read_table(pool.candidates.with_name("truth.parquet")).equals(pool.truth)


def test_truth_says_what_was_planted(parts: Parts, pool: Pool):
    truth = pool.truth.to_pylist()
    true = dict(zip(parts.candidates.digests, parts.candidates.class_ids, strict=True))
    wrong = [row for row in truth if row["planted"] == "wrong-label"]
    assert len(wrong) == 30
    assert all(row["class_id"] != row["true_class"] == true[row["image"]] for row in wrong)
    assert all(row["class_id"] == row["true_class"] for row in truth if row["planted"] != "wrong-label")
    copies = [row for row in truth if row["planted"] == "near-duplicate"]
    sources = [parts.references.digests, parts.original.digests, parts.candidates.digests]
    assert [sum(row["twin"] in set(some) for row in copies) for some in sources] == [10, 10, 10]
    assert not {row["image"] for row in copies} & set().union(*sources)
    assert "30 wrong labels and 30 near-duplicates" in str(pool)


def test_clarity_is_that_of_cifar_10h_but_for_what_was_planted(pool: Pool):
    clear = {kind: [] for kind in ("", "wrong-label", "near-duplicate")}
    for row in pool.truth.to_pylist():
        clear[row["planted"]].append(row["clarity"])
    assert np.mean(clear[""]) == pytest.approx(0.949, abs=0.006)
    believed = np.array(clear["wrong-label"]) > 0.12
    assert 12 <= believed.sum() <= 15  # half of them, of which very few are unclear themselves
    assert (np.array(clear["wrong-label"])[~believed] < 0.12).all()


def test_a_copy_is_as_clear_as_its_twin(pool: Pool):
    clear = {row["image"]: row["clarity"] for row in pool.truth.to_pylist()}
    copies = [row for row in pool.truth.to_pylist() if row["twin"] in clear]
    assert len(copies) == 20
    assert all(row["clarity"] == clear[row["twin"]] for row in copies)


def test_the_seed_decides_everything(parts: Parts, pool: Pool, tmp_path: Path):
    again = digits_parts(tmp_path / "again", seed=3)
    assert (tmp_path / "again/original.parquet").read_bytes() == Path(parts.original_source).read_bytes()
    made = make_pool(again, tmp_path / "again", seed=3)
    assert made.truth.equals(pool.truth)
    assert made.candidates.read_bytes() == pool.candidates.read_bytes()
    other = make_pool(parts, tmp_path / "other", seed=4)
    assert set(other.truth["twin"].to_pylist()) != set(pool.truth["twin"].to_pylist())
    assert set(digits_parts(tmp_path / "split", seed=4).original.digests) != set(parts.original.digests)


def test_files_that_are_given_are_taken(parts: Parts, digits_folder: Path, tmp_path: Path):
    write_labelled(parts.candidates, tmp_path / "given.parquet")
    original, train = parts.original_source, parts.reference_sources
    made = given_parts(original, str(tmp_path / "giv*.parquet"), train, most=100, seed=1)
    assert made.original.files == parts.original.files
    assert made.references.files == parts.references.files
    assert len(made.candidates) == 100
    assert set(made.candidates.digests) < set(parts.candidates.digests)
    assert (made.original_source, made.reference_sources) == (original, train)
    pool = make_pool(made, tmp_path / "made", plants=Plants(0, 0, 0))
    found = pool.truth.filter(pc.equal(pool.truth["role"], "candidate"))
    assert sorted(found["image"].to_pylist()) == sorted(made.candidates.digests)


def test_cifar_files_are_read_with_a_class_list(shared_data: Path):
    place = str(shared_data / "cifar10" / "train-5-of-5.parquet")
    made = given_parts(place, place, [place], classes="cifar-10", most=50, seed=2)
    assert made.candidates.classes[0].id == "airplane"
    assert len(made.references) == 5_000
    assert set(made.candidates.digests) <= set(made.original.digests)


def test_parts_that_do_not_fit_are_refused(parts: Parts, tmp_path: Path):
    place = parts.original_source
    with pytest.raises(UsageError, match="no references"):
        given_parts(place, place, [])
    fewer = replace(parts.references, labels=parts.references.labels % 2, classes=parts.references.classes[:2])
    write_labelled(fewer, tmp_path / "train.parquet")
    with pytest.raises(InputError, match="classes that are not those of"):
        given_parts(place, place, [str(tmp_path / "train.parquet")])
