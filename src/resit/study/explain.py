"""Why do models score lower on the new set? Every hypothesis that the material allows, one Result (Recht et al. 2019, §3.4)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replaced
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from resit.data.checks import check
from resit.data.models import ModelTable
from resit.data.predictions import Predictions
from resit.errors import InputError, ResitError, UsageError
from resit.stats.threads import one_blas_thread
from resit.study.estimate import Caution
from resit.study.explain_material import Source, Sources, gather, of_models, same_models, with_metric
from resit.study.explain_result import SCHEMA, Explanation, Finding
from resit.study.explain_verdict import drop_sentence, left_of, left_sentence
from resit.study.hypotheses.interface import Hypothesis, Material, Rules
from resit.study.hypotheses.registry import hypotheses
from resit.study.hypotheses.statistical_error import drop_of
from resit.study.overlap import shared_with_original
from resit.study.prepare import check_label_spaces, check_transforms, repair, require_sets
from resit.study.settings import FEWEST_RESAMPLES, Data, versions
from resit.study.setview import TOP_K, SetView

if TYPE_CHECKING:
    from resit.models.training.protocol import Trainer
    from resit.study.human_result import HumanAccuracy

Tell = Callable[[str], None]
DEFAULT_TRAINER, NEEDS = "resnet", "torch"


def explain(
    original: Data,
    new: Data,
    *,
    only: Sequence[str] = (),
    train: Sequence[Source] = (),
    classes: str | Path | None = None,
    original_benchmark: Source | None = None,
    new_benchmark: Source | None = None,
    original_votes: str | Path | None = None,
    new_votes: str | Path | None = None,
    original_duplicates: str | Path | None = None,
    new_duplicates: str | Path | None = None,
    others: Sequence[tuple[Data, str | Path]] = (),
    build: str | Path | None = None,
    candidates: Data | None = None,
    human: HumanAccuracy | str | Path | None = None,
    trainer: str | Trainer | None = None,
    metric: str = "top1",
    models: Sequence[str] = (),
    exclude: Sequence[str] = (),
    alias: Mapping[str, str] | None = None,
    worst_first: Sequence[str] = (),
    model_table: ModelTable | None = None,
    tried: int | None = None,
    hardest: float = 0.05,
    folds: int = 6,
    seeds: int = 2,
    store: str | Path | None = None,
    executor: str = "local",
    address: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = 2_000,
    allow_different_transforms: bool = False,
    progress: Tell | None = None,
) -> Explanation:
    """Ask every hypothesis of what the drop between two test sets comes from.

    Those that lack something are not run, and tell what they need.

    Parameters
    ----------
    original, new : Predictions
        Answers on the original and on the new test set. Figures alone are refused.
    only : sequence of str, optional
        Names of hypotheses. Default: all.
    train : sequence of path, str or Benchmark, optional
        Training data of the original. Without it only the discriminator trains, which needs images of both sets alone.
    classes : str or path, optional
        Class list of sets that are given as paths.
    original_benchmark, new_benchmark : path, str or Benchmark, optional
        The images. Default: where the run read them from.
    original_votes, new_votes : path, optional
        Votes on images, as ``resit build init --counts`` takes them.
    original_duplicates, new_duplicates : path, optional
        Pairs of their images with training images that people judged: a table with columns ``image`` and ``verdict`` (same,
        near, different, unsure). Default for the new set: those of the build.
    others : sequence of (Predictions, path), optional
        Other new sets, answered by the same models, each with votes on its images: does accuracy follow selection frequency?
    build : path, optional
        Build that made the new set: its votes, near-duplicates and revisions.
    candidates : Predictions, optional
        Answers of the same models on more of the build's candidates: for its other revisions. The examples' ids are the SHA-256
        of the images' bytes, as in a release.
    human : HumanAccuracy or path, optional
        What people scored, as ``resit build exam results`` writes it.
    trainer : str or Trainer, optional
        What is trained: ``resnet``, ``pixels``, ``features:MODEL``, ``sklearn:module.Class`` or ``torch:FILE.py:FACTORY``.
        Default: a small residual network.
    metric : {'top1', 'top5'}, optional
    models, exclude, alias, worst_first, model_table, allow_different_transforms
        As in :func:`resit.compare`.
    tried : int, optional
        Number of models that were ever scored on the original. Default: those that are given.
    hardest : float, optional
        Fraction of images that counts as hard.
    folds, seeds : int, optional
        Folds of cross-validation, and trainings with different seeds.
    store : path, optional
        Folder in which finished trainings are kept: an interrupted run goes on.
    executor : {'local', 'ray'}, optional
        What runs folds and grids; ``address`` is that of a cluster.
    level : float, optional
        Level of intervals.
    seed : int, optional
    resamples : int, optional
        Of examples.
    progress : callable, optional
        Told each step in words.

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        If images, votes or a build cannot be read.
    UsageError
        If arguments do not fit together or do not fit the data.

    References
    ----------
    Recht et al. (2019), arXiv:1902.10811, §3.4 and appendices B.2, C.3; Engstrom et al. (2020), arXiv:2005.09619.
    """
    tell = progress or (lambda _: None)
    where = None if store is None else Path(store)
    rules = Rules(level, seed, resamples, folds, seeds, hardest, tried, where, executor, address)
    chosen = hypotheses(tuple(only))
    _check(rules, metric)
    sets, _ = repair(require_sets([original, new]), alias=alias or {}, worst_first=worst_first, models=models, exclude=exclude)
    notices = [*check_label_spaces(sets[0], sets[1]), *check_transforms(sets[0], sets[1], allow_different_transforms)]
    old, young, left_out = with_metric(*same_models(*(_answers(one) for one in sets)), metric)
    notices += [*left_out, *(notice for one in (old, young) for notice in (*one.notices, *check(one)))]
    if shared := shared_with_original(*(SetView(one, "micro", seed, 0) for one in (old, young))):
        notices.append(shared)
    sources = Sources(
        train,
        classes,
        original_benchmark,
        new_benchmark,
        original_votes,
        new_votes,
        original_duplicates,
        new_duplicates,
        [(_answers(other), votes) for other, votes in others],
        build,
    )
    with one_blas_thread():
        material = replaced(
            gather(old, young, sources, tell),
            metric=metric,
            table=model_table,
            human=_human(human),
            candidates=None if candidates is None else of_models(_answers(candidates), old),
            trainer=_trainer(trainer, chosen, where),
        )
        drop = drop_of(material, rules)
        findings = tuple(_asked(hypothesis, material, rules, tell) for hypothesis in chosen)
    left, sets_named = left_of(drop, findings), (old.name, young.name)
    return Explanation(
        schema=SCHEMA,
        level=level,
        seed=seed,
        metric=metric,
        original=SetView(old, "micro", seed, 0).info(),
        new=SetView(young, "micro", seed, 0).info(),
        n_models=len(material.models),
        drop=drop,
        findings=findings,
        left=left,
        verdict=(drop_sentence(drop, metric, sets_named, len(material.models)), left_sentence(drop, left, findings)),
        warnings=tuple(Caution(note.code, note.where, note.message) for note in dict.fromkeys([*notices, *sources.notices])),
        settings=_told(rules, material),
        versions=versions(),
    )


def _check(rules: Rules, metric: str) -> None:
    if metric not in TOP_K:
        raise UsageError(f"no metric {metric!r}", where="--metric", fix=f"There are {', '.join(TOP_K)}.")
    if not 0 < rules.level < 1:
        raise UsageError(f"a confidence level lies between 0 and 1, not {rules.level}", where="--level", fix="Try 0.95")
    if not 0 < rules.hardest < 1:
        raise UsageError(f"a fraction lies between 0 and 1, not {rules.hardest}", where="--hardest", fix="Try 0.05")
    least = {"seed": 0, "resamples": FEWEST_RESAMPLES, "folds": 2, "seeds": 1}
    for name, lowest in least.items():
        if getattr(rules, name) < lowest:
            raise UsageError(f"{name} is at least {lowest}, not {getattr(rules, name)}", where=f"--{name}", fix="Give more.")
    if rules.tried is not None and rules.tried < 1:
        raise UsageError(f"{rules.tried} models were tried", where="--tried", fix="Give how many were ever scored.")


def _answers(one: object) -> Predictions:
    if not isinstance(one, Predictions):
        name = getattr(one, "name", "")
        raise UsageError("has figures only", where=name, fix="To explain a drop, give the models' answers on each example.")
    return one


def _human(given: HumanAccuracy | str | Path | None) -> HumanAccuracy | None:
    from resit.study.human_result import HumanAccuracy

    if given is None or isinstance(given, HumanAccuracy):
        return given
    try:
        text = Path(given).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=given, fix="Check the path.") from error
    return HumanAccuracy.from_json(text)


def _trainer(given: str | Trainer | None, chosen: Sequence[Hypothesis], store: Path | None) -> Trainer | None:
    """What is trained; None where nothing will be, or where nobody chose and the default's library is not installed."""
    if not any(hypothesis.trains for hypothesis in chosen) or (given is None and find_spec(NEEDS) is None):
        return None
    from resit.study.training import trainer_of

    return trainer_of(given or DEFAULT_TRAINER, store) if given is None or isinstance(given, str) else given


