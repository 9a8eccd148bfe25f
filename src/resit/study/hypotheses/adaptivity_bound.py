"""What could reuse of the original test set explain at most, from the number of models scored on it?"""

from __future__ import annotations

from resit.data.paths import counted
from resit.stats.resample import generator
from resit.stats.reuse import best_by_chance, fixed_models_bound, full_scores_bound, leaderboard_bound
from resit.study.estimate import Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series
from resit.study.hypotheses.interface import Hypothesis, Material, Rules, Tell

PURPOSE = 62
COUNTS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Bound the gap between score and truth on the original for all models together.

    Parameters
    ----------
    material : Material
    rules : Rules
        ``tried`` models were scored; default: those that are compared.
    _tell : callable

    Returns
    -------
    Gathered
        The part is the bound for models that were fixed beforehand, mean over models.
    """
    n, given = material.original.n, len(material.models)
    tried = max(rules.tried or given, given)
    accuracy = material.right_original.mean(axis=1)
    bounds = fixed_models_bound(accuracy, n, tried, rules.level)
    fixed, widest = float(bounds.mean()), float(bounds.max())
    full = full_scores_bound(n, tried, rules.level)
    leaderboard = leaderboard_bound(n, tried, rules.level)
    lucky = best_by_chance(material.right_original, generator(rules.seed, PURPOSE))
    drop = material.drop
    verdict = (
        f"{counted(tried, 'model')} scored on {n:,} images of {material.original.name}: if each was fixed beforehand, the true "
        f"accuracies of those compared lie on average at most {100 * fixed:.2f} points below their scores, and none more than "
        f"{100 * widest:.2f} ({100 * rules.level:g}% sure){_followed(leaderboard, full)} "
        f"Were all equally good, the best of the {given} would look {100 * lucky:.2f} points too good. {_against(drop, fixed)}"
    )
    how = "union bound"
    figures = (
        Figure("models fixed beforehand: score above truth, at most, on average", "points", Estimate(fixed, method=how), tried),
        Figure("the same, most of any one model", "points", Estimate(widest, method=how), tried),
        Figure("only best scores told: at most", "points", Estimate(leaderboard, method="Blum and Hardt (2015)"), tried),
        Figure("every score told exactly: at most", "points", Estimate(full, method="description length"), tried),
        Figure("best of equally good models", "points", Estimate(lucky, method="normal errors, covariance of answers"), given),
    )
    bound = Estimate(fixed, method=f"{tried:,} models fixed beforehand, {100 * rules.level:g}%")
    return Gathered(verdict, effect=None, part=bound, kind="bound", figures=figures, pictures=(_picture(material, rules),))


def _followed(leaderboard: float, full: float) -> str:
    """The bounds where models followed from scores; one where the one for all scores is the smaller for best scores too."""
    if leaderboard == full:
        said = "theory excludes nothing" if full >= 1 else f"the best one lies at most {100 * full:.2f} below"
        return f"; if scores guided the next model, all of them or only new best ones, {said}."
    rest = "theory excludes nothing" if full >= 1 else f"{100 * full:.2f}"
    best = f"if only new best scores guided the next model, the best one lies at most {100 * leaderboard:.2f} below"
    return f"; {best}; where every score was told and used, {rest}."


def _against(drop: float, fixed: float) -> str:
    if drop <= 0:
        return "There is no drop."
    if fixed < drop:
        return f"The drop is {100 * drop:.2f} points: choosing among fixed models cannot explain it."
    return f"The drop is {100 * drop:.2f} points: the bound does not exclude that reuse explains it."


def _picture(material: Material, rules: Rules) -> Picture:
    n, accuracy = material.original.n, material.right_original.mean()
    counts = [(f"{tried:,}", tried) for tried in COUNTS]
    fixed = [Point(name, float(fixed_models_bound([accuracy], n, tried, rules.level)[0])) for name, tried in counts]
    told = [Point(name, leaderboard_bound(n, tried, rules.level)) for name, tried in counts]
    series = (Series("fixed beforehand", tuple(fixed)), Series("only best scores told", tuple(told)))
    return Picture("Most that reuse explains, by models tried", "models tried", "at most", series, y_unit="points")


HYPOTHESIS = Hypothesis(
    name="adaptivity-bound",
    title="Reuse: how much at most",
    question="How much could reuse of the original test set explain at most, from the number of models that were tried?",
    source="Recht et al. (2019), §2.1; Blum and Hardt (2015); Dwork et al. (2015)",
    lacks=lambda _: (),
    seconds=lambda material, _: 1 + 2e-10 * len(material.models) ** 2 * material.original.n,
    run=run,
)
