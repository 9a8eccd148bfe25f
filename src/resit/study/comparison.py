"""The original against one new set by one metric."""

from __future__ import annotations

import numpy as np

from resit.data.models import ModelTable
from resit.stats import ranks
from resit.stats.intervals import percentile
from resit.study import classes, verdict
from resit.study.aline import estimate_without_labels
from resit.study.fits import ALL_ALIKE, SAME
from resit.study.notices import unmatched
from resit.study.pairing import Pairing
from resit.study.result import Bootstrap, Comparison, Estimate, Fit, LabelSpaces
from resit.study.rows import model_rows, real_swaps
from resit.study.settings import Settings
from resit.study.years import drop_in_years


def compare_pairing(
    pairing: Pairing, fits: tuple[dict[str, Fit], dict[str, Fit]], table: ModelTable | None, settings: Settings
) -> Comparison:
    """Everything that is said of a pairing.

    Parameters
    ----------
    pairing : Pairing
    fits : (dict of str to Fit, dict of str to Fit)
        By scale: over the baseline models, over all models.
    table : ModelTable or None
    settings : Settings
    """
    old, new = pairing.old_scores.accuracy, pairing.new_scores.accuracy
    rows = model_rows(pairing, table, settings.level)
    swaps = real_swaps(pairing, settings.level)
    change = float((new - old).mean())
    change_interval = _mean_change(pairing, change, settings.level)
    rho, tau = (value if np.isfinite(value) else None for value in (ranks.spearman(old, new), ranks.kendall(old, new)))
    pairs = len(rows) * (len(rows) - 1) // 2
    no_classes = classes.why_not(pairing)
    no_swaps = pairing.original.why_no_pairs or pairing.new.why_no_pairs
    spaces = LabelSpaces(pairing.original.data.label_space, pairing.new.data.label_space)
    sentences = [
        verdict.change_sentence(pairing.original.name, pairing.new.name, pairing.metric, rows, change, change_interval),
        *verdict.slope_sentences(fits[0], pairing.rule.rule, float((new - old)[pairing.baseline].mean()), spaces),
        verdict.everyone_sentence(fits[1]["linear"], pairing.rule.rule),
        verdict.order_sentence(rows, rho, tau, swaps, no_swaps or "", pairs),
    ]
    return Comparison(
        new=pairing.new.info(),
        metric=pairing.metric,
        weighting=settings.weighting,
        label_space=spaces,
        n_models=len(rows),
        baseline=pairing.rule,
        mean_original=float(old.mean()),
        mean_new=float(new.mean()),
        mean_change=change,
        mean_change_interval=change_interval,
        fits=fits[0],
        fits_all=fits[1],
        bootstrap=_headline(fits[0]["linear"], pairing, settings),
        spearman=rho,
        kendall=tau,
        real_swaps=swaps,
        n_pairs=pairs,
        models=rows,
        aline=estimate_without_labels(pairing),
        drop_in_years=drop_in_years(pairing, table, settings.model_resamples, settings.seed, settings.level),
        classes=None if no_classes else classes.class_rows(pairing),
        confusions=None if no_classes or pairing.metric != "top1" else classes.confusions(pairing),
        unmatched=unmatched(pairing),
        verdict=tuple(filter(None, sentences)),
        reason=_reasons(no_swaps, rho is None, no_classes, pairing.metric),
    )


def _headline(fit: Fit, pairing: Pairing, settings: Settings) -> Bootstrap:
    resamples = settings.model_resamples if settings.bootstrap in ("models", "families") else settings.example_resamples
    made = next((own.resamples for own in fit.intervals if own.unit == settings.bootstrap), resamples)
    stratified = settings.bootstrap in ("examples", "crossed") and pairing.original.strata is not None
    return Bootstrap(settings.bootstrap, made, stratified=stratified)


def _mean_change(pairing: Pairing, change: float, level: float) -> Estimate:
    old, new = pairing.old_scores.replicates, pairing.new_scores.replicates
    if old is None or new is None:
        return Estimate(change, reason=_no_resamples(pairing))
    changes = new.mean(axis=1) - old.mean(axis=1)
    if np.ptp(changes) < SAME:
        return Estimate(change, reason=ALL_ALIKE)
    low, high = percentile(changes, level)
    return Estimate(change, float(low), float(high), "percentile bootstrap over examples")


def _no_resamples(pairing: Pairing) -> str:
    figures_only = [view.name for view in (pairing.original, pairing.new) if view.predictions is None]
    if figures_only:
        return f"no interval: examples cannot be resampled, as only figures are known of {' and '.join(figures_only)}"
    return "no interval: no resamples of examples were asked for"


def _reasons(no_swaps: str | None, no_order: bool, no_classes: str | None, metric: str) -> dict[str, str]:
    reasons = {}
    if no_swaps:
        reasons["real_swaps"] = no_swaps
    if no_order:
        reasons["spearman"] = reasons["kendall"] = "needs two models or more that are not all tied"
    if no_classes:
        reasons["classes"] = reasons["confusions"] = no_classes
    elif metric != "top1":
        reasons["confusions"] = "they are of first answers, so they stand with top-1"
    return reasons
