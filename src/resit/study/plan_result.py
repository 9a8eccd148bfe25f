"""The records of plans. Accuracies, frequencies and differences are fractions; shifts are new minus original."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from resit.data.paths import counted


@dataclass(frozen=True, slots=True)
class Planned:
    """What all plans have: to be read as text, and as JSON."""

    def to_json(self) -> str:
        """The plan as JSON."""
        return json.dumps(asdict(self), indent=2) + "\n"


@dataclass(frozen=True, slots=True)
class Width:
    """Exact interval of one accuracy with n examples."""

    n: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Plan(Planned):
    """Examples needed to tell two models apart, and what a number of examples tells of one accuracy.

    ``discordance`` is the fraction of examples that exactly one of the two models gets right. ``exact_power`` is the power of
    the exact McNemar test with ``n`` examples.
    """

    accuracy: float
    difference: float
    discordance: float
    discordance_source: str
    power: float
    level: float
    n: int
    exact_power: float
    widths: tuple[Width, ...]

    def __str__(self) -> str:
        rows = [
            f"  {w.n:>7,}   [{100 * w.low:5.2f}, {100 * w.high:5.2f}]   ±{50 * (w.high - w.low):.2f} points"
            for w in self.widths
        ]
        return "\n".join(
            [
                f"{self.n:,} examples tell two models of accuracy around {100 * self.accuracy:g} % apart, "
                f"if they differ by {_points(self.difference, 'percentage point')}",
                f"  paired test, level {self.level:g}, power {self.power:g} wanted; "
                f"the exact McNemar test has {self.exact_power:.3f}",
                f"  discordance {self.discordance:.4f} ({self.discordance_source})",
                "",
                f"Exact {100 * self.level:g} % interval of one accuracy of {100 * self.accuracy:g} %:",
                *rows,
            ]
        )


@dataclass(frozen=True, slots=True)
class Pools:
    """True frequencies of original images and of candidates, each a mixture of betas: shapes a and b, and weight."""

    original: tuple[tuple[float, float, float], ...]
    candidates: tuple[tuple[float, float, float], ...]
    source: str

    def __str__(self) -> str:
        names = ("original", self.original), ("candidates", self.candidates)
        shown = "; ".join(f"{name} {_betas(mixture)}" for name, mixture in names)
        return f"true frequencies: {shown} ({self.source})"


def _points(fraction: float, one: str = "point") -> str:
    """A difference of accuracies in points, with as many digits as it was given."""
    shown = f"{100 * fraction:g}"
    return f"{shown} {one}" if shown == "1" else f"{shown} {one}s"


def _betas(mixture: tuple[tuple[float, float, float], ...]) -> str:
    if len(mixture) == 1:
        return f"Beta({mixture[0][0]:.3g}, {mixture[0][1]:.3g})"
    return " + ".join(f"{weight:.2f} Beta({a:.3g}, {b:.3g})" for a, b, weight in mixture)


@dataclass(frozen=True, slots=True)
class VotesRow:
    """What matching on so many votes an image leaves; ``votes`` is None for unlimited votes."""

    votes: int | None
    new_frequency: float
    frequency_shift: float
    new_accuracy: float
    accuracy_shift: float


@dataclass(frozen=True, slots=True)
class VotesPlan(Planned):
    """How many votes an image needs until matching on them leaves little bias.

    ``votes`` is the smallest multiple of five whose shift of accuracy is at most ``bias``, up to ``most``; None where there is
    none. ``curve`` has true frequencies and the accuracy of models at each.
    """

    votes: int | None
    bias: float
    most: int
    original_frequency: float
    original_accuracy: float
    rows: tuple[VotesRow, ...]
    limit: VotesRow
    pools: Pools
    curve: tuple[tuple[float, float], ...]
    curve_source: str

    def __str__(self) -> str:
        wanted = f"{_points(self.bias)} of accuracy"
        left = 100 * abs(self.limit.accuracy_shift)
        head = f"no number of votes up to {self.most:,} leaves at most {wanted}; unlimited votes leave {left:.2f}"
        if self.votes is not None:
            head = f"{self.votes:,} votes an image leave a bias of at most {wanted}"
        rows = [
            f"  {'unlimited' if row.votes is None else row.votes:>9}   "
            f"{row.frequency_shift:+.4f}   {100 * row.accuracy_shift:+6.2f} points"
            for row in (*self.rows, self.limit)
        ]
        return "\n".join(
            [
                head,
                f"  {self.pools}",
                f"  accuracy by frequency: {self.curve_source}",
                "",
                "A set matched on observed frequency in five bins, minus the original, by votes:",
                "      votes   frequency   accuracy",
                *rows,
            ]
        )


@dataclass(frozen=True, slots=True)
class ImagesRow:
    """One number of images a class: width of a class's interval, and candidates of a class, half of classes and sure."""

    per_class: int
    width: float
    candidates_half: int | None
    candidates_sure: int | None


