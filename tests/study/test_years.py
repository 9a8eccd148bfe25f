"""The drop in model years."""

from __future__ import annotations

import numpy as np
import pytest
from made import FEW, accuracies, only

import resit
from resit import ModelId, ModelTable
from resit.study.years import decimal_year

OLD = [0.60, 0.64, 0.68, 0.72, 0.76, 0.80]


def drop(dates: list[str], new: list[float]) -> resit.study.result.Estimate:
    table = ModelTable({ModelId(f"m{at}"): {"date": day} for at, day in enumerate(dates) if day})
    return only(resit.compare(accuracies("old", OLD, 500), accuracies("new", new, 500), model_table=table, **FEW)).drop_in_years


def test_four_points_a_year_and_a_drop_of_ten_points_are_two_and_a_half_years():
    found = drop(["2012", "2013", "2014", "2015", "2016", "2017"], [one - 0.1 for one in OLD])
    assert found.estimate == pytest.approx(2.5)
    assert found.low == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("dates", "new", "reason"),
    [
        ([""] * 6, [0.5] * 6, "dates of at least three baseline models"),
        (["2014"] * 6, [0.5] * 6, "not all equal"),
        (["2012", "2013", "2014", "2015", "2016", "2017"], [0.9] * 6, "do not drop"),
        (["2017", "2016", "2015", "2014", "2013", "2012"], [0.5] * 6, "does not clearly grow"),
    ],
)
def test_not_available_and_why(dates: list[str], new: list[float], reason: str):
    found = drop(dates, new)
    assert found.estimate is None
    assert reason in found.reason


@pytest.mark.parametrize(
    ("text", "year"),
    [("2015", 2015.5), ("2015-01-01", 2015.0), ("2015-12-31", 2016.0), ("2015-07", 2015.54), (" 2015-07-02T10:00", 2015.5)],
)
def test_dates(text: str, year: float):
    assert decimal_year(text) == pytest.approx(year, abs=0.01)


@pytest.mark.parametrize("text", [None, "", "soon", "2015-13", "2015-02-31", "15"])
def test_no_dates(text: str | None):
    assert np.isnan(decimal_year(text))
