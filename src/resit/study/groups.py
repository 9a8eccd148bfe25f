"""Who is left behind? Accuracy by group, and how far groups are apart (Richards et al. 2023, and exact statistics for it)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from resit.data.accuracies import Accuracies
from resit.data.checks import check
from resit.data.predictions import Predictions
from resit.errors import Notice, UsageError
from resit.stats.resample import in_parallel
from resit.stats.threads import one_blas_thread
from resit.study.group_countries import countries_of
from resit.study.group_rows import CLASS_RESAMPLES, MIN_CLUSTERS, Frame, Rules, model_groups, some
from resit.study.group_trends import trends
from resit.study.groupings import Grouping, class_codes, cluster_codes, find_pair, make_groupings
from resit.study.groups_result import SCHEMA, Groups, GroupStudy
from resit.study.groups_verdict import study_sentences, trend_sentence
from resit.study.prepare import check_label_spaces, check_transforms, repair
from resit.study.result import Caution
from resit.study.settings import Data, versions
from resit.study.setview import SetView


def groups(
    *sets: Data,
    by: str | Sequence[str],
    pair: tuple[str, str] | None = None,
    cluster: str | None = None,
    original: Data | None = None,
    quantiles: Mapping[str, int] | None = None,
    class_column: str | None = None,
    min_size: int = 30,
    refuse_missing: bool = False,
    models: Sequence[str] = (),
    exclude: Sequence[str] = (),
    alias: Mapping[str, str] | None = None,
    worst_first: Sequence[str] = (),
    level: float = 0.95,
    seed: int = 0,
    resamples: int = 10_000,
    progress: Callable[[str], None] | None = None,
) -> Groups:
    """Compare the accuracy of models on groups of examples.

    Parameters
    ----------
    *sets : Predictions
        Answers on sets whose benchmark has group columns.
    by : str or sequence of str
        Group columns. Several are studied one by one and crossed.
    pair : (str, str), optional
        Two groups named in advance, whose difference (first minus second) gets an interval of its own.
    cluster : str, optional
        Column of clusters (households) whose examples are not independent; they are redrawn and permuted whole.
    original : Predictions or Accuracies, optional
        Set against whose accuracies disparity is held, over models.
    quantiles : mapping of str to int, optional
        Columns of numbers that are cut into this many groups of about equally many examples.
    class_column : str, optional
        Column of classes for class-macro and standardised accuracies. Default: the set of accepted labels.
    min_size : int, optional
        Groups with fewer examples are flagged, and left out of the headline disparity.
    refuse_missing : bool, optional
        Whether a missing group is an error, instead of the group ``(missing)``.
    models, exclude, alias, worst_first, progress
        As in :func:`resit.compare`.
    level : float, optional
        Level of intervals.
    seed : int, optional
        Seed of everything that is random.
    resamples : int, optional
        Number of permutations, and of resamples of clusters and models; within classes at most 2,000.

    Returns
    -------
    Groups
        For each set, metric and grouping every model's accuracies by group, its disparity with a simultaneous interval and a
        permutation null, the named pair, and the gap between the ends of many groups.

    Raises
    ------
    UsageError
        If arguments do not fit together or do not fit the data.

    References
    ----------
    Richards et al. (2023), arXiv:2307.13136.
    """
    say = progress or (lambda _: None)
    columns = [by] if isinstance(by, str) else list(by)
    rules = Rules(level, seed, resamples, min_size)
    loaded = _checked(sets, original, columns, pair, quantiles or {}, rules)
    repaired, repairs = repair(loaded, alias=alias or {}, worst_first=worst_first, models=models, exclude=exclude)
    answers = [data for data in repaired[: len(sets)] if isinstance(data, Predictions)]
    first = SetView(repaired[-1], "micro", seed, 0) if original is not None else None
    made = [make_groupings(data.benchmark, columns, quantiles or {}, refuse=refuse_missing) for data in answers]
    _check_pair(pair, made)
    studies: list[GroupStudy] = []
    with one_blas_thread():
        for data, groupings in zip(answers, made, strict=True):
            say(f"comparing groups of {data.name}")
            studies += _studies(data, groupings, rules, cluster, class_column, pair)
        found = [trend for study in studies if first is not None for trend in trends(study, first, rules)]
    notices = [*_notices(repaired, first), *_about_groups(studies, rules)]
    sentences = [sentence for study in studies for sentence in study_sentences(study, level, min_size)]
    told = [trend_sentence(trend, first.name) for trend in found if first is not None]
    return Groups(
        schema=SCHEMA,
        level=level,
        seed=seed,
        original=None if first is None else first.info(),
        studies=tuple(studies),
        trends=tuple(found),
        verdict=(*sentences, *filter(None, told)),
        repairs=repairs,
        warnings=tuple(Caution(note.code, note.where, note.message) for note in dict.fromkeys(notices)),
        settings={
            "by": ", ".join(columns),
            "pair": " minus ".join(pair) if pair else "none",
            "cluster": cluster or "none",
            "quantiles": ", ".join(f"{column}={parts}" for column, parts in (quantiles or {}).items()) or "none",
            "classes": f"column {class_column}" if class_column else "set of accepted labels",
            "min_size": str(min_size),
            "missing_groups": "refused" if refuse_missing else "a group of their own",
            "resamples": str(resamples),
            "resamples_within_classes": str(min(CLASS_RESAMPLES, resamples)),
        },
        versions=versions(),
    )


def _checked(
    sets: Sequence[object],
    original: object,
    by: Sequence[str],
    pair: tuple[str, str] | None,
    quantiles: Mapping[str, int],
    rules: Rules,
) -> list[Data]:
    """All sets, the original last, once it is sure that they and the settings can be used."""
    if not sets or not by:
        raise UsageError("groups needs a set and a group column", fix="Write resit groups SET --by COLUMN")
    for item in sets:
        if not isinstance(item, Predictions):
            what = f"{item.name} has figures only" if isinstance(item, Accuracies) else f"{type(item).__name__} is no set"
            raise UsageError(f"groups needs the models' answers, and {what}", fix="Give predictions: resit.load_predictions")
    found = [item for item in (*sets, original) if isinstance(item, Predictions | Accuracies)]
    if original is not None and len(found) == len(sets):
        raise UsageError(f"the original is Predictions or Accuracies, not {type(original).__name__}", where="--original")
    names = [item.name for item in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"two sets are called {', '.join(twice)}", fix="Give each its own name (--name, once for each path)")
    if again := sorted({column for column in by if list(by).count(column) > 1}):
        raise UsageError(f"{', '.join(again)} is there twice", where="--by", fix="Name each column once")
    if stray := sorted(set(quantiles) - set(by)):
        raise UsageError(f"{', '.join(stray)} is no column of --by", where="--quantiles", fix=f"Add --by {stray[0]}")
    if pair is not None and (len(pair) != 2 or pair[0] == pair[1]):
        raise UsageError("a pair is two different groups", where="--pair", fix="Write --pair Europe,Africa")
    if not 0 < rules.level < 1:
        raise UsageError(f"a confidence level lies between 0 and 1, not {rules.level}", where="--level", fix="Try 0.95")
    if rules.seed < 0:
        raise UsageError(f"a seed is not negative, but this is {rules.seed}", where="--seed")
    if rules.resamples < 0:
        raise UsageError("a number of resamples is not negative", where="--resamples")
    if rules.min_size < 0:
        raise UsageError("a size is not negative", where="--min-size")
    return found


def _check_pair(pair: tuple[str, str] | None, made: Sequence[Sequence[Grouping]]) -> None:
    """Refuse a pair that no grouping has, and tell which groups there are."""
    if pair is None or any(True for groupings in made for _ in find_pair(groupings, pair)):
        return
    known = list(dict.fromkeys(chain.from_iterable(grouping.names for groupings in made for grouping in groupings)))
    raise UsageError(f"no column has both {pair[0]!r} and {pair[1]!r}", where="--pair", fix=f"The groups are {some(known, 12)}")


def _studies(
    data: Predictions,
    groupings: Sequence[Grouping],
    rules: Rules,
    cluster: str | None,
    class_column: str | None,
    pair: tuple[str, str] | None,
) -> Iterator[GroupStudy]:
    view = SetView(data, "micro", rules.seed, 0)
    clusters = None if cluster is None else cluster_codes(data.benchmark, cluster)
    strata, reason = class_codes(data, class_column)
    for metric in view.metrics():
        there = view.models_with(metric)
        models = [model for model in data.models if model in there]
        right = view.right(metric, models)
        assert right is not None
        for grouping in groupings:
            frame = Frame(grouping, rules, clusters, strata, reason, pair)
            _, standard_classes, standard_share = frame.standard if frame.cells is not None else (None, None, None)
            jobs = [(frame, str(model), row) for model, row in zip(models, right, strict=True)]
            yield GroupStudy(
                set=view.info(),
                metric=metric,
                columns=grouping.columns,
                n_groups=len(grouping.names),
                small=tuple(name for name, large in zip(grouping.names, frame.large, strict=True) if not large),
                n_missing=grouping.missing,
                n_clusters=None if clusters is None else int(clusters.max()) + 1,
                n_split_clusters=frame.n_split,
                n_classes=None if frame.cells is None else len(set(frame.cells.stratum.tolist())),
                standard_classes=standard_classes,
                standard_share=standard_share,
                models=tuple(in_parallel(lambda job: model_groups(*job), jobs)),
                countries=countries_of(data.benchmark, grouping),
            )


def _notices(sets: Sequence[Data], original: SetView | None) -> Iterator[Notice]:
    for data in sets:
        yield from data.notices
        if isinstance(data, Predictions):
            yield from check(data)
        if original is not None and data is not original.data:
            yield from check_label_spaces(original.data, data)
            yield from check_transforms(original.data, data, True)


def _about_groups(studies: Sequence[GroupStudy], rules: Rules) -> Iterator[Notice]:
    for study in studies:
        where = f"{study.set.name} by {study.by}"
        if study.n_missing:
            message = f"{study.n_missing:,} of {study.set.n:,} examples have no value; they are in the group (missing)."
            yield Notice("missing-groups", where, message)
        if study.small:
            also = "" if study.n_clusters is None else f", or {MIN_CLUSTERS} clusters,"
            message = (
                f"{len(study.small)} of {study.n_groups} groups have under {rules.min_size} examples{also} and are not in the "
                f"headline disparity: {some(study.small)}."
            )
            yield Notice("small-groups", where, message)
        if study.n_split_clusters:
            message = (
                f"{study.n_split_clusters} of {study.n_clusters} clusters lie in several groups; each of their parts counts as "
                "a cluster."
            )
            yield Notice("split-clusters", where, message)
        few = [score.group for score in study.models[0].groups if (score.n_clusters or MIN_CLUSTERS) < MIN_CLUSTERS]
        if few:
            message = f"intervals are too narrow for groups of under {MIN_CLUSTERS} clusters: {some(few)}."
            yield Notice("few-clusters", where, message)
        disparity = study.models[0].disparity
        if disparity.difference.estimate is not None and disparity.difference.reason:
            yield Notice("no-interval", where, f"best minus worst has {disparity.difference.reason}.")
        permuted = disparity.null
        if permuted is not None and permuted.reason and study.n_clusters is not None:
            yield Notice("no-null", where, f"no permutation null: {permuted.reason}.")
