"""What is an old benchmark's score worth on a new test set?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from resit.data.models import ModelTable
from resit.stats.threads import one_blas_thread
from resit.study.comparison import compare_pairing
from resit.study.fits import fit_all
from resit.study.human_result import HumanAccuracy
from resit.study.notices import all_notices
from resit.study.overlap import overlaps
from resit.study.pairing import pair_up
from resit.study.prepare import repair, require_sets
from resit.study.result import SCHEMA, Caution, Repair, Result
from resit.study.settings import Data, Settings, versions
from resit.study.setview import SetView
from resit.study.verdict import metric_label

Overlaps = Mapping[tuple[str, str], int]
Say = Callable[[str], None]


def compare(
    original: Data,
    *new: Data,
    models: Sequence[str] = (),
    exclude: Sequence[str] = (),
    alias: Mapping[str, str] | None = None,
    worst_first: Sequence[str] = (),
    baseline: Sequence[str] | str = (),
    model_table: ModelTable | None = None,
    level: float = 0.95,
    seed: int = 0,
    bootstrap: str = "models",
    model_resamples: int = 100_000,
    example_resamples: int = 2_000,
    weighting: str = "micro",
    overlap: Overlaps | None = None,
    allow_different_transforms: bool = False,
    human: HumanAccuracy | None = None,
    progress: Say | None = None,
) -> Result:
    """Compare models on an original and on one or more new test sets.

    Parameters
    ----------
    original, *new : Predictions or Accuracies
        The sets. Statistics that need the models' answers are not available (with the reason) where only figures are known.
    models, exclude : sequence of str, optional
        Globs of models to keep (default all) and to leave out.
    alias : mapping of str to str, optional
        Models to rename on whichever set has them, old name to new.
    worst_first : sequence of str, optional
        ``MODEL@SET`` whose stored answers run from worst to best.
    baseline : sequence of str or str, optional
        Globs, or ``column=value`` of the model table: the models that the line is fitted over. Default: all.
    model_table : ModelTable, optional
        Family, kind and date of models.
    level : float, optional
        Confidence level of all intervals.
    seed : int, optional
        Seed of all resampling.
    bootstrap : {'models', 'examples', 'crossed', 'families'}, optional
        What is resampled for the headline intervals of the fits.
    model_resamples, example_resamples : int, optional
        Resamples of models (and families), and of examples (and crossed); 0 for none.
    weighting : {'micro', 'class-macro'}, optional
        Each example, or each class, counts the same.
    overlap : mapping of (str, str) to int, optional
        Examples that two new sets share, where their ids do not tell.
    allow_different_transforms : bool, optional
        Compare although models were preprocessed differently on the sets.
    human : HumanAccuracy, optional
        How people did in an exam of the same test sets, to stand beside.
    progress : callable, optional
        Is told what is being done.

    Returns
    -------
    Result

    Raises
    ------
    UsageError
        If arguments do not fit together or do not fit the data.

    References
    ----------
    Recht et al. (2018), arXiv:1806.00451; Recht et al. (2019), arXiv:1902.10811.
    """
    settings = Settings(
        level=level,
        seed=seed,
        bootstrap=bootstrap,
        model_resamples=model_resamples,
        example_resamples=example_resamples,
        weighting=weighting,
        baseline=(baseline,) if isinstance(baseline, str) else tuple(baseline),
        allow_different_transforms=allow_different_transforms,
    )
    loaded = require_sets([original, *new])
    settings.check(model_table, loaded)
    sets, repairs = repair(loaded, alias=alias or {}, worst_first=worst_first, models=models, exclude=exclude)
    with one_blas_thread():
        found = _study(sets, repairs, settings, model_table, overlap or {}, progress or (lambda _: None))
    return found if human is None else replace(found, human=human)


def _study(
    sets: Sequence[Data], repairs: tuple[Repair, ...], settings: Settings, table: ModelTable | None, overlap: Overlaps, say: Say
) -> Result:
    say("matching models and scoring answers")
    views = [SetView(data, settings.weighting, settings.seed, settings.example_resamples) for data in sets]
    by_set = [pair_up(views[0], view, settings.baseline, table) for view in views[1:]]
    pairings = [pairing for group in by_set for pairing in group]
    say("fitting lines and resampling")
    fits = fit_all(pairings, table, settings)
    comparisons = []
    for pairing, lines in zip(pairings, fits, strict=True):
        say(f"{pairing.new.name}, {metric_label(pairing.metric)}: models, pairs and classes")
        comparisons.append(compare_pairing(pairing, lines, table, settings))
    notices = all_notices(sets, by_set, comparisons, settings)
    return Result(
        schema=SCHEMA,
        level=settings.level,
        seed=settings.seed,
        original=views[0].info(),
        comparisons=tuple(comparisons),
        overlaps=overlaps(pairings, overlap, settings.level),
        repairs=repairs,
        warnings=tuple(Caution(note.code, note.where, note.message) for note in notices),
        settings={**settings.told(), "model_table": table.name if table else "none"},
        versions=versions(),
    )
