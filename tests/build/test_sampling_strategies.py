"""Each strategy on pools whose right answer is known, and what is refused."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from pools_made import classes, many, previous_of, rows

from resit.build.config import SamplingConfig
from resit.build.sampling import STRATEGIES, Drawn, Strategy, sample, strategy_of
from resit.build.sampling.corrected_frequency import CorrectedFrequency
from resit.build.sampling.keyword_matched import KeywordMatched
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.sampling.threshold import Threshold
from resit.build.sampling.top_images import TopImages
from resit.build.sampling.uniform import Uniform
from resit.errors import InputError, UsageError


def draw(
    strategy: Strategy,
    candidates: list[tuple[str, str, int, int]],
    originals: list[tuple[str, str, int, int]],
    previous: list[str] | None = None,
    *,
    per_class: int = 10,
    seed: int = 0,
) -> Drawn:
    before = None if previous is None else previous_of((image, "a") for image in previous)
    return sample(strategy, rows(candidates), rows(originals), before, classes("a"), per_class, seed=seed)


def fates(drawn: Drawn) -> dict[str, str]:
    return dict(zip(drawn.selected["image"].to_pylist(), drawn.selected["fate"].to_pylist(), strict=True))


# 20 originals in the five bins, for 10 images: quotas .5, 1, 1.5, 2, 5; the one left over goes to the higher bin.
ORIGINALS = many("a", "o", {1: 1, 3: 2, 5: 3, 7: 4, 10: 10})


def test_matching_scales_the_histogram_with_ties_to_the_higher_bin():
    drawn = draw(MatchedFrequency(), many("a", "n", dict.fromkeys(range(11), 9)), ORIGINALS)
    assert drawn.cells["target"].to_pylist() == [0, 1, 2, 2, 5]
    assert drawn.cells["originals"].to_pylist() == [1, 2, 3, 4, 10]
    assert drawn.cells["cell"].to_pylist() == ["[0, 0.2)", "[0.2, 0.4)", "[0.4, 0.6)", "[0.6, 0.8)", "[0.8, 1]"]
    assert Counter(drawn.selected["bin"].to_pylist()) == {1: 1, 2: 2, 3: 2, 4: 5}
    assert drawn.valid
    assert drawn.upward == 0


def test_bins_hold_their_lower_edge_in_whole_numbers():
    strategy = MatchedFrequency()
    shown = np.array([15, 15, 15, 15, 15, 15, 35, 35])
    selected = np.array([0, 3, 6, 9, 12, 15, 6, 7])
    assert strategy.bins(selected, shown).tolist() == [0, 1, 2, 3, 4, 4, 0, 1]


def test_a_short_bin_takes_from_the_next_higher_one_that_has_images_left():
    candidates = many("a", "n", {3: 1, 5: 2, 7: 3, 10: 9})
    originals = many("a", "o", {1: 8, 3: 4, 7: 4, 10: 4})  # targets 4, 2, 0, 2, 2
    drawn = draw(MatchedFrequency(), candidates, originals)
    assert drawn.cells["target"].to_pylist() == [4, 2, 0, 2, 2]
    # Bin 0 takes both of bin 2, the one left of bin 3 and one of bin 4; bin 1 takes one of bin 4.
    found = fates(drawn)
    assert [image for image in sorted(found) if image.startswith("n5")] == ["n5-000", "n5-001"]
    assert Counter((image[:3], fate) for image, fate in found.items()) == {
        ("n3-", "drawn"): 1,
        ("n5-", "upward"): 2,
        ("n7-", "drawn"): 2,
        ("n7-", "upward"): 1,
        ("n10", "drawn"): 2,
        ("n10", "upward"): 2,
    }
    assert drawn.upward == 5
    assert drawn.cells["upward"].to_pylist() == [4, 1, 0, 0, 0]
    assert drawn.valid


def test_nothing_is_ever_taken_from_a_lower_bin():
    drawn = draw(MatchedFrequency(), many("a", "n", {7: 50, 10: 3}), many("a", "o", {10: 20}))
    assert set(drawn.selected["bin"].to_pylist()) == {4}
    assert [(one.class_id, one.wanted, one.found) for one in drawn.shortages] == [("a", 10, 3)]
    assert drawn.shortages[0].why == "too few eligible candidates: [0.8, 1] lacks 7"
    assert not drawn.valid


def test_upward_moves_take_images_of_the_previous_revision_first():
    candidates = many("a", "n", {10: 40})
    originals = many("a", "o", {1: 10, 10: 10})  # targets 5, 0, 0, 0, 5
    before = [f"n10-{i:03}" for i in range(30, 38)]
    for seed in range(5):
        found = fates(draw(MatchedFrequency(), candidates, originals, before, seed=seed))
        assert set(before) <= set(found)
        assert Counter(found.values()) == {"kept": 5, "upward": 5}
        assert sum(found[image] == "upward" for image in before) == 3


def test_of_too_many_previous_images_a_seeded_random_part_is_kept():
    candidates, originals = many("a", "n", {10: 40}), many("a", "o", {10: 20})
    before = [f"n10-{i:03}" for i in range(15)]
    found = [frozenset(fates(draw(MatchedFrequency(), candidates, originals, before, seed=seed))) for seed in range(9)]
    assert all(len(one) == 10 and one <= set(before) for one in found)
    assert len(set(found)) > 1


@pytest.mark.parametrize(("images", "valid"), [(19, False), (20, True)])
def test_a_class_needs_twenty_originals_with_ten_votes(images: int, valid: bool):
    originals = [*many("a", "o", {10: images}), *many("a", "few", {9: 50}, shown=9)]
    drawn = draw(MatchedFrequency(), many("a", "n", {10: 40}), originals)
    assert drawn.valid == valid
    assert len(drawn.selected) == (10 if valid else 0)
    if not valid:
        assert str(drawn.shortages[0]) == "a: 0 of 10: 19 originals with 10 votes, and 20 are needed"


def test_the_threshold_itself_is_above_the_threshold():
    candidates = [("exact", "a", 7, 10), ("more", "a", 21, 30), ("less", "a", 69, 99), ("none", "a", 0, 10)]
    assert set(fates(draw(Threshold(), candidates, []))) == {"exact", "more"}


def test_a_class_may_have_a_threshold_of_its_own():
    candidates = rows([*many("a", "x", {6: 3}), *many("b", "y", {6: 3})])
    drawn = sample(Threshold(exceptions={"b": 0.6}), candidates, rows([]), None, classes("a", "b"), 3)
    assert set(drawn.selected["class_id"].to_pylist()) == {"b"}
    assert drawn.shortages[0].why == "0 eligible candidates with a frequency of at least 0.7"
    with pytest.raises(UsageError, match="classes that the build does not have: c"):
        sample(Threshold(exceptions={"c": 0.6}), candidates, rows([]), None, classes("a", "b"), 3)


def test_top_images_break_ties_by_votes_then_previous_then_id():
    candidates = [("d", "a", 9, 10), ("c", "a", 9, 10), ("b", "a", 18, 20), ("a", "a", 10, 10), ("e", "a", 9, 10)]
    assert set(fates(draw(TopImages(), candidates, [], per_class=2))) == {"a", "b"}
    assert set(fates(draw(TopImages(), candidates, [], per_class=3))) == {"a", "b", "c"}
    found = fates(draw(TopImages(), candidates, [], ["e"], per_class=3))
    assert found == {"a": "drawn", "b": "drawn", "e": "kept"}


def keyword_draw(strategy: KeywordMatched, candidates: str, originals: str, per_class: int) -> Drawn:
    made = [
        rows(
            ((f"{prefix}{place:02}", "a", 5, 10) for place in range(len(words))),
            [{} if word == "-" else {"word": word} for word in words],
        )
        for prefix, words in (("n", candidates), ("o", originals))
    ]
    return sample(strategy, *made, None, classes("a"), per_class)


def words_of(drawn: Drawn) -> dict[str, tuple[int, int]]:
    """Target and found by keyword."""
    return {one["cell"]: (one["target"], one["kept"] + one["drawn"]) for one in drawn.cells.to_pylist()}


def test_keywords_are_matched_with_a_floor_on_top_or_within():
    originals = "x" * 16 + "y" * 3 + "-"
    plain = keyword_draw(KeywordMatched(attribute="word"), "xyz-" * 20, originals, 10)
    # Quotas 8, 1.5 and .5: of equal remainders the later keyword has it, and "(missing)" sorts first.
    assert words_of(plain) == {"(missing)": (0, 0), "x": (8, 8), "y": (2, 2)}
    on_top = keyword_draw(KeywordMatched(attribute="word", floor=2), "xyz-" * 20, originals, 10)
    assert words_of(on_top) == {"(missing)": (2, 2), "x": (8, 8), "y": (2, 2)}
    within = keyword_draw(KeywordMatched(attribute="word", floor=2, balanced=True), "xyz-" * 20, originals, 10)
    assert words_of(within) == {"(missing)": (2, 2), "x": (6, 6), "y": (2, 2)}
    assert plain.valid
    assert on_top.valid
    assert within.valid


def test_a_keyword_without_candidates_is_short_and_no_other_stands_in():
    drawn = keyword_draw(KeywordMatched(attribute="word"), "x" * 50, "xxxy", 8)
    assert words_of(drawn) == {"x": (6, 6), "y": (2, 0)}
    assert str(drawn.shortages[0]) == "a: 6 of 8: too few eligible candidates: y lacks 2"


def test_floors_that_do_not_go_into_a_class_are_refused():
    with pytest.raises(UsageError, match="class a: 2 places of at least 5 do not go into 8"):
        keyword_draw(KeywordMatched(attribute="word", floor=5, balanced=True), "xy" * 50, "xxxy", 8)


def test_the_draw_is_uniform():
    candidates = many("a", "n", {5: 5})
    seeds = 3_000
    pairs = Counter(tuple(fates(draw(Uniform(), candidates, [], per_class=2, seed=seed))) for seed in range(seeds))
    assert set(pairs) == set(combinations([f"n5-{i:03}" for i in range(5)], 2))
    # Ten pairs alike: chi-squared of 9 degrees of freedom, beyond 33.7 in one of 10,000.
    assert sum((count - seeds / 10) ** 2 / (seeds / 10) for count in pairs.values()) < 33.7


def test_classes_with_the_same_pool_are_drawn_independently():
    named = [f"c{i}" for i in range(20)]
    candidates = rows((f"{name}-{i}", name, 5, 10) for name in named for i in range(10))
    drawn = sample(Uniform(), candidates, rows([]), None, classes(*named), 5)
    patterns = {name: frozenset() for name in named}
    for row in drawn.selected.to_pylist():
        patterns[row["class_id"]] |= {row["image"].split("-")[1]}
    assert len(set(patterns.values())) > 10


def test_wanted_numbers_may_differ_by_class():
    candidates = rows([*many("a", "x", {6: 5}), *many("b", "y", {6: 5})])
    drawn = sample(Uniform(), candidates, rows([]), None, classes("b", "a"), {"a": 2})
    assert drawn.selected["class_id"].to_pylist() == ["a", "a"]
    assert drawn.valid


def test_columns_of_other_text_types_are_read():
    candidates = rows(many("a", "x", {6: 5}))
    other = candidates.set_column(0, "image", candidates["image"].cast(pa.large_string()))
    other = other.set_column(1, "class_id", other["class_id"].dictionary_encode())
    first, again = (sample(Uniform(), one, rows([]), None, classes("a"), 3) for one in (candidates, other))
    assert first.selected.equals(again.selected)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([("x", "z", 1, 10)], "classes that the build does not have: z"),
        ([("x", "a", 1, 10), ("x", "a", 2, 10)], "there twice, or for two classes: x"),
        ([("x", "a", 1, 10), ("x", "b", 2, 10)], "there twice, or for two classes: x"),
        ([("x", "a", 0, 0)], "candidates without votes"),
        ([("x", "a", 11, 10)], "selected more often than shown"),
    ],
)
def test_what_is_no_pool_is_refused(candidates: list[tuple[str, str, int, int]], message: str):
    with pytest.raises(InputError, match=message):
        sample(Uniform(), rows(candidates), rows([]), None, classes("a", "b"), 1)


def test_originals_twice_and_a_seed_below_zero_are_refused():
    twice = [("o", "a", 1, 10), ("o", "a", 1, 10)]
    with pytest.raises(InputError, match="an image twice for one class"):
        draw(MatchedFrequency(), [], twice)
    with pytest.raises(UsageError, match="seed -1"):
        draw(Uniform(), [], [], seed=-1)


def test_attributes_that_are_no_mapping_are_refused():
    broken = rows([("n", "a", 5, 10)]).set_column(4, "attributes", pa.array(["[1]"]))
    with pytest.raises(InputError, match=r"no JSON mapping: \[1\]"):
        sample(KeywordMatched(attribute="word"), broken, rows([]), None, classes("a"), 1)
    with pytest.raises(InputError, match="no attributes"):
        sample(KeywordMatched(attribute="word"), broken.drop(["attributes"]), rows([]), None, classes("a"), 1)


def test_corrected_matching_makes_up_for_what_noise_does_to_a_pool():
    """Originals are easy and the pool is hard, so high observed frequencies in it are partly luck: more of them are needed."""
    rng = np.random.default_rng(0)
    truth = {"o": rng.beta(6, 2, 3_000), "n": rng.beta(2, 2, 6_000)}
    made = {
        name: [(f"{name}{i:04}", "a", int(k), 10) for i, k in enumerate(rng.binomial(10, value))]
        for name, value in truth.items()
    }
    error = {}
    for strategy in (MatchedFrequency(), CorrectedFrequency()):
        drawn = draw(strategy, made["n"], made["o"], per_class=400)
        assert drawn.valid
        chosen = [int(image[1:]) for image in drawn.selected["image"].to_pylist()]
        error[strategy.name] = truth["n"][chosen].mean() - truth["o"].mean()
    assert error["matched-frequency"] < -0.03
    assert abs(error["corrected-frequency"]) < 0.015


def test_a_configuration_names_a_strategy_with_its_settings():
    config = SamplingConfig(strategy="threshold", threshold=0.6, exceptions={"n01": 0.5}, edges=(2, 4))
    assert strategy_of(config) == Threshold(threshold=0.6, exceptions={"n01": 0.5}, edges=(2, 4))
    config = SamplingConfig(minimum_votes=5, minimum_originals=7)
    assert strategy_of(config) == MatchedFrequency(minimum_votes=5, minimum_originals=7)
    assert strategy_of(SamplingConfig(strategy="keyword", attribute="word", floor=2)) == KeywordMatched(
        attribute="word", floor=2
    )
    with pytest.raises(UsageError, match="no strategy 'best'"):
        strategy_of(config.model_copy(update={"strategy": "best"}))


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_strategy_takes_empty_pools(name: str):
    strategy = strategy_of(SamplingConfig().model_copy(update={"strategy": name, "attribute": "word"}))
    drawn = sample(strategy, rows([]), rows([]), None, classes("a", "b"), 2)
    assert len(drawn.selected) == 0
    assert [(one.class_id, one.wanted, one.found) for one in drawn.shortages] == [("a", 2, 0), ("b", 2, 0)]
    assert len(sample(strategy, rows([]), rows([]), None, [], 2).selected) == 0
