"""The drop in model years: how many years of progress on the original set it undoes."""

from __future__ import annotations

import re
from datetime import date

import numpy as np

from resit.data.models import ModelTable
from resit.stats import lines, resample
from resit.stats.intervals import percentile
from resit.study.pairing import Pairing
from resit.study.result import Estimate

PURPOSE = 5


def decimal_year(text: str | None) -> float:
    """A date such as ``2019``, ``2019-05`` or ``2019-05-28`` as a year with decimals; NaN where it is none of these."""
    found = re.fullmatch(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:[T ].*)?", (text or "").strip())
    if not found:
        return float("nan")
    year, month, day = (int(part) if part else None for part in found.groups())
    assert year is not None
    if month is None:
        return year + 0.5
    try:
        return year + (date(year, month, day or 15).timetuple().tm_yday - 0.5) / 365.25
    except ValueError:
        return float("nan")


def drop_in_years(pairing: Pairing, table: ModelTable | None, resamples: int, seed: int, level: float) -> Estimate:
    """Mean drop over the baseline models divided by their yearly progress on the original set (Recht et al. 2019, §1).

    Returns
    -------
    Estimate
        With a percentile interval over resampled models; not available without dates, without a drop, or where the interval of
        the yearly progress holds 0.
    """
    dates = np.array([decimal_year(table.get(model, "date")) if table else np.nan for model in pairing.models])
    used = pairing.baseline & np.isfinite(dates)
    if not lines.has_spread(dates[used]):
        return Estimate(None, reason="needs a model table with the dates of at least three baseline models, not all equal")
    x, y = dates[used], pairing.old_scores.accuracy[used]
    drop = y - pairing.new_scores.accuracy[used]
    if drop.mean() <= 0:
        return Estimate(None, reason="the baseline models do not drop on average")
    rate = lines.fit_line(x, y).slope
    weights = resample.draw_counts(resample.generator(seed, PURPOSE), min(resamples, 10_000), len(x)).astype(float)
    slopes = lines.fit_weighted(weights, x[None], y[None])[0][0]
    fine = np.isfinite(slopes)
    if rate <= 0 or not fine.any() or percentile(slopes[fine], level)[0] <= 0:
        return Estimate(None, reason="accuracy does not clearly grow with the models' dates")
    low, high = percentile((weights @ drop / len(x))[fine] / slopes[fine], level)
    return Estimate(float(drop.mean() / rate), float(low), float(high), "percentile bootstrap over models")
