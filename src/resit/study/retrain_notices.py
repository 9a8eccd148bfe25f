"""What a reader of a retraining must know: of the sets, of the heads, of the groups; and how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from resit.data.addresses import HOUSEHOLD
from resit.data.benchmark import Benchmark
from resit.data.decode import fingerprint as decoding_fingerprint
from resit.errors import Notice
from resit.evaluate.features import Features
from resit.evaluate.settings import EvaluateSettings
from resit.models.heads import MOST_ITERATIONS
from resit.models.protocol import Model
from resit.study.group_rows import MIN_CLUSTERS, MOST_SPLIT, Rules, some
from resit.study.groupings import split_clusters
from resit.study.retrain_folds import CrossFitted, Recipe
from resit.study.retrain_result import Outcome
from resit.study.retrain_sets import Columns, Posed, about

UNEVEN = 2  # a fold of more than twice its share


def about_sets(
    sets: Sequence[Benchmark], made: Sequence[Features], posed: Sequence[Posed], columns: Columns
) -> Iterator[Notice]:
    """What was seen while reading, which classes and examples count, and which columns are lacking."""
    for place, (whole, features, one) in enumerate(zip(sets, made, posed, strict=True)):
        yield from whole.notices
        yield from features.notices
        yield from about(whole, one, posed[0] if place else None)
        where = f"{whole.name} by {one.grouping.by}"
        if one.grouping.missing:
            message = (
                f"{one.grouping.missing:,} of {one.benchmark.n:,} examples have no value; they are in the group (missing)."
            )
            yield Notice("missing-groups", where, message)
        split = 0 if one.clusters is None else split_clusters(one.clusters, one.grouping.codes, MOST_SPLIT)[1]
        if split:
            message = f"{split} clusters lie in several groups; each of their parts counts as a cluster in figures of groups."
            yield Notice("split-clusters", where, message)
        if columns.cluster is None and HOUSEHOLD in whole.groups and columns.by != HOUSEHOLD:
            message = (
                f"it has a column {HOUSEHOLD}, and no --cluster was given: images of one home are in several folds, so that a "
                f"head is asked about homes that it was trained on. --cluster {HOUSEHOLD} keeps them together."
            )
            yield Notice("clusters-not-used", whole.name, message)
        if columns.cluster is not None and one.clusters is None:
            message = (
                f"it has no column {columns.cluster!r}; its examples are taken for independent, so intervals may be too narrow."
            )
            yield Notice("no-clusters", whole.name, message)


def about_heads(posed: Posed, fitted: CrossFitted, recipe: Recipe) -> Iterator[Notice]:
    """What went wrong or is odd in training."""
    name = posed.benchmark.name
    if fitted.trouble:
        used = [row.fold for row in fitted.folds if not row.converged]
        which = [f"folds {', '.join(map(str, used))}"] if used else []
        which += ["the one of all examples"] if fitted.head.trouble else []
        message = (
            f"the solver did not reach its tolerance (at most {MOST_ITERATIONS:,} steps) for heads of {' and '.join(which)}: "
            f"{some(fitted.trouble, 2)}. Smaller values in --grid converge sooner."
        )
        yield Notice("not-converged", name, message)
    for c, side, end in ((recipe.grid[0], "smaller", "smallest"), (recipe.grid[-1], "larger", "largest")):
        at_end = sum(row.c == c for row in fitted.folds)
        if len(recipe.grid) > 1 and (at_end * 2 > len(fitted.folds) or fitted.head.c == c):
            message = f"the {end} C of the grid, {c:g}, was chosen in {at_end} of {len(fitted.folds)} folds"
            message += " and for all examples" if fitted.head.c == c else ""
            yield Notice("edge-of-grid", name, f"{message}; a {side} one may be better (--grid).")
    largest = max(row.n_test for row in fitted.folds)
    if largest * len(fitted.folds) > UNEVEN * posed.benchmark.n:
        message = (
            f"the largest fold has {largest:,} of {posed.benchmark.n:,} examples, as clusters stay whole: its head was trained "
            "on few, so that accuracy after may be lower than with folds of one size. Another column of clusters may be finer."
        )
        yield Notice("uneven-folds", name, message)
    untaught = sum(row.n_untaught for row in fitted.folds)
    if untaught:
        message = (
            f"{untaught:,} examples are of classes without a training example in the other folds; they count as wrong after."
        )
        yield Notice("untaught-classes", name, message)
    if fitted.lacking:
        message = (
            f"up to {fitted.lacking} classes have no example in some balanced draw; their weights are means over the draws "
            "that have them, and without any they are never answered."
        )
        yield Notice("classes-lost-in-draws", name, message)
    labels = (posed.benchmark.labels >= 0).sum(axis=1)
    if (labels > 1).any():
        message = (
            f"{int((labels > 1).sum()):,} of {posed.benchmark.n:,} examples have several accepted labels: each is trained on "
            "all m of its own, with weight 1/m."
        )
        yield Notice("several-labels", name, message)


def about_groups(outcomes: Sequence[Outcome], rules: Rules) -> Iterator[Notice]:
    """Small groups, and figures without an interval."""
    for outcome in outcomes:
        where = f"{outcome.set.name} by {outcome.column}"
        if outcome.reason is not None:
            yield Notice("no-before", outcome.set.name, f"the model's own head is not compared: {outcome.reason}.")
        small = [score.group for score in outcome.after.groups if score.small]
        if small:
            also = "" if outcome.n_clusters is None else f", or {MIN_CLUSTERS} clusters,"
            message = (
                f"{len(small)} of {len(outcome.after.groups)} groups have under {rules.min_size} examples{also} and are not in "
                f"the headline disparity: {some(small)}."
            )
            yield Notice("small-groups", where, message)
        change = outcome.change
        if change is not None and change.disparity.estimate is not None and change.disparity.reason:
            yield Notice("no-interval", where, f"the change of disparity has {change.disparity.reason}.")


def settings_told(
    model: Model,
    columns: Columns,
    recipe: Recipe,
    rules: Rules,
    pair: tuple[str, str] | None,
    settings: EvaluateSettings,
) -> dict[str, str]:
    """How it was made, for the record."""
    return {
        "by": columns.by,
        "pair": " minus ".join(pair) if pair else "none",
        "cluster": columns.cluster or "none",
        "quantiles": ", ".join(f"{column}={parts}" for column, parts in columns.quantiles.items()) or "none",
        "folds": str(recipe.folds),
        "grid": ", ".join(f"{c:g}" for c in recipe.grid),
        "head": "multinomial logistic regression, L2, lbfgs, float32, on standardised features",
        "balanced": f"mean of {recipe.refits} draws with groups of one size" if recipe.balanced else "no",
        "several_labels": "trained on each of m accepted labels with weight 1/m",
        "classes": "those with examples, the same before and after",
        "min_size": str(rules.min_size),
        "resamples": str(rules.resamples),
        "transform": model.transform.fingerprint,
        "decoding": decoding_fingerprint(settings.orientation),
        "max_errors": f"{settings.max_errors:g}",
        **{f"model {key}": value for key, value in model.provenance.items()},
    }
