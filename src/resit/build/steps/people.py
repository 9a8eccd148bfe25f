"""How well people answer, and taking out the votes of those who do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resit.build.clock import now
from resit.build.steps.opened import Build
from resit.build.voting.qualify import grade, reject_unqualified
from resit.build.voting.quality import AgreementByClass, Consensus, agreement_of, consensus_of, control_accuracy, reject_below
from resit.errors import UsageError
from resit.store.records import Added

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class People:
    """How well people answer.

    Parameters
    ----------
    controls : pyarrow.Table
        Each person's accuracy on controls, as :func:`resit.build.voting.quality.control_accuracy` gives it.
    agreement : AgreementByClass
    consensus : Consensus or None
        By Dawid and Skene, where it was asked for.
    """

    controls: pa.Table
    agreement: AgreementByClass
    consensus: Consensus | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON holds."""
        from dataclasses import asdict

        found = {"people": self.controls.to_pylist(), "agreement": asdict(self.agreement.overall)}
        if self.consensus is not None:
            found |= {"consensus": {"people": self.consensus.people.to_pylist(), "prevalence": self.consensus.prevalence}}
        return found

    def __str__(self) -> str:
        head: tuple[str, ...] = ("person", "tasks", "votes", "positive", "negative", "accuracy")
        errors = {row["person"]: row for row in self.consensus.people.to_pylist()} if self.consensus else {}
        if errors:
            head = (*head, "sensitivity", "specificity")
        rows = [head]
        for row in self.controls.to_pylist():
            shown = row["positive_shown"] + row["negative_shown"]
            accuracy = f"{row['accuracy']:.1%} [{row['low']:.1%}, {row['high']:.1%}]" if shown else "no controls"
            sides = [f"{row[f'{side}_right']} of {row[f'{side}_shown']}" for side in ("positive", "negative")]
            line = (row["person"], f"{row['assignments']:,}", f"{row['votes']:,}", *sides, accuracy)
            found: dict[str, float | None] = errors.get(row["person"], {})
            rows.append((*line, *(_rate(found.get(name)) for name in head[6:])))
        wide = [max(len(row[at]) for row in rows) for at in range(len(head))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, wide, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, str(self.agreement)])


def _rate(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def people(build: Build, *, consensus: bool = False) -> People:
    """How well people answer, by accepted assignments.

    Parameters
    ----------
    build : Build
    consensus : bool, optional
        Whether to fit the model of Dawid and Skene.

    Raises
    ------
    UsageError
        If there are no votes.
    """
    votes = _votes(build)
    return People(
        control_accuracy(votes), agreement_of(votes, seed=build.config.seed), consensus_of(votes) if consensus else None
    )


def reject_people(build: Build, accuracy: float, *, by: str) -> Added:
    """Reject all assignments of people whose accuracy on controls is below some share.

    Raises
    ------
    UsageError
        If there are no votes, or the accuracy is not from 0 to 1.
    """
    return build.store.set_assignments(reject_below(_votes(build), accuracy, person=by, time=now()))


def reject_unfit_people(build: Build, accuracy: float, *, by: str) -> Added:
    """Reject all assignments of people who did not pass the test, or did not take it.

    Raises
    ------
    UsageError
        If there is no test, or the accuracy is not from 0 to 1.
    """
    votes, test = _votes(build), _test(build.store.tasks())
    if not len(test):
        fix = "Make one: `resit build label … test`."
        raise UsageError("no test was given to people", where=build.path, fix=fix)
    # Images of the test may be controls of other tasks too: these answers are no part of it.
    grades = grade(_without_candidates(votes, "assignment"), test, accuracy=accuracy)
    return build.store.set_assignments(reject_unqualified(votes, grades, person=by, time=now()))


def _votes(build: Build) -> pa.Table:
    votes = build.store.votes()
    if not len(votes):
        raise UsageError("no votes yet", where=build.path, fix="Import some: `resit build label … import`.")
    return votes


def _test(tasks: pa.Table) -> pa.Table:
    return _without_candidates(tasks, "task")


def _without_candidates(rows: pa.Table, whole: str) -> pa.Table:
    """Rows of tasks or assignments that have no candidate in them."""
    import pyarrow.compute as pc

    asked = pc.unique(rows[whole].filter(pc.equal(rows["role"], "candidate")))
    return rows.filter(pc.invert(pc.is_in(rows[whole], value_set=asked)))
