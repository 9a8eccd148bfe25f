"""The rules that every strategy keeps, on random pools, tiny and empty ones too."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pools_made import classes, previous_of, rows, shuffled

from resit.build.sampling import Drawn, Strategy, sample
from resit.build.sampling.corrected_frequency import CorrectedFrequency
from resit.build.sampling.keyword_matched import KeywordMatched
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.sampling.threshold import Threshold
from resit.build.sampling.top_images import TopImages
from resit.build.sampling.uniform import Uniform

STRATEGIES: list[Strategy] = [
    MatchedFrequency(minimum_originals=3),
    MatchedFrequency(minimum_votes=1, minimum_originals=1, edges=(2, 3)),
    Threshold(threshold=0.7, exceptions={"b": 0.5}),
    TopImages(),
    KeywordMatched(attribute="keyword"),
    KeywordMatched(attribute="keyword", floor=1),
    Uniform(),
]
NAMES = ("a", "b", "c")
KEYWORDS = ("red", "green", None)


@dataclass(frozen=True)
class Case:
    """A random pool: for each image its class, counts and keyword."""

    candidates: dict[str, tuple[str, int, int, str | None]]
    originals: dict[str, tuple[str, int, int, str | None]]
    previous: frozenset[str]
    per_class: int
    seed: int

    def tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        made = [
            rows(((image, *one[:3]) for image, one in images.items()), [_attributes(one[3]) for one in images.values()])
            for images in (self.candidates, self.originals)
        ]
        known = [(image, self.candidates[image][0]) for image in sorted(self.previous & self.candidates.keys())]
        return made[0], made[1], previous_of([*known, ("gone", "a")])

    def draw(self, strategy: Strategy, order: int | None = None) -> Drawn:
        tables = self.tables() if order is None else [shuffled(one, order) for one in self.tables()]
        return sample(strategy, *tables, classes(*NAMES), self.per_class, seed=self.seed)

    def of(self, name: str) -> dict[str, tuple[str, int, int, str | None]]:
        return {image: one for image, one in self.candidates.items() if one[0] == name}


def _attributes(keyword: str | None) -> dict[str, object]:
    return {} if keyword is None else {"keyword": keyword}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    def images(prefix: str, most: int, fewest_votes: int) -> dict[str, tuple[str, int, int, str | None]]:
        found = {}
        for number in draw(st.lists(st.integers(0, 999), max_size=most, unique=True)):
            shown = draw(st.integers(fewest_votes, 12))
            one = (draw(st.sampled_from(NAMES)), draw(st.integers(0, shown)), shown, draw(st.sampled_from(KEYWORDS)))
            found[f"{prefix}{number:03}"] = one
        return found

    candidates = images("n", 40, 1)
    previous = draw(st.sets(st.sampled_from(sorted(candidates)))) if candidates else set()
    return Case(candidates, images("o", 30, 0), frozenset(previous), draw(st.integers(0, 6)), draw(st.integers(0, 99)))


def frequency(one: tuple[str, int, int, str | None]) -> Fraction:
    return Fraction(one[1], one[2])


def bin_of(one: tuple[str, int, int, str | None], edges: tuple[int, ...]) -> int:
    return sum(frequency(one) >= Fraction(edge, 5) for edge in edges)


def shares(weights: list[int], total: int) -> list[int]:
    """Largest remainder by the book, in fractions."""
    whole = sum(weights)
    exact = [Fraction(weight * total, whole) for weight in weights]
    out = [int(part) for part in exact]
    order = sorted(range(len(weights)), key=lambda k: (exact[k] - out[k], k), reverse=True)
    for k in order[: total - sum(out)]:
        out[k] += 1
    return out


def chosen(drawn: Drawn) -> dict[str, str]:
    return dict(zip(drawn.selected["image"].to_pylist(), drawn.selected["fate"].to_pylist(), strict=True))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda one: one.name)
@given(case=cases())
@settings(max_examples=40, deadline=None)
def test_every_image_is_eligible_there_once_and_as_it_was_counted(strategy: Strategy, case: Case):
    found = case.draw(strategy).selected
    assert len(set(found["image"].to_pylist())) == len(found)
    for row in found.to_pylist():
        one = case.candidates[row["image"]]
        assert (row["class_id"], row["selected"], row["shown"]) == one[:3]
        assert row["bin"] == bin_of(one, strategy.edges)
        if row["fate"] != "upward":
            assert (row["fate"] == "kept") == (row["image"] in case.previous)
    assert [(row["class_id"], row["image"]) for row in found.to_pylist()] == sorted(
        (row["class_id"], row["image"]) for row in found.to_pylist()
    )


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda one: one.name)
@given(case=cases())
@settings(max_examples=40, deadline=None)
def test_each_class_has_the_wanted_number_or_is_told_to_be_short(strategy: Strategy, case: Case):
    drawn = case.draw(strategy)
    got = Counter(drawn.selected["class_id"].to_pylist())
    short = {one.class_id: one for one in drawn.shortages}
    assert drawn.valid == (not short)
    for name in NAMES:
        if name in short:
            assert short[name].found == got[name] < short[name].wanted
            assert short[name].why
        elif not (isinstance(strategy, KeywordMatched) and strategy.floor):
            assert got[name] == case.per_class
        else:
            assert got[name] >= case.per_class
    cells = drawn.cells.to_pylist()
    assert sum(cell["kept"] + cell["drawn"] + cell["upward"] for cell in cells) == len(drawn.selected)
    assert sum(cell["upward"] for cell in cells) == drawn.upward == list(chosen(drawn).values()).count("upward")


@pytest.mark.parametrize("strategy", [*STRATEGIES, CorrectedFrequency(minimum_originals=3)], ids=lambda one: one.name)
@given(case=cases(), order=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_the_order_of_rows_changes_nothing(strategy: Strategy, case: Case, order: int):
    first, again = case.draw(strategy), case.draw(strategy, order)
    assert first.selected.equals(again.selected)
    assert (first.shortages, first.upward) == (again.shortages, again.upward)
    assert first.cells.equals(again.cells)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda one: one.name)
@given(case=cases())
@settings(max_examples=25, deadline=None)
def test_one_class_does_not_change_what_is_drawn_for_another(strategy: Strategy, case: Case):
    alone = Case(case.of("b"), case.originals, case.previous, case.per_class, case.seed)
    both, single = (one.draw(strategy).selected.to_pylist() for one in (case, alone))
    assert [row for row in both if row["class_id"] == "b"] == [row for row in single if row["class_id"] == "b"]


@pytest.mark.parametrize("strategy", STRATEGIES[:2], ids=lambda one: str(one.edges))
@given(case=cases())
@settings(max_examples=150, deadline=None)
def test_matching_keeps_the_histogram_but_for_counted_upward_moves(strategy: MatchedFrequency, case: Case):
    drawn = case.draw(strategy)
    fates = chosen(drawn)
    cells = drawn.cells.to_pylist()
    bins = len(strategy.edges) + 1
    for name in NAMES:
        pool = case.of(name)
        own = [one for one in case.originals.values() if one[0] == name and one[2] >= strategy.minimum_votes]
        histogram = [sum(bin_of(one, strategy.edges) == k for one in own) for k in range(bins)]
        if len(own) < strategy.minimum_originals:
            assert not set(pool) & set(fates)
            assert case.per_class == 0 or any(one.class_id == name and "originals" in one.why for one in drawn.shortages)
            continue
        target = shares(histogram, case.per_class)
        assert [cell["target"] for cell in cells if cell["class_id"] == name] == target
        by_bin = [sorted(image for image, one in pool.items() if bin_of(one, strategy.edges) == k) for k in range(bins)]
        left = [len(by_bin[k]) - min(target[k], len(by_bin[k])) for k in range(bins)]
        lent = [0] * bins
        for k in range(bins):
            lack = target[k] - min(target[k], len(by_bin[k]))
            for higher in range(k + 1, bins):
                moved = min(lack, left[higher])
                lack, left[higher], lent[higher] = lack - moved, left[higher] - moved, lent[higher] + moved
        for k in range(bins):
            kinds = Counter(fates[image] for image in by_bin[k] if image in fates)
            assert kinds["upward"] == lent[k]
            assert kinds["kept"] == min(target[k], sum(image in case.previous for image in by_bin[k]))
            assert kinds["kept"] + kinds["drawn"] == min(target[k], len(by_bin[k]))
            if any(fates.get(image) == "upward" and image not in case.previous for image in by_bin[k]):
                assert all(image in fates for image in by_bin[k] if image in case.previous)


@pytest.mark.parametrize("strategy", [STRATEGIES[2], STRATEGIES[6]], ids=lambda one: one.name)
@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_what_is_still_valid_of_the_previous_revision_is_kept(strategy: Strategy, case: Case):
    fates = chosen(case.draw(strategy))
    for name in NAMES:
        lowest = {"threshold": Fraction(1, 2) if name == "b" else Fraction(7, 10)}.get(strategy.name, Fraction(0))
        valid = {image for image, one in case.of(name).items() if frequency(one) >= lowest}
        own = {image for image in fates if case.candidates[image][0] == name}
        assert own <= valid
        assert len(own) == min(case.per_class, len(valid))
        assert len(own & case.previous) == min(case.per_class, len(valid & case.previous))


@given(case=cases())
@settings(max_examples=100, deadline=None)
def test_top_images_are_the_first_by_frequency_votes_previous_and_id(case: Case):
    fates = chosen(case.draw(TopImages()))
    for name in NAMES:
        pool = case.of(name)
        order = sorted(pool, key=lambda image: (-frequency(pool[image]), -pool[image][2], image not in case.previous, image))
        assert {image for image in fates if image in pool} == set(order[: case.per_class])


@pytest.mark.parametrize("strategy", STRATEGIES[4:6], ids=lambda one: str(one.floor))
@given(case=cases())
@settings(max_examples=100, deadline=None)
def test_keywords_are_distributed_as_among_the_originals(strategy: KeywordMatched, case: Case):
    fates = chosen(case.draw(strategy))
    for name in NAMES:
        pool = case.of(name)
        count = Counter(one[3] or "(missing)" for one in case.originals.values() if one[0] == name)
        order = sorted(count)
        target = shares([count[word] for word in order], case.per_class) if count else []
        for word, share in zip(order, target, strict=True):
            wanted = max(share, strategy.floor) if case.per_class else 0
            having = [image for image, one in pool.items() if (one[3] or "(missing)") == word]
            got = [image for image in having if image in fates]
            assert len(got) == min(wanted, len(having))
            assert len(case.previous & set(got)) == min(wanted, len(case.previous & set(having)))
        assert all((pool[image][3] or "(missing)") in count for image in fates if image in pool)
