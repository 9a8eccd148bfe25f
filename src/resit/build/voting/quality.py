"""How well people answer: each one's accuracy on controls, agreement, and what is probably true if people err."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.voting.answers import REJECTED
from resit.errors import UsageError
from resit.stats.dawid_skene import dawid_skene
from resit.stats.intervals import clopper_pearson
from resit.stats.krippendorff import Agreement, agreement
from resit.store.schemas import STATUSES, table

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[np.int64]
PEOPLE = {
    "person": "string",
    "assignments": "int64",
    "votes": "int64",
    "positive_right": "int64",  # positive controls that were selected
    "positive_shown": "int64",
    "negative_right": "int64",  # negative controls that were not
    "negative_shown": "int64",
    "accuracy": "double",  # right of all controls; null where the person saw none
    "low": "double",  # Clopper-Pearson
    "high": "double",
}
CONSENSUS = {
    "image": "string",
    "class_id": "string",
    "selected": "int64",
    "shown": "int64",
    "probability": "double",  # that the image shows the class
}
ERRORS = {
    "person": "string",
    "votes": "int64",
    "sensitivity": "double",  # selects an image that shows the class; null where no image that the person saw does
    "specificity": "double",  # leaves out one that does not
}


@dataclass(frozen=True)
class AgreementByClass:
    """Agreement on candidates, over all and in each class."""

    overall: Agreement
    classes: dict[str, Agreement]

    def __str__(self) -> str:
        return str(self.overall)


@dataclass(frozen=True)
class Consensus:
    """What is probably true of each candidate when people err, by Dawid and Skene.

    Parameters
    ----------
    images : pyarrow.Table
        CONSENSUS, ordered by class and image.
    people : pyarrow.Table
        ERRORS, ordered by person.
    prevalence : float
        Share of candidates that show their class.
    iterations : int
    converged : bool
    """

    images: pa.Table
    people: pa.Table
    prevalence: float
    iterations: int
    converged: bool


def control_accuracy(votes: pa.Table, level: float = 0.95) -> pa.Table:
    """Each person's accuracy on controls, over all votes that are given.

    A positive control is right if it was selected, a negative one if it was not. Originals are not all shown by everybody's
    standard: in practice good people select fewer than all of them.

    Parameters
    ----------
    votes : pyarrow.Table
        VOTES.
    level : float, optional

    Returns
    -------
    pyarrow.Table
        PEOPLE, ordered by person.
    """
    import pyarrow as pa

    person, names = _numbered(votes, ["person"])
    roles, selected = votes["role"].to_numpy(zero_copy_only=False), votes["selected"].to_numpy(zero_copy_only=False)
    people = names["person"].to_pylist()

    def count(rows: npt.NDArray[np.bool_]) -> Ints:
        return np.bincount(person[rows], minlength=len(people)).astype(np.int64)

    positive, negative = roles == "positive", roles == "negative"
    columns: dict[str, object] = {
        "person": people,
        "assignments": _assignments(votes, person, len(people)),
        "votes": count(np.ones(len(person), bool)),
        "positive_right": (up := count(positive & selected)),
        "positive_shown": (all_up := count(positive)),
        "negative_right": (down := count(negative & ~selected)),
        "negative_shown": (all_down := count(negative)),
    }
    found = clopper_pearson(up + down, all_up + all_down, level)
    for name, values in (("accuracy", found.estimate), ("low", found.low), ("high", found.high)):
        columns[name] = pa.array(values, mask=all_up + all_down == 0)
    return table(PEOPLE, columns)


def reject_below(votes: pa.Table, accuracy: float, *, person: str, time: str, fewest: int = 12) -> pa.Table:
    """Rejections of all assignments of people whose accuracy on controls is too low.

    Parameters
    ----------
    votes : pyarrow.Table
        VOTES of accepted assignments.
    accuracy : float
        From 0 to 1; people below it are rejected.
    person : str
        Who decides.
    time : str
        ISO 8601, UTC.
    fewest : int, optional
        Controls that a person must have been shown to be judged.

    Returns
    -------
    pyarrow.Table
        STATUSES, for `Store.set_assignments`, ordered by assignment.

    Raises
    ------
    UsageError
        If the accuracy is not from 0 to 1.
    """
    if not 0 <= accuracy <= 1:
        raise UsageError(f"{accuracy} is no accuracy", where="reject_below", fix="Give one from 0 to 1, such as 0.8.")
    found = control_accuracy(votes).to_pylist()
    bad = {
        row["person"]: f"{row['accuracy']:.1%} right of {shown} controls, below {accuracy:.1%}"
        for row in found
        if (shown := row["positive_shown"] + row["negative_shown"]) >= max(fewest, 1) and row["accuracy"] < accuracy
    }
    whose = votes.group_by(["assignment", "person"]).aggregate([]).sort_by("assignment").to_pylist()
    rows = [(row["assignment"], REJECTED, person, bad[row["person"]], time) for row in whose if row["person"] in bad]
    columns: dict[str, object] = {name: [row[at] for row in rows] for at, name in enumerate(STATUSES)}
    return table(STATUSES, columns)


def agreement_of(votes: pa.Table, *, level: float = 0.95, resamples: int = 1_000, seed: int = 0) -> AgreementByClass:
    """Raw agreement and Krippendorff's alpha of people on candidates; a unit is an image for a class.

    Parameters
    ----------
    votes : pyarrow.Table
        VOTES of accepted assignments.
    level, resamples, seed
        As :func:`resit.stats.krippendorff.agreement`.

    Returns
    -------
    AgreementByClass
    """
    votes = _candidates(votes)
    unit, names = _numbered(votes, ["class_id", "image"])
    counts = _counts(unit, votes, names.num_rows)

    def of(rows: Ints) -> Agreement:
        return agreement(rows, level=level, resamples=resamples, seed=seed)

    sizes = names.group_by("class_id").aggregate([("image", "count")]).sort_by("class_id")
    parts = np.split(counts, np.cumsum(sizes["image_count"].to_numpy())[:-1])
    classes = sizes["class_id"].to_pylist()
    return AgreementByClass(of(counts), {name: of(part) for name, part in zip(classes, parts[: len(classes)], strict=True)})


def consensus_of(votes: pa.Table) -> Consensus:
    """What is probably true of each candidate, and how each person errs, by the model of Dawid and Skene.

    One model over all classes: a person errs in the same way in each. Controls take no part; compare a person's sensitivity and
    specificity with `control_accuracy`.

    Parameters
    ----------
    votes : pyarrow.Table
        VOTES of accepted assignments.

    Returns
    -------
    Consensus

    Raises
    ------
    UsageError
        If there are no votes on candidates.

    References
    ----------
    Dawid and Skene (1979), Applied Statistics 28(1), 20-28.
    """
    import pyarrow as pa

    votes = _candidates(votes)
    if not votes.num_rows:
        raise UsageError("no votes on candidates", where="Dawid-Skene", fix="Import votes first.")
    unit, images = _numbered(votes, ["class_id", "image"])
    person, people = _numbered(votes, ["person"])
    found = dawid_skene(unit, person, votes["selected"].to_numpy(zero_copy_only=False).astype(np.int64), answers=2)
    counts = _counts(unit, votes, images.num_rows)
    of_images: dict[str, object] = {
        **{name: images[name] for name in ("image", "class_id")},
        "selected": counts[:, 1],
        "shown": counts.sum(axis=1),
        "probability": found.posterior[:, 1],
    }
    right, wrong = found.confusion[:, 1, 1], found.confusion[:, 0, 0]
    of_people: dict[str, object] = {
        "person": people["person"],
        "votes": np.bincount(person),
        "sensitivity": pa.array(right, mask=np.isnan(right)),
        "specificity": pa.array(wrong, mask=np.isnan(wrong)),
    }
    tables = table(CONSENSUS, of_images), table(ERRORS, of_people)
    return Consensus(*tables, float(found.prevalence[1]), found.iterations, found.converged)


def _candidates(votes: pa.Table) -> pa.Table:
    import pyarrow.compute as pc

    return votes.filter(pc.equal(votes["role"], "candidate"))


def _numbered(votes: pa.Table, columns: list[str]) -> tuple[Ints, pa.Table]:
    """Each row's number among the different values of some columns, which are in order."""
    from resit.build.keys import rows_in

    names = votes.group_by(columns).aggregate([]).sort_by([(name, "ascending") for name in columns])
    return rows_in(votes, names, columns), names


def _counts(unit: Ints, votes: pa.Table, units: int) -> Ints:
    """How often each unit was not selected, and selected."""
    selected = votes["selected"].to_numpy(zero_copy_only=False).astype(np.int64)
    return np.bincount(2 * unit + selected, minlength=2 * units).reshape(units, 2).astype(np.int64)


def _assignments(votes: pa.Table, person: Ints, people: int) -> Ints:
    code = votes["assignment"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    first = np.unique(code, return_index=True)[1]
    return np.bincount(person[first], minlength=people).astype(np.int64)