@dataclass(frozen=True, slots=True)
class ImagesPlan(Planned):
    """How many images of each class, and how many candidates these take with matched frequencies.

    ``per_class`` is the smallest number whose exact interval of a class's accuracy has an expected width of at most ``width``.
    ``candidates`` is the row of that number. Candidates are eligible ones with ``votes`` votes; they fill all bins of a class
    with chance ``sure``, None where a bin is wanted that the pool does not have.
    """

    per_class: int
    width: float
    level: float
    accuracy: float
    accuracy_source: str
    candidates: ImagesRow
    rows: tuple[ImagesRow, ...]
    votes: int
    originals: int
    sure: float
    classes_simulated: int
    seed: int
    pools: Pools

    def __str__(self) -> str:
        half = f"{100 * self.sure:g} %"
        heading = f"  {'images':>8}   {'width, points':>13}   {'half of classes':>15}   {half + ' of classes':>15}"
        return "\n".join(
            [
                f"{self.per_class:,} images a class make the {100 * self.level:g} % interval of a class's accuracy "
                f"{_points(self.width)} wide on average",
                f"  accuracy {self.accuracy:.4f} ({self.accuracy_source})",
                f"and with matched frequencies {_many(self.candidates.candidates_sure)} eligible candidates of a class "
                f"fill all bins in {half} of classes",
                f"  {self.votes} votes an image, {self.originals} original images a class; {self.pools}",
                "",
                "By images a class: width of a class's interval, and candidates that fill all bins:",
                heading,
                *(
                    f"  {row.per_class:>8,}   {100 * row.width:>13.1f}   {_many(row.candidates_half):>15}   "
                    f"{_many(row.candidates_sure):>15}"
                    for row in self.rows
                ),
            ]
        )


def _many(count: int | None) -> str:
    return "no number" if count is None else f"{count:,}"


@dataclass(frozen=True, slots=True)
class ModelsRow:
    """One number of models: the interval in which the slope will lie, and its width (None where sets often have no line)."""

    models: int
    low: float
    high: float
    width: float | None


