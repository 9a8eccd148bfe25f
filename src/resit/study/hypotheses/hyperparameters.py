"""Were hyperparameters tuned to the original test set? A grid of them on both sets (Recht et al. 2018, §5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resit.data.paths import counted
from resit.stats.lines import fit_rows, has_spread
from resit.stats.pairs import holm, mcnemar_exact
from resit.stats.resample import generator, resample_examples
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet
from resit.study.folds import Job
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Right, Rules, Tell, percentile
from resit.study.hypotheses.trainings import diverged, lacking, nothing, pooled, seeds_of, trained
from resit.study.result import Caution, Estimate

PURPOSE = 75
FEWEST = 3  # settings for a line


@dataclass(frozen=True, eq=False)
class Settings:
    """What was tried: a name each, and which answers were right on both sets, shapes (M, n) and (M, m).

    ``noun`` is what one of them is called.
    """

    names: tuple[str, ...]
    original: Right
    new: Right
    what: str
    noun: str


def run(material: Material, rules: Rules, tell: Tell) -> Gathered:
    """Compare settings on both sets: those of a grid that is trained, else the given models.

    Parameters
    ----------
    material : Material
    rules : Rules
    tell : callable

    Returns
    -------
    Gathered
        The part is a bound: the upper limit of the regret, which is what the best setting on the new set has more there than
        the best on the original. The best of several is best by luck too.
    """
    cautions: list[Caution] = []
    settings = _grid(material, rules, tell, cautions) if _trains(material) else None
    if settings is None:
        models = tuple(map(str, material.models))
        settings = Settings(models, material.right_original, material.right_new, counted(len(models), "given model"), "model")
    if len(settings.names) < 2:
        return nothing(f"there is {settings.what} to compare", "too-few", material.original.name, cautions)
    return _told(settings, rules, cautions)


def _trains(material: Material) -> bool:
    return material.trainer is not None and not lacking(material) and len(material.trainer.fitter.grid()) > 1


def _grid(material: Material, rules: Rules, tell: Tell, cautions: list[Caution]) -> Settings | None:
    assert material.trainer is not None
    pool = pooled(material, tell)
    cautions += pool.cautions
    train = pool.rows["train"]
    old, new = (pool.among(name, pool.classes("train")) for name in ("original", "new"))
    if not (len(old) and len(new)) or len(pool.classes("train")) < 2:
        message = "The sets share too few classes to train a grid; the given models are compared instead."
        cautions.append(Caution("too-few", material.original.name, message))
        return None
    grid, test, seed = material.trainer.fitter.grid(), np.concatenate([old, new]), seeds_of(rules)[0]
    outcomes = trained(pool.examples, [Job(fitter, train, test, seed) for _, fitter in grid], rules, tell)
    cautions += diverged(outcomes, [name for name, _ in grid])
    each = zip(grid, outcomes, strict=True)
    good = [(name, one.answers == pool.labels[test]) for (name, _), one in each if not one.diverged]
    right = np.array([own for _, own in good], bool).reshape(len(good), len(test))
    what = f"{counted(len(good), 'setting')} of a {material.trainer.name}"
    return Settings(tuple(name for name, _ in good), right[:, : len(old)], right[:, len(old) :], what, "setting")


def _told(settings: Settings, rules: Rules, cautions: list[Caution]) -> Gathered:
    old, new = settings.original.mean(axis=1), settings.new.mean(axis=1)
    chosen, better = int(old.argmax()), int(new.argmax())
    redrawn = [_redrawn(right, rules, at) for at, right in enumerate((settings.original, settings.new))]
    rows = np.arange(rules.resamples)
    regrets = redrawn[1].max(axis=1) - redrawn[1][rows, redrawn[0].argmax(axis=1)]
    how = f"{rules.resamples:,} resamples of examples"
    regret = percentile(regrets, float(new[better] - new[chosen]), rules.level, how)
    found = _beaten(settings.new, chosen, rules.level)
    line, correlation = _line(old, new, redrawn, settings.noun, rules, how)
    verdict = f"{_verdict(settings, (chosen, better, found), regret)}{_rise(settings.what, line, correlation)}"
    figures = (
        Figure("regret of choosing on the original", "points", regret, settings.new.shape[1]),
        Figure("slope of new on original accuracy", "number", line, len(settings.names)),
        Figure("correlation", "number", correlation, len(settings.names)),
    )
    each = sorted(zip(settings.names, old.tolist(), new.tolist(), strict=True), key=lambda row: (-row[1], row[0]))
    table = tuple((name, x, y, y - x) for name, x, y in each)
    columns = (settings.noun, "original", "new", "change")
    heading = f"{settings.noun.capitalize()}s, best on the original first"
    sheet = Sheet(heading, columns, ("number", "fraction", "fraction", "points"), table)
    points = tuple(Point(x, y) for _, x, y in each)
    series = (Series(f"{settings.noun}s", points),)
    picture = Picture("New against original accuracy", "original", "new", series, x_unit="fraction")
    most = Estimate(max(regret.estimate or 0.0, regret.high or 0.0), method=f"upper limit of the regret over {how}")
    return Gathered(verdict, found is not None, most, "bound", figures, (sheet,), (picture,), warnings=tuple(cautions))


def _verdict(settings: Settings, places: tuple[int, int, int | None], regret: Estimate) -> str:
    chosen, better, sure = places
    names, new = settings.names, 100 * settings.new.mean(axis=1)
    noun = settings.noun
    said = f"no {noun} is better there for sure" if sure is None else f"{names[sure]} is better there for sure"
    cost, most = 100 * (regret.estimate or 0.0), 100 * max(regret.estimate or 0.0, regret.high or 0.0)
    return (
        f"The {noun} that is best on the original ({names[chosen]}, {100 * settings.original[chosen].mean():.2f} %) has "
        f"{new[chosen]:.2f} % on the new set, where the best ({names[better]}) has {new[better]:.2f} %; {said}. Choosing by "
        f"the original cost {cost:.2f} points here, and at most {most:.2f} by the interval."
    )


def _rise(what: str, line: Estimate, correlation: Estimate) -> str:
    if line.estimate is None:
        return f" No line: {line.reason}."
    rise = f"new accuracy rises by {line.estimate:.2f} for each point on the original"
    return f" Over {what} {rise} (correlation {correlation.estimate:.2f})."


def _redrawn(right: Right, rules: Rules, at: int) -> Array:
    rng = generator(rules.seed, PURPOSE, at)
    sums = resample_examples(rng, right.T.astype(np.float32), rules.resamples)
    return np.asarray(sums / right.shape[1], float)


def _beaten(right: Right, chosen: int, level: float) -> int | None:
    """The setting that is surely better than the chosen one (exact McNemar, Holm over all); None where there is none."""
    more, less = (right & ~right[chosen]).sum(axis=1), (~right & right[chosen]).sum(axis=1)
    others = np.flatnonzero(np.arange(len(right)) != chosen)
    p = holm(mcnemar_exact(more[others], less[others]))
    sure = others[(p <= 1 - level) & (more > less)[others]]
    return int(sure[right[sure].sum(axis=1).argmax()]) if len(sure) else None


def _line(old: Array, new: Array, redrawn: Sequence[Array], noun: str, rules: Rules, how: str) -> tuple[Estimate, Estimate]:
    if len(old) < FEWEST or not has_spread(old) or not has_spread(new):
        reason = f"fewer than {FEWEST} {noun}s" if len(old) < FEWEST else f"all {noun}s are the same on one set"
        return Estimate(None, reason=reason), Estimate(None, reason=reason)
    slopes = fit_rows(redrawn[0], redrawn[1])[0]
    slope = percentile(slopes[np.isfinite(slopes)], float(fit_rows(old[None], new[None])[0][0]), rules.level, how)
    x, y = (own - own.mean(axis=1, keepdims=True) for own in redrawn)
    scale = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    values = np.divide((x * y).sum(axis=1), scale, out=np.full(len(scale), np.nan), where=scale > 0)
    return slope, percentile(values[np.isfinite(values)], float(np.corrcoef(old, new)[0, 1]), rules.level, how)


def _lacks(material: Material) -> Sequence[str]:
    if len(material.models) > 1 or _trains(material):
        return ()
    return [*lacking(material), "or the predictions of two models at least"]


def _seconds(material: Material, _: Rules) -> float:
    if not _trains(material):
        return 5.0
    assert material.trainer is not None
    rows = sum(one.n for one in material.train)
    return sum(fitter.seconds(rows) for _, fitter in material.trainer.fitter.grid())


HYPOTHESIS = Hypothesis(
    name="hyperparameters",
    title="Hyperparameter tuning",
    question="Were the settings of models tuned to the original test set?",
    source="Recht et al. (2018), §5.2; Recht et al. (2019), appendix B.2",
    lacks=_lacks,
    seconds=_seconds,
    run=run,
    trains=True,
)
