"""What people's accuracy means, in sentences, and what its reader must know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from resit.build.exam.record import Sheet
from resit.data.paths import counted
from resit.study.estimate import Estimate
from resit.study.human_result import ModelsBeside, Partial, PersonRow, Pooled
from resit.study.verdict import points

FEW = 5  # persons, below which their differences among each other are hardly known
SCALE = 100  # percent


def sentences(pooled: Pooled | None, models: ModelsBeside | None, n_original: int, n_new: int, level: float) -> tuple[str, ...]:
    """What people and models do on the same images, and what that decides."""
    if pooled is None:
        return ()
    old, new, change = pooled.original, pooled.new, pooled.change
    who = "One person is" if pooled.n_people == 1 else f"{pooled.n_people:,} people are"
    said = [
        f"{who} right on {_percent(old.estimate)} of {n_original:,} original and on {_percent(new.estimate)} of {n_new:,} new "
        f"images: {points(change.estimate or 0)} points{_within(change)}.",
        _meaning(pooled, level),
    ]
    if models:
        said.append(
            f"{counted(len(models.models), 'model is', 'models are')} on average right on {_percent(models.mean_original)} and "
            f"{_percent(models.mean_new)} of the same images: {points(models.mean_change)} points."
        )
    return tuple(said)


def _percent(value: float | None) -> str:
    return "n/a" if value is None else f"{SCALE * value:.1f} %"


def _within(change: Estimate) -> str:
    return "" if change.low is None or change.high is None else f" [{points(change.low)}, {points(change.high)}]"


def _meaning(pooled: Pooled, level: float) -> str:
    change = pooled.change
    if change.low is None or change.high is None:
        return f"Whether the new images are harder for people is not decided: {change.reason}."
    if change.high < 0:
        return "So people find the new images harder: the whole interval is below 0."
    if change.low > 0:
        return "So people find the new images easier: the whole interval is above 0."
    width = max(-change.low, change.high)
    return (
        f"These answers do not tell the two apart: at {SCALE * level:g} % a difference of up to "
        f"{SCALE * width:.1f} points remains possible."
    )


def cautions(
    exam: str,
    done: Sequence[Sheet],
    people: Sequence[PersonRow],
    models: ModelsBeside | None,
    partial: Sequence[Partial],
    n: int,
) -> Iterator[tuple[str, str, str]]:
    """Code, place and message of each warning."""
    if len(people) == 1:
        yield "one-person", exam, "One person alone: the interval tells of other images, not of other people."
    elif 1 < len(people) < FEW:
        message = (
            f"Only {len(people)} people: how much people differ from each other is hardly known, and where "
            "their differences between the two sets really differ the pooled intervals are too narrow."
        )
        yield "few-people", exam, message
    for row in people:
        if empty := row.original.unanswered + row.new.unanswered:
            message = f"{counted(empty, 'image')} of {n:,} without an answer, counted as wrong."
            yield "unanswered", row.person, message
    for sheet in done:
        if sheet.seen:
            message = f"Voted on or reviewed {sheet.seen:,} of the {n:,} images in this build, and may know them."
            yield "seen-before", sheet.person, message
    if partial:
        told = ", ".join(f"{one.person} ({one.answered:,} of {one.n:,})" for one in partial)
        yield "not-handed-in", exam, f"Begun and not handed in, so in no figure: {told}."
    if models and models.chose_the_images:
        message = (
            "The images were chosen because these models get them wrong: their accuracy on them is low by choice, "
            "and says nothing against that of people. Compare the changes."
        )
        yield "chosen-by-models", exam, message
    if models and models.left_out:
        yield "models-on-one-set", exam, f"Asked about one kind of images only, so left out: {', '.join(models.left_out)}."
