"""Make an exam that people sit themselves, and read what they answered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resit.build.clock import now
from resit.build.exam import choose
from resit.build.exam.choose import keyed
from resit.build.exam.record import ExamAnswers, ModelRight, Question, Sheet
from resit.build.steps.exam_images import Pictured, models_on, new_images, original_images, put_originals
from resit.build.steps.opened import Build, Tell, silent
from resit.errors import Notice, UsageError

if TYPE_CHECKING:
    from resit.data.predictions import Predictions
    from resit.store.exams import Exam

HARDEST = 0.05  # as Recht et al. 2019, where there are models
EXAMPLES = 3  # originals that show each class to those who look it up
WHERE = "exam"


@dataclass(frozen=True)
class MadeExam:
    """An exam that is ready.

    Parameters
    ----------
    name : str
    rule : str
        How the images were chosen.
    n : int
        Images of each origin.
    notices : tuple of Notice
    """

    name: str
    rule: str
    n: int
    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        head = f"{self.name}: {self.n:,} original and {self.n:,} new images, mixed. {self.rule}"
        return "\n".join([head, *(str(notice) for notice in self.notices)])


@dataclass(frozen=True)
class ListedExam:
    """An exam, and how many people are at it."""

    name: str
    time: str
    n: int
    begun: int
    handed_in: int
    rule: str

    def __str__(self) -> str:
        return f"{self.name}: {self.n:,} images, begun by {self.begun:,}, handed in by {self.handed_in:,}. {self.rule}"


def make_exam(
    build: Build,
    *,
    original: Predictions | None = None,
    new: Predictions | None = None,
    hardest: float | None = None,
    random: bool = False,
    n: int = 100,
    balanced: bool = False,
    revision: int | None = None,
    name: str | None = None,
    show_answers: bool = False,
    seed: int | None = None,
    tell: Tell = silent,
) -> MadeExam:
    """Choose as many original as new images, and store them as an exam.

    Parameters
    ----------
    build : Build
    original, new : Predictions, optional
        Answers of models on the original test set and on the new images, both or none. Only models that are on both count.
    hardest : float, optional
        Draw from this share of each kind of images, those that fewest models get right. Default: 0.05 where there are models.
    random : bool, optional
        Draw from all images instead.
    n : int, optional
        Images of each kind.
    balanced : bool, optional
        Draw as evenly over classes as the images allow. Without models it is so in any case.
    revision : int, optional
        Whose images are the new ones. Default: the last.
    name : str, optional
        Default: "Exam 1", or the next number that is free.
    show_answers : bool, optional
        Whether people see what was right after they handed in.
    seed : int, optional
        Default: that of the configuration.
    tell : callable, optional

    Returns
    -------
    MadeExam

    Raises
    ------
    InputError
        If predictions are of other images, an image is missing, or there is an exam of that name.
    UsageError
        If the arguments do not fit together, or nothing was sampled yet.

    References
    ----------
    Recht et al. (2019), arXiv:1902.10811, sections 3.4 and C.3.2.
    """
    share = _share(hardest, random, original, new)
    if n < 1:
        raise UsageError(f"{n} images", where="--n", fix="Ask for at least one of each kind.")
    seed = build.config.seed if seed is None else seed
    tell("Reading the build")
    old, fresh, notices = _pictured(build, original, new, revision)
    spread = balanced or original is None
    pools = [_pool(part, share, seed) for part in (old, fresh)]
    size = min(n, *(len(pool) for pool in pools))
    if size < n:
        there = f"{len(pools[0]):,} original and {len(pools[1]):,} new ones"
        told = f"Only {size:,} images of each kind, not {n:,}: there are {there}."
        notices.append(Notice("fewer-images", WHERE, told))
    chosen = [_drawn(part, pool, size, seed, spread) for part, pool in zip((old, fresh), pools, strict=True)]
    asked = _mixed(old, chosen[0], fresh, chosen[1], seed)
    examples = _examples(build, old, {one.image for one in asked}, seed, notices)
    tell("Copying original images")
    put_originals(build, {one.image for one in asked if one.origin == "original"} | set().union(*examples.values()), old)
    record = {
        "rule": _rule(share, pools, (old, fresh), chosen, spread=spread),
        "seed": seed,
        "n": size,
        "hardest": share,
        "balanced": spread,
        "revision": revision or build.store.revisions()[-1].revision,
        "show_answers": show_answers,
        "examples": examples,
        "chosen_by_models": share is not None,
        "models": [[one.model, one.original, one.new] for one in models_on(old, chosen[0], fresh, chosen[1])],
    }
    return MadeExam(_stored(build, name, record, asked), str(record["rule"]), size, tuple(notices))


def _share(hardest: float | None, random: bool, original: Predictions | None, new: Predictions | None) -> float | None:
    if (original is None) != (new is None):
        fix = "Give the models' answers on both kinds of images, or on none."
        raise UsageError("models on one kind of images only", where="--original, --new", fix=fix)
    if random and hardest is not None:
        raise UsageError("the hardest images and images at random", where="--hardest, --random", fix="Leave out one.")
    if hardest is not None and original is None:
        raise UsageError("no models to say what is hard", where="--hardest", fix="Give --original and --new, or use --random.")
    return None if random or original is None else HARDEST if hardest is None else hardest


def _pictured(
    build: Build, original: Predictions | None, new: Predictions | None, revision: int | None
) -> tuple[Pictured, Pictured, list[Notice]]:
    notices: list[Notice] = []
    if not build.store.revisions():
        raise UsageError("no new images yet", where=build.path, fix="Sample first: `resit build sample`.")
    models = None
    if original is not None and new is not None:
        models = sorted({str(one) for one in original.models} & {str(one) for one in new.models})
        others = sorted({str(one) for one in (*original.models, *new.models)} - set(models))
        if not models:
            raise UsageError("no model is on both kinds of images", where=WHERE, fix="Ask the same models about both.")
        if others:
            told = f"Asked about one kind of images only, so without a say in what is hard: {', '.join(others)}."
            notices.append(Notice("models-on-one-set", WHERE, told))
    old = original_images(build, original, models)
    fresh, more = new_images(build, new, models, revision)
    return old, fresh.without(set(old.images)), [*notices, *more]


def _pool(part: Pictured, share: float | None, seed: int) -> list[int]:
    if share is None or part.right is None:
        return list(range(len(part.images)))
    return choose.hardest(part.images, part.right.mean(axis=0), share, seed=seed)


def _drawn(part: Pictured, pool: list[int], n: int, seed: int, balanced: bool) -> list[int]:
    images, classes = [part.images[at] for at in pool], [part.class_ids[at][0] for at in pool]
    return [pool[at] for at in choose.draw(images, classes, n, seed=seed, balanced=balanced)]


def _mixed(old: Pictured, chosen: list[int], fresh: Pictured, drawn: list[int], seed: int) -> list[Question]:
    asked = [Question(old.images[at], old.class_ids[at], "original") for at in chosen]
    asked += [Question(fresh.images[at], fresh.class_ids[at], "new") for at in drawn]
    return sorted(asked, key=lambda one: keyed(seed, "mix", one.image))


def _examples(build: Build, old: Pictured, asked: set[str], seed: int, notices: list[Notice]) -> dict[str, list[str]]:
    """Originals of one class each that are not asked about, for people to look up what a class looks like."""
    found: dict[str, list[str]] = {info.id: [] for info in build.classes}
    for image, classes in sorted(zip(old.images, old.class_ids, strict=True), key=lambda pair: keyed(seed, "example", pair[0])):
        if len(classes) == 1 and image not in asked and len(found[classes[0]]) < EXAMPLES:
            found[classes[0]].append(image)
    if bare := sum(not images for images in found.values()):
        told = f"{bare:,} classes have no original image left to show as an example."
        notices.append(Notice("no-examples", WHERE, told))
    return found


def _rule(
    share: float | None, pools: list[list[int]], parts: tuple[Pictured, Pictured], chosen: list[list[int]], *, spread: bool
) -> str:
    evenly = " as evenly over classes as they allow" if spread else ""
    if share is None:
        return f"Drawn at random{evenly} from {len(pools[0]):,} original and {len(pools[1]):,} new images."
    most = [
        float(part.right.mean(axis=0)[pool].max()) if part.right is not None else 1.0
        for part, pool in zip(parts, pools, strict=True)
    ]
    count = 0 if parts[0].right is None else len(parts[0].right)
    drawn = "" if all(len(pool) == len(own) for pool, own in zip(pools, chosen, strict=True)) else f"Drawn{evenly} from the "
    return (
        f"{drawn or 'The '}hardest {100 * share:g} % by {count:,} models ({len(pools[0]):,} original images that at "
        f"most {100 * most[0]:.0f} % of the models get right, {len(pools[1]):,} new ones, {100 * most[1]:.0f} %); among images "
        "that equally many get right, by a keyed hash of the image."
    )


def _stored(build: Build, name: str | None, record: dict[str, Any], asked: list[Question]) -> str:
    from resit.store.exams import Asked, add_exam, exams

    with build.store.writing() as connection:
        taken = {one.name for one in exams(connection)}
        free = next(text for at in range(1, len(taken) + 2) if (text := f"Exam {at}") not in taken)
        chosen = (name or "").strip() or free
        rows = [Asked(at, one.image, one.class_ids, one.origin) for at, one in enumerate(asked)]
        add_exam(connection, chosen, record, rows, now())
    return chosen


def list_exams(build: Build) -> list[ListedExam]:
    """All exams of a build, first to last."""
    from resit.store.exams import count_sittings, exams

    with build.store.reading() as connection:
        return [
            ListedExam(one.name, one.time, 2 * one.record["n"], *count_sittings(connection, one.id), one.record["rule"])
            for one in exams(connection)
        ]


def answers_of(build: Build, name: str | None = None) -> ExamAnswers:
    """What people answered in an exam, with what it asked.

    Parameters
    ----------
    build : Build
    name : str, optional
        Default: the only one.

    Raises
    ------
    UsageError
        If there is no such exam, or several and none is named.
    """
    from resit.store.exams import exams, questions, sittings

    with build.store.reading() as connection:
        exam = _named(exams(connection), name)
        asked, sat = questions(connection, exam.id), sittings(connection, exam.id)
    seen = _seen(build, {one.image for one in asked}) if sat else Counter()
    sheets = tuple(
        Sheet(one.person, tuple(one.answers.get(at.position) for at in asked), one.handed_in, seen[one.person]) for one in sat
    )
    return ExamAnswers(
        exam=exam.name,
        build=f"{build.config.name} {build.config.version}",
        rule=exam.record["rule"],
        questions=tuple(Question(one.image, one.class_ids, _origin(one.origin)) for one in asked),
        sheets=sheets,
        n_classes=len(build.classes),
        models=tuple(ModelRight(*row) for row in exam.record["models"]),
        chosen_by_models=exam.record["chosen_by_models"],
        settings={key: exam.record[key] for key in ("n", "hardest", "balanced", "revision", "seed")} | {"made": exam.time},
    )


def _origin(text: str) -> Any:
    return "original" if text == "original" else "new"


def _named(found: list[Exam], name: str | None) -> Exam:
    known = ", ".join(one.name for one in found)
    if not found:
        raise UsageError("no exam yet", where=WHERE, fix="Make one: `resit build exam … make`.")
    if name is None and len(found) > 1:
        raise UsageError("several exams", where=WHERE, fix=f"Say which by --name: {known}.")
    wanted = [one for one in found if name in (None, one.name)]
    if not wanted:
        raise UsageError(f"no exam {name}", where=WHERE, fix=f"There are {known}.")
    return wanted[0]


def _seen(build: Build, images: set[str]) -> Counter[str]:
    """On how many of some images each person voted or decided."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(sorted(images), pa.string())
    votes, verdicts = build.store.votes(accepted=False), build.store.verdicts()
    pairs = set()
    for rows, column in ((votes, "image"), (verdicts, "image"), (verdicts, "other")):
        known = rows.filter(pc.is_in(rows[column], value_set=wanted))
        pairs |= set(zip(known["person"].to_pylist(), known[column].to_pylist(), strict=True))
    return Counter(person for person, _ in pairs)
