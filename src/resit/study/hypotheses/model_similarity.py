"""Do models err together more than their accuracies make them, on both sets? (Mania et al. 2019)"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resit.stats.agreement import aline, pairwise_agreement
from resit.stats.resample import generator, resample_examples
from resit.stats.reuse import best_by_chance, equally_lucky
from resit.study.estimate import Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Right, Rules, Tell, percentile
from resit.study.hypotheses.statistical_error import sets_of
from resit.study.setview import SetView

PURPOSE = 64
EDGE = 1e-12
CLEARLY = 0.9  # of the number of models: chance moves the number of independent ones by a few per cent


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Agreement of pairs of models in being right or wrong, beside what independent errors would give.

    Excess = (observed − independent) / (1 − independent), mean over pairs: 0 for independent errors, 1 where all err together.

    Parameters
    ----------
    material : Material
    rules : Rules
    _tell : callable
    """
    figures, series, excesses = [], [], []
    for at, (one, right) in enumerate(sets_of(material)):
        strata = SetView(one, "micro", rules.seed, 0).strata
        observed, independent = similarity(right)
        excess = float(_excess(np.asarray(observed), np.asarray(independent)))
        draws = _redrawn(right, strata, rules, at)
        told = percentile(draws, excess, rules.level, "resamples of examples")
        excesses.append(told)
        gain = best_by_chance(right, generator(rules.seed, PURPOSE, 9, at))
        spread = float(np.sqrt((right.mean(axis=1) * (1 - right.mean(axis=1))).mean() / one.n))
        figures += [
            Figure(f"{one.name}: pairs agree in being right or wrong", "fraction", Estimate(observed)),
            Figure(f"{one.name}: if errors were independent", "fraction", Estimate(independent)),
            Figure(f"{one.name}: excess agreement", "number", told),
            Figure(f"{one.name}: independent models as lucky as these", "number", Estimate(equally_lucky(gain, spread))),
        ]
        series.append(Series(one.name, _sharing(right)))
    figures += _aline(material)
    old, new = excesses
    both = (old.low or 0.0) > 0 and (new.low or 0.0) > 0
    said = "more than" if both else "not surely more than"
    count, lucky = len(material.models), figures[3].value.estimate or 0.0
    fewer = lucky < CLEARLY * count
    reuse = "reuse of the original gains less than their number says" if fewer else "as good as independent"
    verdict = (
        f"Models err together {said} their accuracies make them: excess agreement is {old.estimate or 0:z.2f} on "
        f"{material.original.name} and {new.estimate or 0:z.2f} on {material.new.name} (0 is independent, 1 is all alike). "
        f"The {count} models are as lucky together as {lucky:,.1f} independent ones: {reuse}."
    )
    title = "Images by the share of models that are right"
    picture = Picture(title, "share of models that are right", "images", tuple(series), x_unit="fraction")
    return Gathered(verdict, effect=both, figures=tuple(figures), pictures=(picture,))


def similarity(right: Right) -> tuple[float, float]:
    """How often two models are both right or both wrong, and how often they would be if errors were independent.

    Parameters
    ----------
    right : ndarray of bool, shape (M, n)

    Returns
    -------
    observed, independent : float
        Means over pairs.
    """
    count = len(right)
    on_image, accuracy = right.sum(axis=0, dtype=float), right.mean(axis=1)
    return float(_alike(on_image, count).mean()), float(_independent(accuracy.sum(), (accuracy**2).sum(), count))


def _alike(on_image: Array, count: int) -> Array:
    """Share of pairs that are both right or both wrong on each image."""
    wrong = count - on_image
    return np.asarray((on_image * (on_image - 1) + wrong * (wrong - 1)) / (count * (count - 1)), float)


def _independent(total: Array | float, squares: Array | float, count: int) -> Array | float:
    """Mean over pairs of a b + (1 − a) (1 − b), from the sum of accuracies and of their squares."""
    return 1 - 2 * total / count + 2 * (total**2 - squares) / (count * (count - 1))


def _redrawn(right: Right, strata: npt.NDArray[np.int_] | None, rules: Rules, at: int) -> Array:
    count, n = right.shape
    alike = _alike(right.sum(axis=0, dtype=float), count)
    scores = np.concatenate([right.T.astype(float), alike[:, None]], axis=1)
    sums = resample_examples(generator(rules.seed, PURPOSE, at), scores, rules.resamples, strata) / n
    independent = _independent(sums[:, :-1].sum(axis=1), (sums[:, :-1] ** 2).sum(axis=1), count)
    return _excess(sums[:, -1], np.asarray(independent))


def _excess(observed: Array, independent: Array) -> Array:
    """0 also where there are no errors that could be shared."""
    room = 1 - independent
    return np.divide(observed - independent, room, out=np.zeros_like(room), where=room > EDGE)


def _sharing(right: Right) -> tuple[Point, ...]:
    count, n = right.shape
    at, images = np.unique(right.sum(axis=0), return_counts=True)
    return tuple(Point(float(k / count), float(found / n)) for k, found in zip(at, images, strict=True))


def _aline(material: Material) -> list[Figure]:
    """Accuracy on the new set estimated from agreement alone (Baek et al. 2022)."""
    if material.metric != "top1" or material.original.is_correctness or material.new.is_correctness:
        return []
    agreements = [pairwise_agreement(one.answers[:, :, 0]) for one in (material.original, material.new)]
    accuracy, truth = material.right_original.mean(axis=1), material.right_new.mean(axis=1)
    found = aline(accuracy, agreements[0], agreements[1], material.original.n, material.new.n)
    if found is None:
        return []
    return [
        Figure(f"error of {name} without new labels", "points", Estimate(float(np.abs(guess - truth).mean())))
        for name, guess in (("ALine-S", found.by_slope), ("ALine-D", found.by_pairs), ("original accuracy", accuracy))
    ]


HYPOTHESIS = Hypothesis(
    name="model-similarity",
    title="Model similarity",
    question="Do models err together more than their accuracies make them?",
    source="Mania et al. (2019); Baek et al. (2022)",
    lacks=lambda material: () if len(material.models) > 1 else ("at least two models",),
    seconds=lambda material, rules: 2 + 1e-10 * rules.resamples * len(material.models) * material.original.n,
    run=run,
)
