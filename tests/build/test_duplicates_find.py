"""The nearest images: as pair by pair, in every order and size of blocks, and gone on with as if done at once."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from duplicates_made import SLOW, all_distances, by_metric, made, pictures
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from resit import Benchmark, InputError, UsageError
from resit.build.config import BuildConfig, OriginalConfig
from resit.build.duplicates import find, search
from resit.build.duplicates.find import find_pairs
from resit.build.duplicates.pictures import Pictures, pictures_of_benchmark, pictures_of_folder
from resit.build.folder import BuildFolder
from resit.data.image_sources.arrays import ArrayImages
from resit.store.schemas import PAIRS

METRICS = ("l2", "correlation", "shifted", "mirrored", "dssim", "relative")
MIB = 2**20


def names(letter: str, n: int) -> list[str]:
    return [f"{letter}{place:03}" for place in range(n)]


def found(candidates: Pictures, references: dict[str, Pictures], **more: object) -> pa.Table:
    return pa.concat_tables(list(find_pairs(candidates, references, **{"metrics": METRICS, "neighbours": 5, **more})))


@pytest.fixture(scope="module")
def pool() -> np.ndarray:
    return made(60)


@pytest.fixture(scope="module")
def lists(pool: np.ndarray) -> pa.Table:
    references = {"train": pictures(pool[25:45], names("t", 20)), "old": pictures(pool[45:], names("o", 15))}
    return found(pictures(pool[:25], names("c", 25)), references)


@pytest.mark.parametrize("metric", ["l2", "correlation", "shifted", "mirrored"])
def test_lists_are_the_nearest_as_pair_by_pair(pool, lists, metric):
    others = [("", name) for name in names("c", 25)]
    others += [("train", name) for name in names("t", 20)] + [("old", name) for name in names("o", 15)]
    slow = all_distances(metric, pool[:25], pool)
    got = by_metric(lists, 5)
    for place, image in enumerate(names("c", 25)):
        # Distances that are the same but for rounding are ties.
        order = sorted((round(slow[place, at], 9), *name) for at, name in enumerate(others) if name != ("", image))
        mine = got[metric, image]
        assert [(reference, other) for reference, other, _, _ in mine] == [(name[1], name[2]) for name in order[:5]]
        assert np.allclose([row[2] for row in mine], [row[0] for row in order[:5]], atol=2e-9)
        assert [row[3] for row in mine] == [1, 2, 3, 4, 5]


def test_pictures_that_are_the_same_are_at_exactly_zero(pool, lists):
    kinds = dict(zip(names("c", 25) + names("t", 20) + names("o", 15), pool, strict=True))
    same = [row for row in lists.to_pylist() if np.array_equal(kinds[row["image"]], kinds[row["other"]])]
    assert {row["metric"] for row in same} >= {"l2", "correlation", "dssim"}
    assert all(row["distance"] == 0 for row in same if row["metric"] in ("l2", "correlation", "dssim"))


def test_dssim_scores_what_the_others_found(pool, lists):
    kinds = dict(zip(names("c", 25) + names("t", 20) + names("o", 15), pool, strict=True))
    got = by_metric(lists, 5)
    for image in names("c", 25):
        short = {(row[0], row[1]) for metric in ("l2", "correlation", "shifted", "mirrored") for row in got[metric, image]}
        order = sorted((round(SLOW["dssim"](kinds[image], kinds[other]), 9), reference, other) for reference, other in short)
        assert [(row[0], row[1]) for row in got["dssim", image]] == [(one[1], one[2]) for one in order[:5]]
        assert np.allclose([row[2] for row in got["dssim", image]], [one[0] for one in order[:5]], atol=2e-9)


def test_relative_is_shifted_against_the_last_neighbour(lists):
    got = by_metric(lists, 5)
    for image in names("c", 25):
        last = got["shifted", image][-1][2]
        assert [row[:2] for row in got["relative", image]] == [row[:2] for row in got["shifted", image]]
        want = [row[2] / last if last else 0 for row in got["shifted", image]]
        assert np.allclose([row[2] for row in got["relative", image]], want)


def test_relative_of_a_short_list_is_shifted_itself(pool):
    lists = by_metric(found(pictures(pool[:3], names("c", 3)), {}), 5)
    assert [row[2] for row in lists["relative", "c000"]] == [row[2] for row in lists["shifted", "c000"]]


@pytest.mark.parametrize("step", ["order", "blocks", "memory"])
def test_order_and_blocks_change_nothing(pool, lists, step, monkeypatch):
    order = np.random.default_rng(1).permutation(25) if step == "order" else np.arange(25)
    more = {"memory": 64 * MIB} if step == "memory" else {}
    if step == "blocks":
        monkeypatch.setattr(search, "LEAST_BLOCK", 3)
        monkeypatch.setattr(search, "MOST_BLOCK", 3)
        monkeypatch.setattr(search, "TILE", 4)
        monkeypatch.setattr(search, "SCORE", 2)
        monkeypatch.setattr(find, "MOST_CHUNK", 4)
    candidates = pictures(pool[:25][order], [names("c", 25)[place] for place in order])
    references = {"old": pictures(pool[45:], names("o", 15)), "train": pictures(pool[25:45], names("t", 20))}
    assert by_metric(found(candidates, references, **more), 5) == by_metric(lists, 5)


def test_many_pictures_that_tie_stand_in_order(pool):
    same = np.repeat(pool[:1], 400, axis=0)
    ids = [f"{place * 7919 % 400:03}" for place in range(400)]
    got = by_metric(found(pictures(pool[:1], ["c"]), {"b": pictures(same, ids), "a": pictures(pool[4:5], ["x"])}), 5)
    assert [row[1] for row in got["l2", "c"]] == ["000", "001", "002", "003", "004"]
    assert all(row[2] == 0 for metric in METRICS if metric != "mirrored" for row in got[metric, "c"])


def test_an_image_that_is_in_a_reference_finds_it_and_not_itself(pool):
    got = by_metric(found(pictures(pool[:2], ["a", "b"]), {"r": pictures(pool[:1], ["a"])}), 5)
    assert got["l2", "a"][0] == ("r", "a", 0.0, 1)
    assert [row[:2] for row in got["l2", "a"]] == [("r", "a"), ("", "b")]


def test_an_image_that_is_there_twice_counts_once(pool):
    rows = [0, 1, 0, 2]
    twice = found(pictures(pool[rows], ["a", "b", "a", "c"]), {"r": pictures(pool[[5, 5]], ["d", "d"])})
    once = found(pictures(pool[:3], ["a", "b", "c"]), {"r": pictures(pool[[5]], ["d"])})
    assert twice.equals(once)


def test_nothing_to_compare(pool):
    assert list(find_pairs(pictures(pool[:0], []), {"r": pictures(pool[:2], ["a", "b"])})) == []
    (alone,) = find_pairs(pictures(pool[:1], ["a"]), {})
    assert alone.num_rows == 0
    assert alone.column_names == list(PAIRS)


def merged(stored: pa.Table, fresh: list[pa.Table]) -> pa.Table:
    """What a store holds that takes the figures of the last row of each key."""
    rows = {
        (row["metric"], row["image"], row["other"], row["reference"]): row
        for part in (stored, *fresh)
        for row in part.to_pylist()
    }
    return pa.Table.from_pylist(list(rows.values()), schema=stored.schema)


def assert_same_lists(one: pa.Table, two: pa.Table, neighbours: int) -> None:
    assert by_metric(one, neighbours) == by_metric(two, neighbours)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_fresh_candidates_give_what_all_at_once_would(data):
    seed, n = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 24))
    pool, k = made(40, seed), data.draw(st.integers(1, 6))
    ids = names("c", n)
    cuts = [*sorted(data.draw(st.lists(st.integers(0, n), max_size=2))), n]
    references = {"r": pictures(pool[30:36], names("r", 6))}
    stored, before = None, 0
    for cut in cuts:
        part = list(
            find_pairs(
                pictures(pool[:cut], ids[:cut]), references, fresh=ids[before:cut], stored=stored, metrics=METRICS, neighbours=k
            )
        )
        empty = pa.concat_tables(part).slice(0, 0) if part else None
        if part:
            stored = merged(stored if stored is not None else empty, part)
        before = cut
    assert_same_lists(stored, found(pictures(pool[:n], ids), references, neighbours=k), k)


def test_what_was_pushed_off_a_list_comes_again_with_a_later_rank(pool):
    ids = names("c", 25)
    old = found(pictures(pool[:12], ids[:12]), {})
    parts = list(find_pairs(pictures(pool[:25], ids), {}, stored=old, metrics=METRICS, neighbours=5))
    union = merged(old, parts)
    for metric in METRICS:
        for image in ids[:12]:
            ranks = [row["rank"] for row in union.to_pylist() if row["metric"] == metric and row["image"] == image]
            assert sorted(ranks) == list(range(1, len(ranks) + 1))
    assert max(union["rank"].to_pylist()) > 5


def test_a_reference_that_came_later(pool):
    ids, more = names("c", 10), {"new": pictures(pool[20:40], names("n", 20))}
    first = {"old": pictures(pool[40:50], names("o", 10))}
    old = found(pictures(pool[:10], ids), first)
    parts = find_pairs(
        pictures(pool[:10], ids), {**first, **more}, stored=old, fresh_references=["new"], metrics=METRICS, neighbours=5
    )
    assert_same_lists(merged(old, list(parts)), found(pictures(pool[:10], ids), {**first, **more}), 5)


def test_lists_that_cannot_be_gone_on_with_are_made_again(pool):
    """They are of a reference that is gone, or shorter than wanted, or lack a metric."""
    candidates = pictures(pool[:10], names("c", 10))
    whole = found(candidates, {"r": pictures(pool[20:40], names("r", 20))})
    gone = found(candidates, {"q": pictures(pool[40:50], names("q", 10))})
    short = found(candidates, {"r": pictures(pool[20:40], names("r", 20))}, neighbours=3)
    bare = found(candidates, {"r": pictures(pool[20:40], names("r", 20))}, metrics=("l2",))
    for stored in (gone, short, bare):
        again = found(candidates, {"r": pictures(pool[20:40], names("r", 20))}, stored=stored)
        assert_same_lists(again, whole, 5)


def test_nothing_new_is_no_work(pool, lists):
    references = {"train": pictures(pool[25:45], names("t", 20)), "old": pictures(pool[45:], names("o", 15))}
    assert list(find_pairs(pictures(pool[:25], names("c", 25)), references, stored=lists, metrics=METRICS, neighbours=5)) == []


def test_case_34_a_run_that_was_stopped_goes_on(pool, lists, monkeypatch):
    monkeypatch.setattr(find, "MOST_CHUNK", 6)
    references = {"train": pictures(pool[25:45], names("t", 20)), "old": pictures(pool[45:], names("o", 15))}
    candidates = pictures(pool[:25], names("c", 25))
    stored = lists.slice(0, 0)
    for _ in range(4):
        run = find_pairs(candidates, references, stored=stored, metrics=METRICS, neighbours=5)
        stored = merged(stored, [next(run)])
        run.close()
    rest = list(find_pairs(candidates, references, stored=stored, metrics=METRICS, neighbours=5))
    assert len(rest) == 1
    assert_same_lists(merged(stored, rest), lists, 5)


def encoded(picture: np.ndarray, kind: str) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, kind)
    return file.getvalue()


def build(folder: Path) -> BuildFolder:
    return BuildFolder.create(folder, BuildConfig(name="t", per_class=1, original=OriginalConfig(source="cifar-10")))


def test_pictures_of_a_build(tmp_path, pool):
    folder = build(tmp_path / "b")
    ids = [folder.put_image(encoded(one, "PNG")) for one in pool[:3]]
    images = pictures_of_folder(folder, ids).read(1, 3)
    assert all(np.array_equal(np.asarray(image), one) for image, one in zip(images, pool[1:3], strict=True))


def test_case_12_png_bytes_under_another_name(tmp_path, pool):
    folder = build(tmp_path / "b")
    digest = folder.put_image(encoded(pool[0], "PNG"))
    folder.find_image(digest).rename(folder.image_path(digest, "jpg"))
    (image,) = pictures_of_folder(folder, [digest]).read(0, 1)
    assert np.array_equal(np.asarray(image), pool[0])


def test_case_13_an_image_that_is_cut_off_is_named(tmp_path, pool):
    folder = build(tmp_path / "b")
    ids = [folder.put_image(encoded(one, "PNG")) for one in pool[:3]]
    path = folder.find_image(ids[1])
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match=ids[1]):
        list(find_pairs(pictures_of_folder(folder, ids), {}))


def test_pictures_of_a_test_set_are_named_by_their_bytes(pool):
    benchmark = Benchmark("b", np.zeros((4, 1), np.int32), images=ArrayImages(pool[:4]))
    of = pictures_of_benchmark(benchmark)
    assert of.ids[2] == hashlib.sha256(encoded(pool[2], "PNG")).hexdigest()
    assert np.array_equal(np.asarray(of.read(2, 3)[0]), pool[2])
    with pytest.raises(InputError, match="only labels"):
        pictures_of_benchmark(Benchmark("b", np.zeros((4, 1), np.int32)))


def test_pictures_of_other_sizes_and_modes_are_compared(pool):
    large = Image.fromarray(pool[0]).resize((300, 200), Image.Resampling.BILINEAR)
    grey = Image.fromarray(pool[5]).convert("L")
    images = [large, grey, *map(Image.fromarray, pool[10:30])]
    candidates = Pictures(["large", "grey", *names("x", 20)], lambda start, stop: images[start:stop])
    plain = np.repeat(np.asarray(grey)[:, :, None], 3, axis=2)
    got = by_metric(found(candidates, {"r": pictures(np.stack([pool[0], plain]), ["a", "b"])}), 5)
    assert got["correlation", "large"][0][1] == "a"
    assert got["correlation", "large"][0][2] < 0.02
    assert got["l2", "grey"][0] == ("r", "b", 0.0, 1)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"metrics": ["colour"]}, "no distance 'colour'"),
        ({"metrics": ["dssim"]}, "finds no pairs"),
        ({"metrics": []}, "finds no pairs"),
        ({"neighbours": 0}, "0 neighbours"),
        ({"memory": MIB}, "64 MiB"),
        ({"fresh_references": ["x"]}, "no reference set 'x'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_at_once(pool, more, match):
    with pytest.raises(UsageError, match=match):
        find_pairs(pictures(pool[:2], ["a", "b"]), {}, **more)


def test_fresh_images_must_be_candidates(pool):
    with pytest.raises(UsageError, match="zz is no candidate"):
        list(find_pairs(pictures(pool[:2], ["a", "b"]), {}, fresh=["zz"]))
