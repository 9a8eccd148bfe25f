"""The store: all that is put into a build and read from it. Each call is one transaction: all of it happens, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from resit.store import images, pairs, selections, votes
from resit.store.faults import faults
from resit.store.opening import WRITES
from resit.store.records import Added, Note, Revision, Selection
from resit.store.schemas import STATUSES, table

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy import Connection, Engine


class Store:
    """The events of a build. :func:`resit.store.open_store` makes one.

    What is added stays: a call with the same rows again changes nothing and counts them as known, so that each step can be
    repeated after an interruption. Every method raises InputError where rows do not fit or contradict what is stored, and
    OutputError where the database is locked, full or read-only; then nothing of the call is stored. Every time is text in
    ISO 8601, UTC, given by the caller, and comes back with Z at its end.

    Parameters
    ----------
    engine : sqlalchemy.Engine
    where : str
        The file or address, without password.
    """

    def __init__(self, engine: Engine, where: str) -> None:
        self.engine = engine
        self._writing = engine.execution_options(**{WRITES: True})
        self.where = where

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.where!r})"

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that reads one state of the database, whatever others write meanwhile."""
        with faults(self.where), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes; one at a time, the others wait."""
        with faults(self.where), self._writing.begin() as connection:
            yield connection

    def add_images(self, table: pa.Table) -> Added:
        """Add candidates and originals.

        Parameters
        ----------
        table : pyarrow.Table
            Of the schema IMAGES. Where image, class and role are known, the row that is stored stays as it is.
        """
        with self.writing() as connection:
            return images.add_images(connection, table, self.where)

    def images(self, role: Literal["candidate", "original"] | None = None) -> pa.Table:
        """Images of a role or all, of the schema IMAGES, ordered by class, image and role."""
        with self.reading() as connection:
            return images.images(connection, role)

    def add_tasks(self, table: pa.Table) -> Added:
        """Add tasks, of the schema TASKS. A task and position that holds another image, class or role is refused."""
        with self.writing() as connection:
            return images.add_tasks(connection, table, self.where)

    def tasks(self) -> pa.Table:
        """All tasks, of the schema TASKS, ordered by task and position."""
        with self.reading() as connection:
            return images.tasks(connection)

    def add_votes(self, table: pa.Table) -> Added:
        """Add votes.

        The key is assignment, class and image. The same vote again is known, whatever its time: the first time stays. One with
        another selection, role or person is refused, and so are votes on images that are not in the store.

        Parameters
        ----------
        table : pyarrow.Table
            Of the schema VOTES.
        """
        with self.writing() as connection:
            return votes.add_votes(connection, table, self.where)

    def votes(self, *, accepted: bool = True) -> pa.Table:
        """Votes of accepted assignments or of all, of the schema VOTES, ordered by assignment, class and image."""
        with self.reading() as connection:
            return votes.votes(connection, accepted)

    def set_assignment(
        self, assignment: str, status: Literal["accepted", "rejected"], *, person: str, reason: str, time: str
    ) -> Added:
        """Accept or reject an assignment. The status added last counts; without one it is accepted.

        Parameters
        ----------
        assignment : str
        status : {'accepted', 'rejected'}
        person : str
            Who decides.
        reason : str
        time : str
        """
        row = {"assignment": assignment, "status": status, "person": person, "reason": reason, "time": time}
        return self.set_assignments(table(STATUSES, {name: [value] for name, value in row.items()}))

    def set_assignments(self, table: pa.Table) -> Added:
        """Accept and reject many assignments at once.

        Parameters
        ----------
        table : pyarrow.Table
            Of the schema STATUSES. A row that is stored already, its time included, is known and does not count as the last.
        """
        with self.writing() as connection:
            return votes.add_statuses(connection, table, self.where)

    def assignments(self) -> pa.Table:
        """All assignments with their number of votes and last status, of the schema ASSIGNMENTS, in order."""
        with self.reading() as connection:
            return votes.assignments(connection)

    def add_counts(self, table: pa.Table) -> Added:
        """Add aggregates whose votes are not known one by one, of the schema COUNTS. Others for the same key are refused."""
        with self.writing() as connection:
            return votes.add_counts(connection, table, self.where)

    def counts(self, role: Literal["candidate", "positive", "negative"] | None = None) -> pa.Table:
        """How often each image was selected and shown for each class, of the schema COUNTS, ordered by class and image.

        Parameters
        ----------
        role : str, optional
            Of the image in the task. Default: all roles, and what :meth:`add_counts` added, which has no role.
        """
        with self.reading() as connection:
            return votes.counts(connection, role)

    def add_pairs(self, table: pa.Table) -> Added:
        """Add near neighbours, of the schema PAIRS. Computed again, a pair's figures are replaced."""
        with self.writing() as connection:
            return pairs.add_pairs(connection, table, self.where)

    def pairs(self, metric: str | None = None, *, within: float | None = None) -> pa.Table:
        """Pairs of a metric or all, of the schema PAIRS, ordered by metric, image, rank, reference and neighbour.

        Parameters
        ----------
        metric : str, optional
        within : float, optional
            Only pairs up to this distance, and the nearest neighbour of each image at whatever distance.
        """
        with self.reading() as connection:
            return pairs.pairs(connection, metric, within)

    def references(self) -> pa.Array:
        """Ids of the images of reference sets that are a neighbour of a candidate, in no particular order."""
        with self.reading() as connection:
            return pairs.references(connection)

    def add_verdicts(self, table: pa.Table) -> Added:
        """Add verdicts of people, of the schema VERDICTS. One that is stored already, its time included, is known."""
        with self.writing() as connection:
            return pairs.add_verdicts(connection, table, self.where)

    def verdicts(self) -> pa.Table:
        """All verdicts in the order in which they were added, of the schema VERDICTS."""
        with self.reading() as connection:
            return pairs.verdicts(connection)

    def add_selection(self, record: dict[str, Any], selected: pa.Table, excluded: pa.Table, *, parent: int | None) -> int:
        """Add a selection as the next revision. Two processes that sample at once get two numbers.

        Parameters
        ----------
        record : dict
            What the sampling step tells of itself; its ``time``, if there is one, is the time of the event.
        selected, excluded : pyarrow.Table
            Of the schemas SELECTED and EXCLUDED.
        parent : int or None
            The revision that it went on from.

        Returns
        -------
        int
            The number of the revision, from 1.
        """
        with self.writing() as connection:
            return selections.add_selection(connection, record, selected, excluded, parent, self.where)

    def selection(self, revision: int | None = None) -> Selection:
        """One revision; without a number the last."""
        with self.reading() as connection:
            return selections.selection(connection, revision, self.where)

    def revisions(self) -> list[Revision]:
        """All revisions without their images, first to last."""
        with self.reading() as connection:
            return selections.revisions(connection)

    def note(self, step: str, record: dict[str, Any], time: str) -> None:
        """Log a step that was done."""
        with self.writing() as connection:
            selections.add_note(connection, step, record, time, self.where)

    def notes(self) -> list[Note]:
        """The log of steps, in order."""
        with self.reading() as connection:
            return selections.notes(connection)

    def last_time(self) -> str | None:
        """Time of the last vote, decision on an assignment, verdict or selection. Notes do not count: a release is no event."""
        with self.reading() as connection:
            return selections.last_time(connection)
