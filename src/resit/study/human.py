"""How often people are right themselves, on original and on new images that they could not tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resit.build.exam.record import UNKNOWN, ExamAnswers, Question, Sheet
from resit.errors import UsageError
from resit.stats.crossed import crossed_means
from resit.stats.intervals import clopper_pearson, newcombe, percentile
from resit.stats.resample import generator
from resit.study.estimate import Caution, Estimate
from resit.study.human_result import (
    SCHEMA,
    HumanAccuracy,
    Marks,
    ModelMarks,
    ModelsBeside,
    Partial,
    PersonRow,
    Pooled,
)
from resit.study.human_verdict import cautions, sentences
from resit.study.settings import versions

PURPOSE = 5  # of the generator
RESAMPLES = 10_000
Right = npt.NDArray[np.bool_]
CROSSED = "crossed percentile bootstrap over persons and images"
NOBODY = "nobody has handed the exam in"


def human_accuracy(answers: ExamAnswers, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0) -> HumanAccuracy:
    """Accuracy of each person and of all, on the original and on the new images of an exam.

    An answer is right if it is one of the image's accepted classes. Images without an answer are wrong and counted, and so
    is "I do not know". Only exams that were handed in count; the others are named.

    Parameters
    ----------
    answers : ExamAnswers
        As :func:`resit.build.steps.exam.answers_of` gives it.
    level : float, optional
        Confidence level of all intervals.
    resamples : int, optional
        Resamples of persons and images for the pooled figures.
    seed : int, optional

    Returns
    -------
    HumanAccuracy

    Raises
    ------
    UsageError
        If there are no images of one origin, too few resamples, or the level is none.
    """
    _check(answers, level, resamples, seed)
    questions = answers.questions
    order = sorted(range(len(questions)), key=lambda at: (questions[at].image, questions[at].class_ids))
    places = [np.array([at for at in order if questions[at].origin == origin], int) for origin in ("original", "new")]
    done = sorted((sheet for sheet in answers.sheets if sheet.handed_in), key=lambda sheet: sheet.person)
    right = np.array([[_is_right(*pair) for pair in zip(questions, one.answers, strict=True)] for one in done], bool)
    people = tuple(_row(sheet, right[at], places, level) for at, sheet in enumerate(done))
    pooled = _pooled([right[:, own] for own in places], people, level, resamples, seed) if people else None
    models = _models(answers, *(len(own) for own in places))
    partial = _partial(answers.sheets)
    return HumanAccuracy(
        schema=SCHEMA,
        exam=answers.exam,
        build=answers.build,
        level=level,
        seed=seed,
        rule=answers.rule,
        n_original=len(places[0]),
        n_new=len(places[1]),
        n_classes=answers.n_classes,
        people=people,
        pooled=pooled,
        models=models,
        partial=partial,
        verdict=sentences(pooled, models, len(places[0]), len(places[1]), level),
        warnings=tuple(Caution(*one) for one in cautions(answers.exam, done, people, models, partial, len(questions))),
        settings={name: str(value) for name, value in answers.settings.items()},
        versions=versions(),
        reason=None if people else NOBODY,
    )


def _check(answers: ExamAnswers, level: float, resamples: int, seed: int) -> None:
    if not 0 < level < 1:
        raise UsageError(f"a confidence level lies between 0 and 1, not {level}", where="--level", fix="Try 0.95")
    if resamples < 50 or seed < 0:
        raise UsageError(
            "an interval needs at least 50 resamples and a seed from 0", where="human_accuracy", fix="Ask for more."
        )
    if {question.origin for question in answers.questions} != {"original", "new"}:
        raise UsageError("an exam without images of both kinds", where=answers.exam, fix="Make it of original and new ones.")


def _is_right(question: Question, answer: str | None) -> bool:
    return answer in question.class_ids


def _row(sheet: Sheet, right: Right, places: Sequence[npt.NDArray[np.int_]], level: float) -> PersonRow:
    old, new = (_marks(sheet, right, own, level) for own in places)
    found = newcombe(old.correct, old.n, new.correct, new.n, level)
    change = Estimate(float(found.estimate), float(found.low), float(found.high), "Newcombe")
    return PersonRow(sheet.person, old, new, change)


def _marks(sheet: Sheet, right: Right, places: npt.NDArray[np.int_], level: float) -> Marks:
    given = [sheet.answers[at] for at in places.tolist()]
    correct, n = int(right[places].sum()), len(places)
    found = clopper_pearson(correct, n, level)
    accuracy = Estimate(float(found.estimate), float(found.low), float(found.high), "Clopper-Pearson")
    return Marks(correct, n, given.count(None), given.count(UNKNOWN), accuracy)


def _pooled(right: Sequence[Right], people: Sequence[PersonRow], level: float, resamples: int, seed: int) -> Pooled:
    if len(people) == 1:
        one = people[0]
        return Pooled(1, 0, one.original.accuracy, one.new.accuracy, one.change)
    drawn = crossed_means(generator(seed, PURPOSE), right[0], right[1], resamples)
    means = [float(own.mean()) for own in right]
    changes = drawn[:, 1] - drawn[:, 0]
    old, new = (_estimate(mean, own, level) for mean, own in zip(means, drawn.T, strict=True))
    return Pooled(len(people), resamples, old, new, _estimate(means[1] - means[0], changes, level))


def _estimate(value: float, drawn: npt.NDArray[np.float64], level: float) -> Estimate:
    if np.ptp(drawn) == 0:
        return Estimate(value, reason="no interval: all answers of all people are alike, so resampling them tells nothing")
    low, high = percentile(drawn, level)
    return Estimate(value, float(low), float(high), CROSSED)


def _models(answers: ExamAnswers, n_original: int, n_new: int) -> ModelsBeside | None:
    both = [(one.model, one.original, one.new) for one in answers.models]
    marks = tuple(
        ModelMarks(name, old / n_original, new / n_new)
        for name, old, new in sorted(both)
        if old is not None and new is not None
    )
    if not marks:
        return None
    old_mean, new_mean = (float(np.mean([getattr(one, name) for one in marks])) for name in ("original", "new"))
    out = tuple(sorted({one.model for one in answers.models} - {one.model for one in marks}))
    return ModelsBeside(old_mean, new_mean, new_mean - old_mean, answers.chosen_by_models, marks, out)


def _partial(sheets: Sequence[Sheet]) -> tuple[Partial, ...]:
    begun = [one for one in sheets if not one.handed_in]
    rows = [Partial(one.person, len(one.answers) - one.answers.count(None), len(one.answers)) for one in begun]
    return tuple(sorted(rows, key=lambda row: row.person))
