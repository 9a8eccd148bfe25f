"""Is the new set as the original, with images that are harder, or further apart in difficulty? (Recht et al. 2019, §5.3)"""

from __future__ import annotations

import numpy as np

from resit.stats.difficulty import predicted_slope, shared_difficulty
from resit.stats.lines import Line, fit_line, fit_rows, has_spread
from resit.stats.resample import draw_counts, generator, resample_examples
from resit.stats.scales import backward, forward, off_the_edge
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Rules, Tell
from resit.study.hypotheses.shown import bootstrapped, excludes_zero
from resit.study.hypotheses.statistical_error import sets_of
from resit.study.setview import SetView

PURPOSE = 63
FEWEST = 10
GRID = 41
METHOD = "resamples of models and examples"


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Fit the probit line, and read from it how difficulty differs between the sets.

    A model of ability s is right on an image of difficulty t with probability Phi(s − t); difficulties are normal with mean m
    and standard deviation d. On the probit scale new accuracies are then u · original + v, with
    u = sqrt(1 + d²) / sqrt(1 + d'²) and v = (m − m') / sqrt(1 + d'²).

    Parameters
    ----------
    material : Material
    rules : Rules
    _tell : callable
    """
    accuracies = [off_the_edge(right.mean(axis=1), one.n) for one, right in sets_of(material)]
    x, y = (forward(one, "probit") for one in accuracies)
    line, linear = fit_line(x, y), fit_line(*accuracies)
    slope, intercept = _redrawn(material, rules)
    steepness = bootstrapped(slope, line.slope, rules.level, METHOD)
    fits = (
        Figure("slope of the probit line", "number", steepness),
        Figure("R² on the probit scale", "number", Estimate(line.r2)),
        Figure("R² on the linear scale", "number", Estimate(linear.r2)),
    )
    few = [Caution("few-models", material.new.name, f"A line over {len(x)} models says little.")] if len(x) < FEWEST else []
    if line.slope <= 0:
        verdict = (
            f"There is no such line: models that are better on {material.original.name} are not better on "
            f"{material.new.name} (slope {line.slope:z.2f}), which no difference in difficulty makes."
        )
        return Gathered(verdict, figures=fits, warnings=tuple(few))
    rising = np.where(slope > 0, slope, np.nan)
    shift = bootstrapped(-intercept / rising, -line.intercept / line.slope, rules.level, METHOD)
    spread = bootstrapped(1 / rising, 1 / line.slope, rules.level, METHOD)
    correlations = [shared_difficulty(one) for one in (material.right_original, material.right_new)]
    predicted = None if None in correlations else predicted_slope(*(one or 0.0 for one in correlations))
    figures = [
        Figure("new set harder by (spreads of the original)", "number", shift),
        Figure("spread of new over original", "number", spread),
        *fits,
        Figure("slope that shared errors predict", "number", Estimate(predicted, method="how often two models are both right")),
    ]
    sure = "" if shift.low is None or shift.high is None else f" [{shift.low:z.2f}, {shift.high:z.2f}]"
    verdict = (
        f"As if new images were {shift.estimate or 0:z.2f}{sure} spreads harder than the original ones, with "
        f"{spread.estimate or 0:.2f} times the spread (probit line, R² {line.r2:.4f}, linear {linear.r2:.4f})."
    )
    if predicted is not None:
        verdict += f" How often models err together predicts a slope of {predicted:.3f}; it is {line.slope:.3f}."
    picture = _picture(material, accuracies, line)
    cautions = (*few, *_dropped(material, rising))
    return Gathered(verdict, excludes_zero(shift), figures=tuple(figures), pictures=(picture,), warnings=cautions)


def _redrawn(material: Material, rules: Rules) -> tuple[Array, Array]:
    """Slopes and intercepts over models and examples drawn anew, each set's examples on their own; NaN where there is none."""
    count = len(material.models)
    weights = draw_counts(generator(rules.seed, PURPOSE), rules.resamples, count).astype(float)
    axes = []
    for at, (one, right) in enumerate(sets_of(material)):
        strata = SetView(one, "micro", rules.seed, 0).strata
        sums = resample_examples(generator(rules.seed, PURPOSE, at), right.T.astype(np.float32), rules.resamples, strata)
        axes.append(forward(off_the_edge(sums / one.n, one.n), "probit"))
    return fit_rows(axes[0], axes[1], weights)


def _dropped(material: Material, rising: Array) -> list[Caution]:
    """That some resamples have no line that rises, from which nothing can be read."""
    lost = int(np.isnan(rising).sum())
    message = (
        f"{lost:,} of {len(rising):,} resamples have no line that rises and are left out: the intervals of how much harder and "
        "how much further apart are too narrow."
    )
    return [Caution("lines-not-rising", material.new.name, message)] if lost else []


def _picture(material: Material, accuracies: list[Array], line: Line) -> Picture:
    old, new = accuracies
    models = Series("models", tuple(Point(float(a), float(b)) for a, b in zip(old, new, strict=True)))
    grid = np.linspace(old.min(), old.max(), GRID)
    fitted = backward(line.at(forward(grid, "probit")), "probit")
    drawn = Series("probit line", tuple(Point(float(a), float(b)) for a, b in zip(grid, fitted, strict=True)), "line")
    same = Series("no drop", tuple(Point(float(a), float(a)) for a in (grid[0], grid[-1])), "line")
    title = "Accuracies, and the line that normal difficulties make"
    names = (f"accuracy on {material.original.name}", f"accuracy on {material.new.name}")
    return Picture(title, *names, (models, drawn, same), x_unit="fraction")


def lacks(material: Material) -> tuple[str, ...]:
    """Three models of different accuracy."""
    old, new = (off_the_edge(one.mean(axis=1), one.shape[1]) for one in (material.right_original, material.right_new))
    return () if has_spread(old) and has_spread(new) else ("at least three models of different accuracy on both sets",)


HYPOTHESIS = Hypothesis(
    name="gaussian-difficulty",
    title="Difficulty as a normal distribution",
    question="Is the new set as the original, with images that are harder or further apart in difficulty?",
    source="Recht et al. (2019), §5.3",
    lacks=lacks,
    seconds=lambda material, rules: 1 + 1e-10 * rules.resamples * len(material.models) * material.original.n,
    run=run,
)
