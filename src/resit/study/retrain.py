"""What does a new last layer do? A linear head on a model's features, before and after, by group (Richards et al. 2023)."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from resit.data.benchmark import Benchmark
from resit.data.load_benchmark import load_benchmark
from resit.data.models import ModelId
from resit.data.paths import counted
from resit.data.predictions import Predictions
from resit.errors import InputError, UsageError
from resit.evaluate.exam import folder_name
from resit.evaluate.features import extract
from resit.evaluate.settings import EvaluateSettings, Orientation
from resit.models.head_file import VARIANT, StoredHead, save_head
from resit.models.heads import GRID, Head
from resit.models.load import load_model
from resit.models.options import ModelOptions, Precision
from resit.models.protocol import FeatureModel, LabelSpace, Model
from resit.stats.threads import one_blas_thread
from resit.study.group_rows import Frame, Rules, model_groups, some
from resit.study.groupings import class_codes
from resit.study.result import Caution
from resit.study.retrain_folds import CrossFitted, Recipe, cross_fit
from resit.study.retrain_notices import about_groups, about_heads, about_sets, settings_told
from resit.study.retrain_result import SCHEMA, Outcome, Retrained, TrainedHead
from resit.study.retrain_rows import change_of
from resit.study.retrain_sets import Answers, Columns, Posed, own_classes, pose, pose_elsewhere
from resit.study.retrain_verdict import outcome_sentences
from resit.study.settings import versions
from resit.study.setview import SetView

HEAD, FEATURES = "head.safetensors", "features"
FEWEST_FOLDS = 3
Tell = Callable[[str], None]


def retrain_last_layer(
    model: str | Model,
    on: str | Path | Benchmark,
    output: str | Path = "retrained",
    *,
    by: str,
    transfer: str | Path | Benchmark | None = None,
    pair: tuple[str, str] | None = None,
    cluster: str | None = None,
    quantiles: Mapping[str, int] | None = None,
    classes: str | Path | None = None,
    balanced: bool = False,
    refits: int = 10,
    folds: int = 5,
    grid: Sequence[float] = GRID,
    min_size: int = 30,
    features: str | Path | None = None,
    orientation: Orientation = "apply",
    batch_size: int | None = None,
    workers: int | None = None,
    device: str = "auto",
    precision: Precision = "float32",
    compile: bool = False,
    allow_pickle: bool = False,
    max_errors: float = 0.01,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = 10_000,
    progress: Tell | None = None,
) -> Retrained:
    """Train a new last layer on a model's features, and hold it against the model's own, by group.

    Every example of ``on`` is answered by a head that was trained on other folds (cross-fitting). The head that is kept, and
    that answers ``transfer``, is trained on all of ``on``. Before and after, answers are taken from the same classes, those
    with examples.

    Parameters
    ----------
    model : str or FeatureModel
        A model whose last layer is linear, or what ``resit.load_model`` takes, such as ``timm:resnet50.a1_in1k``.
    on : str, path or Benchmark
        Set that is trained on and answered, as in ``resit.evaluate``.
    output : path
        Folder that gets ``head.safetensors`` and the folder ``features``.
    by : str
        Group column.
    transfer : str, path or Benchmark, optional
        Second set, which is only answered, over the classes that both have, by id. It needs the same columns; where it has no
        column of clusters, its examples are taken for independent, and a warning tells.
    pair : (str, str), optional
        Two groups named in advance, whose difference (first minus second) is held before against after.
    cluster : str, optional
        Column of clusters (households): they stay in one fold, and are redrawn whole for intervals.
    quantiles : mapping of str to int, optional
        Cut the group column, of numbers, into this many groups of about equally many examples.
    classes : str or path, optional
        Class list of sets that are given as paths.
    balanced : bool, optional
        Train on groups of equal size: heads of ``refits`` draws, averaged; the penalty is chosen by mean accuracy over groups.
    refits : int, optional
        Number of draws.
    folds : int, optional
        Number of folds, at least 3.
    grid : sequence of float, optional
        Inverse strengths of the L2 penalty (C of scikit-learn's LogisticRegression), of which one is chosen on validation
        examples.
    min_size : int, optional
        Groups with fewer examples are flagged, left out of the headline disparity, and do not limit balanced draws.
    features : path, optional
        Folder where features are kept and looked for. Default: ``features`` in ``output``.
    orientation, batch_size, workers, max_errors
        As in ``resit.evaluate``. Unreadable images are not trained on and count as wrong, before and after.
    device, precision, compile, allow_pickle
        As in ``resit.ModelOptions``.
    level : float, optional
        Level of intervals.
    seed : int, optional
        Seed of everything that is random.
    resamples : int, optional
        Number of permutations, and of resamples of clusters.
    progress : callable, optional
        Told each step in words.

    Returns
    -------
    Retrained
        By set and metric: accuracies by group, disparity and the pair, before and after, and paired intervals of their changes.

    Raises
    ------
    InputError
        If a set or model cannot be read, or too many images cannot be.
    OutputError
        If features or the head cannot be stored.
    UsageError
        If arguments do not fit together or do not fit the data.

    References
    ----------
    Richards et al. (2023), arXiv:2307.13136; Kirichenko, Izmailov and Wilson (2022), arXiv:2204.02937.
    """
    tell = progress or (lambda _: None)
    rules = Rules(level, seed, resamples, min_size)
    recipe = Recipe(tuple(sorted(map(float, grid))), folds, balanced, refits, min_size, seed)
    _check(rules, recipe, pair, by, quantiles or {})
    settings = EvaluateSettings(
        orientation=orientation,
        batch_size=batch_size,
        workers=workers,
        max_errors=max_errors,
        options=ModelOptions(device, precision, compile, allow_pickle),
    )
    columns = Columns(by, quantiles or {}, cluster)
    sets = [_load(source, classes, tell) for source in (on, transfer) if source is not None]
    _refuse_same(sets)
    _check_columns(sets, columns)
    asked = _model(model, settings.options, tell)
    target = Path(output)
    made = [extract(asked, one, Path(features or target / FEATURES), settings, tell) for one in sets]
    posed = [pose(sets[0], made[0], columns)]
    if len(sets) > 1:
        posed.append(pose_elsewhere(sets[1], made[1], _elsewhere(columns, sets[1]), posed[0]))
    _check_pair(pair, posed)
    _check_balance(posed[0], recipe)
    with one_blas_thread():
        fitted = cross_fit(posed[0], recipe, tell)
        answers = [fitted.answers, *(_transferred(posed[0], other, fitted) for other in posed[1:])]
        tell("comparing groups")
        outcomes = [
            outcome
            for one, given in zip(posed, answers, strict=True)
            for outcome in _outcomes(asked, one, given, rules, pair, "cross-fitted" if one is posed[0] else "elsewhere")
        ]
    stored = _stored(asked, sets[0], posed[0], fitted)
    save_head(stored, target / HEAD)
    notices = [*about_sets(sets, made, posed, columns), *about_heads(posed[0], fitted, recipe), *about_groups(outcomes, rules)]
    return Retrained(
        schema=SCHEMA,
        level=level,
        seed=seed,
        model=str(asked.id),
        head=_trained(fitted, stored, target / HEAD),
        folds=fitted.folds,
        outcomes=tuple(outcomes),
        verdict=tuple(sentence for outcome in outcomes for sentence in outcome_sentences(outcome)),
        warnings=tuple(Caution(note.code, note.where, note.message) for note in dict.fromkeys(notices)),
        settings=settings_told(asked, columns, recipe, rules, pair, settings),
        versions={**versions(), "scikit-learn": importlib.metadata.version("scikit-learn")},
    )


def _check(rules: Rules, recipe: Recipe, pair: tuple[str, str] | None, by: str, quantiles: Mapping[str, int]) -> None:
    if not isinstance(by, str) or not by:
        raise UsageError("one group column is needed", where="--by", fix="Write --by region")
    if stray := sorted(set(quantiles) - {by}):
        raise UsageError(f"{', '.join(stray)} is not the column of --by", where="--quantiles", fix=f"Write --quantiles {by}=4")
    if pair is not None and (len(pair) != 2 or pair[0] == pair[1]):
        raise UsageError("a pair is two different groups", where="--pair", fix="Write --pair Europe,Africa")
    if not 0 < rules.level < 1:
        raise UsageError(f"a confidence level lies between 0 and 1, not {rules.level}", where="--level", fix="Try 0.95")
    for what, value, least in (
        ("seed", rules.seed, 0),
        ("resamples", rules.resamples, 0),
        ("min-size", rules.min_size, 0),
        ("refits", recipe.refits, 1),
        ("folds", recipe.folds, FEWEST_FOLDS),
    ):
        if value < least:
            raise UsageError(f"{value} is below {least}", where=f"--{what}")
    if not recipe.grid or not all(np.isfinite(c) and c > 0 for c in recipe.grid):
        raise UsageError("strengths of the penalty are numbers above 0", where="--grid", fix="Write --grid 0.001,0.01,0.1")
    if len(set(recipe.grid)) < len(recipe.grid):
        raise UsageError("a strength is there twice", where="--grid", fix="Name each once")


def _load(source: str | Path | Benchmark, classes: str | Path | None, tell: Tell) -> Benchmark:
    tell(f"reading {source.name if isinstance(source, Benchmark) else source}")
    found = load_benchmark(source, classes=None if isinstance(source, Benchmark) else classes)
    if found.images is None:
        fix = "Give its images: a path, a known name, or load_benchmark(…)."
        raise UsageError("a benchmark without images has no features", where=found.name, fix=fix)
    if found.n == 0:
        raise InputError("a benchmark without examples", where=found.name, fix="Check the path and its layout.")
    return found


def _model(model: str | Model, options: ModelOptions, tell: Tell) -> FeatureModel:
    if isinstance(model, str):
        tell(f"loading {model}")
        model = load_model(model, options)
    if not isinstance(model, FeatureModel):
        fix = "Use a model whose last layer is one linear layer, such as timm:resnet50.a1_in1k."
        where = getattr(model, "id", "model")
        raise UsageError("the model has no features: its last layer cannot be replaced", where=where, fix=fix)
    return model


def _refuse_same(sets: Sequence[Benchmark]) -> None:
    if len(sets) < 2:
        return
    if folder_name(sets[0]).lower() == folder_name(sets[1]).lower():
        raise UsageError(f"two sets of one name: {sets[0].name}", where="--transfer", fix="Give one another name: NAME=PATH.")
    if sets[0].content_fingerprint == sets[1].content_fingerprint:
        raise UsageError(f"{sets[1].name} has the same examples as {sets[0].name}", where="--transfer", fix="Give another set.")


def _check_columns(sets: Sequence[Benchmark], columns: Columns) -> None:
    """Refuse a missing column before an hour goes into features."""
    for one in sets:
        needed = [columns.by, *([columns.cluster] if columns.cluster and one is sets[0] else [])]
        for name in needed:
            if name not in one.groups:
                known = ", ".join(filter(None, one.groups)) or "none"
                where = "--by" if name == columns.by else "--cluster"
                raise UsageError(
                    f"{one.name} has no group column {name!r}",
                    where=where,
                    fix=f"Its group columns: {known}. A table with a column of images, a label and group columns gives some",
                )


def _elsewhere(columns: Columns, other: Benchmark) -> Columns:
    return columns if columns.cluster in other.groups else replace(columns, cluster=None)


def _check_pair(pair: tuple[str, str] | None, posed: Sequence[Posed]) -> None:
    if pair is None or any(set(pair) <= set(one.grouping.names) for one in posed):
        return
    known = list(dict.fromkeys(name for one in posed for name in one.grouping.names))
    raise UsageError(f"no set has both {pair[0]!r} and {pair[1]!r}", where="--pair", fix=f"The groups are {some(known, 12)}")


def _check_balance(posed: Posed, recipe: Recipe) -> None:
    large = np.bincount(posed.grouping.codes) >= recipe.min_size
    if recipe.balanced and large.sum() < 2:
        what = f"{counted(int(large.sum()), 'group')} of {posed.benchmark.name} with {recipe.min_size} examples"
        raise UsageError(
            f"{what}, so there is nothing to balance", where="--balanced", fix="Leave it out, or choose a smaller --min-size"
        )


def _transferred(first: Posed, other: Posed, fitted: CrossFitted) -> Answers:
    """Answers of the head that was trained on all of the first set, out of the classes that both have."""
    row = {first.benchmark.class_id(index): at for at, index in enumerate(fitted.head.classes.tolist())}
    answered = np.arange(other.benchmark.n)
    both = [(row[key], index) for index in other.scoring.classes.tolist() if (key := other.benchmark.class_id(index)) in row]
    at, classes = np.array(both, np.int32).reshape(-1, 2).T
    head = fitted.head.head
    return other.answers(Head(head.weight[at], head.bias[at]), classes, answered)


@dataclass(frozen=True)
class _Sides:
    """Answers before, or why there are none, and after."""

    before: Answers | None
    reason: str | None
    after: Answers


def _outcomes(
    model: FeatureModel, posed: Posed, after: Answers, rules: Rules, pair: tuple[str, str] | None, trained: str
) -> Iterator[Outcome]:
    try:
        sides = _Sides(posed.own_answers(model), None, after)
    except InputError as error:
        sides = _Sides(None, str(error).rstrip("."), after)
    variants = ([] if sides.before is None else [model.id.variant]) + [f"{model.id.variant} {VARIANT}".strip()]
    names = tuple(ModelId(model.id.model, variant) for variant in variants)
    given = np.stack([after] if sides.before is None else [sides.before, after])
    data = Predictions(posed.benchmark, names, given)
    view = SetView(data, "micro", rules.seed, 0)
    strata, reason = class_codes(data, None)
    frame = Frame(posed.grouping, rules, posed.clusters, strata, reason, pair)
    for metric in view.metrics():
        right = view.right(metric, names)
        assert right is not None
        found = [model_groups(frame, str(name), row) for name, row in zip(names, right, strict=True)]
        yield Outcome(
            set=view.info(),
            metric=metric,
            column=posed.grouping.by,
            trained=trained,
            n_classes=len(posed.scoring.classes),
            n_left_out=posed.left_out,
            n_unusable=int((~posed.usable).sum()),
            n_clusters=None if posed.clusters is None else int(posed.clusters.max()) + 1,
            before=None if sides.before is None else found[0],
            after=found[-1],
            change=None if sides.before is None else change_of(frame, right[0], right[1]),
            reason=sides.reason,
        )


def _stored(model: FeatureModel, whole: Benchmark, posed: Posed, fitted: CrossFitted) -> StoredHead:
    known = dict(zip(posed.scoring.classes.tolist(), own_classes(posed), strict=True))
    trained = tuple(known[index] for index in fitted.head.classes.tolist())
    made = {
        **model.provenance,
        "trained on": whole.name,
        "trained on content": whole.content_fingerprint,
        "trained on labels": whole.labels_fingerprint,
        "c": f"{fitted.head.c:g}",
    }
    return StoredHead(fitted.head.head, LabelSpace(posed.scoring.name, trained), model.id, model.transform.fingerprint, made)


def _trained(fitted: CrossFitted, stored: StoredHead, path: Path) -> TrainedHead:
    return TrainedHead(
        n_examples=fitted.n_examples,
        n_drawn=fitted.n_drawn,
        n_classes=len(stored.head.weight),
        n_features=stored.head.weight.shape[1],
        c=fitted.head.c,
        tried=fitted.tried,
        converged=not fitted.head.trouble,
        file=str(path),
        digest=stored.digest,
    )
