"""What the page picks, orders and says of a result."""

from __future__ import annotations

import dataclasses

import pytest
from fake import NAMES, comparison, fit, models, result

from resit.report.dotplot import Line, plot
from resit.report.palette import COLOURS, palette
from resit.report.scales import backward, forward, rounds, ticks
from resit.report.summarise import class_plot, drop_plot, gaps, leads, methods, rank_plot, views
from resit.study.result import SCALES, Comparison


def many(count: int) -> Comparison:
    return comparison(names=tuple(f"model {i:04}" for i in range(count)))


def test_the_first_sentences_are_of_each_new_set_by_the_first_metric() -> None:
    found = leads(result())
    assert [(lead.id, lead.name) for lead in found] == [("c0", "matched-frequency"), ("c2", "threshold-0.7")]
    assert found[0].sentences[0].startswith("The slope is 1.100")


def test_without_a_verdict_the_change_is_said() -> None:
    (lead,) = leads(result(dataclasses.replace(comparison(), verdict=())))
    assert "9 models is" in lead.sentences[0]
    assert "points lower than on val" in lead.sentences[0]


def test_what_is_missing_is_told_with_its_reason_once() -> None:
    told = gaps(result(comparison("a", full=False), comparison("b", full=False)))
    assert "Real swaps: not available (only accuracies are known)." in told
    assert "Slope: not available (fewer than three models)." in told
    assert len(told) == len(set(told))
    assert gaps(result()) == []


def test_methods_are_named_by_the_records() -> None:
    assert methods(result()) == {"accuracy": "clopper-pearson", "change": "newcombe"}
    assert methods(result(comparison(full=False))) == {"accuracy": "", "change": ""}


def test_drops_are_in_order_and_hollow_where_not_in_the_line() -> None:
    drops = drop_plot(comparison())
    places = [line.dots[0][0] for line in drops.rows]
    assert places == sorted(places)
    assert {line.key for line in drops.rows if line.dots[0][1] == "dot hollow"} == {"fv_64k"}
    assert all(0 <= place <= 100 for place in places)


def test_ranks_are_in_the_order_of_the_original_and_swaps_are_flagged() -> None:
    ranks = rank_plot(comparison())
    assert ranks.rows[0].key == NAMES[-1]
    assert {line.key for line in ranks.rows if line.flag} == {"alexnet", "vgg19_bn"}


def test_of_many_models_both_ends_are_drawn_and_the_rest_is_told() -> None:
    drops = drop_plot(many(450))
    assert len(drops.rows) == 200
    assert drops.note.startswith("Of 450 models, the 100 at each end are drawn")


def test_of_many_classes_both_ends_are_drawn() -> None:
    classes = class_plot(comparison().classes)
    assert classes is not None
    assert len(classes.rows) == 24
    assert classes.note.startswith("Of 33 classes")
    assert class_plot(None) is None


def test_a_plot_of_one_place_has_room() -> None:
    drawn = plot([Line("a", "a", "3", (), ((3.0, "dot"),))], unit="rank", whole=True)
    assert drawn.rows[0].dots[0][0] == 50


def test_families_have_colours_and_shapes_of_their_own() -> None:
    look = palette(models(NAMES, 0.2, True)).looks
    assert len({item.colour for item in look}) == len({item.shape for item in look}) == len(look)
    assert sum(item.n_models for item in look) == len(NAMES)


def test_more_families_than_colours_share_grey() -> None:
    rows = models(tuple(f"m{i}" for i in range(30)), 0.2, True)
    rows = tuple(dataclasses.replace(row, family=f"family {i // 2}") for i, row in enumerate(rows))
    look = palette(rows)
    assert len(look.looks) == len(COLOURS) + 1
    assert look.looks[-1].label == "8 other families"
    assert set(look.series.values()) == {item.label for item in look.looks}


def test_without_families_there_is_one_series() -> None:
    assert [item.label for item in palette(models(NAMES, 0.2, False)).looks] == ["models"]


def test_accuracies_of_0_and_1_are_counted() -> None:
    whole = comparison()
    row = whole.models[0]
    edge = dataclasses.replace(row, new=dataclasses.replace(row.new, accuracy=0.0))
    (view,) = views(result(dataclasses.replace(whole, models=(edge, *whole.models[1:]))))
    assert view.at_edge == 1


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_can_be_read_back(scale: str) -> None:
    for fraction in (0.001, 0.3, 0.999):
        assert backward(scale, forward(scale, fraction)) == pytest.approx(fraction)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("low", "high"), [(1e-5, 1 - 1e-5), (0.001, 0.9999), (0.6, 0.8), (0.71, 0.72), (0.0005, 0.05)])
def test_ticks_are_round_inside_and_few(scale: str, low: float, high: float) -> None:
    found = ticks(scale, low, high)
    assert 2 <= len(found) <= 12
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in found)
    assert found == sorted(set(found))


def test_whole_ticks_start_at_one() -> None:
    assert rounds(-0.5, 31, whole=True)[0] == 1
    assert all(value % 1 == 0 for value in rounds(0.5, 3.2, whole=True))


def test_a_missing_line_leaves_no_slope_in_the_key_figures() -> None:
    (view,) = views(result(dataclasses.replace(comparison(), fits={}, reason={"fits": "two models"})))
    assert [figure.note for figure in view.figures if figure.name == "Slope"] == ["two models"]
    assert fit("linear", 2, 0.1, False).slope.estimate is None