def _asked(hypothesis: Hypothesis, material: Material, rules: Rules, tell: Tell) -> Finding:
    needs = hypothesis.lacks(material)
    if needs:
        return hypothesis.not_run(needs)
    seconds = hypothesis.seconds(material, rules)
    tell(f"{hypothesis.title}{f' (about {_time(seconds)})' if seconds >= 5 else ''}")
    try:
        return hypothesis.found(hypothesis.run(material, rules, tell))
    except ResitError as error:
        return hypothesis.failed(str(error))
    except (Exception, SystemExit) as error:  # hours of the others are not lost with it
        logging.getLogger("resit").debug("%s failed", hypothesis.name, exc_info=True)
        return hypothesis.failed(f"{type(error).__name__}: {error}")


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _told(rules: Rules, material: Material) -> dict[str, str]:
    return {
        "resamples": str(rules.resamples),
        "folds": str(rules.folds),
        "seeds": str(rules.seeds),
        "hardest": f"{rules.hardest:g}",
        "tried": str(rules.tried or len(material.models)),
        "trainer": "none" if material.trainer is None else material.trainer.name,
        "train": ", ".join(one.name for one in material.train) or "none",
        "build": "none" if material.build is None else material.build.name,
        "model_table": "none" if material.table is None else material.table.name,
    }