@dataclass(frozen=True, slots=True)
class ModelsPlan(Planned):
    """How many models give an interval of the slope of a given width.

    ``models`` is about the smallest number whose interval (over models) is at most ``width`` wide; None where more than
    ``most`` are needed. ``scatter`` is the root mean square of residuals from the line as planned, sampling noise included.
    The noise shares say how much of the sampling noise of an accuracy a model does not share with the others.
    """

    models: int | None
    width: float
    most: int
    level: float
    slope: float
    scatter: float
    lowest: float
    highest: float
    n: int
    new_n: int
    noise_share: float
    new_noise_share: float
    rows: tuple[ModelsRow, ...]
    observed_models: int | None
    source: str
    resamples: int
    seed: int

    def __str__(self) -> str:
        wide = f"a {100 * self.level:g} % interval of the slope that is {self.width:g} wide"
        head = f"about {self.models:,} models give {wide}" if self.models else f"more than {self.most:,} models for {wide}"
        return "\n".join(
            [
                head,
                f"  {self.source}: accuracies {100 * self.lowest:.1f} to {100 * self.highest:.1f} %, slope {self.slope:.3f}, "
                f"scatter around the line {100 * self.scatter:.2f} points",
                f"  {self.n:,} original and {self.new_n:,} new examples; of their noise a model has "
                f"{self.noise_share:.2f} and {self.new_noise_share:.2f} for itself",
                "",
                "Interval of the slope, over models, by their number:",
                *(
                    f"  {row.models:>7,}   [{row.low:.3f}, {row.high:.3f}]   "
                    + ("no line in many sets" if row.width is None else f"width {row.width:.3f}")
                    for row in self.rows
                ),
            ]
        )


@dataclass(frozen=True, slots=True)
class SwapRow:
    """One number of examples on either set: chance that the order is significant on the original, on the new set, on both."""

    n: int
    original: float
    new: float
    both: float


HEAD = f"  {'examples':>9}   {'original':>8}   {'new':>8}   {'both':>8}"


@dataclass(frozen=True, slots=True)
class SwapPlan(Planned):
    """The chance to see that two models truly change places.

    A swap counts if both orders are significant: the larger of two exact McNemar p-values, after Holm's correction over all
    ``pairs``, is at most 1 - ``level``. Of these, ``clear`` are significant on both sets anyway and go first, so each p of the
    swap must be at most ``threshold``, (1 - ``level``) / (``pairs`` - ``clear``). ``chance`` is for ``n`` and
    ``new_n`` examples. ``n_both`` is what both sets need for ``power``; ``new_n_needed`` what the new one needs beside ``n``,
    None where no number is enough.
    """

    difference: float
    new_difference: float
    discordance: float
    new_discordance: float
    discordance_source: str
    models: int
    pairs: int
    clear: int
    threshold: float
    power: float
    level: float
    n: int | None
    new_n: int | None
    chance: SwapRow | None
    n_both: int | None
    new_n_needed: int | None
    rows: tuple[SwapRow, ...]

    def __str__(self) -> str:
        first = _need(self.n_both, f"examples on each set show the swap with power {self.power:g}")
        lines = [
            first,
            f"  the first model is {_points(self.difference)} better on the original, "
            f"{100 * self.new_difference:g} worse on the new set",
            f"  discordance {self.discordance:.4f} and {self.new_discordance:.4f} ({self.discordance_source})",
            f"  {counted(self.pairs, 'pair')} of {self.models:,} models, {self.clear:,} of them clear on both sets: "
            f"each p at most {self.threshold:.3g}",
        ]
        if self.n is not None and self.chance is None:
            lines.append(
                _need(self.new_n_needed, f"new examples show it with power {self.power:g} beside {self.n:,} original ones")
            )
        if self.n is not None and self.new_n is not None and self.chance is not None:
            lines.append(
                f"with {self.n:,} original and {self.new_n:,} new examples the chance is {self.chance.both:.3f}: "
                f"{self.chance.original:.3f} for the order on the original, {self.chance.new:.3f} on the new set"
            )
            lines.append(_need(self.new_n_needed, f"new examples beside {self.n:,} original ones give power {self.power:g}"))
        rows = [f"  {row.n:>9,}   {row.original:>8.3f}   {row.new:>8.3f}   {row.both:>8.3f}" for row in self.rows]
        return "\n".join([*lines, "", "Examples on each set, and chance of a significant order:", HEAD, *rows])


def _need(count: int | None, what: str) -> str:
    return f"no number of {what}" if count is None else f"{count:,} {what}"


AnyPlan = Plan | VotesPlan | ImagesPlan | ModelsPlan | SwapPlan
