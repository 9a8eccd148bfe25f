"""What all requests share: the build, its secret, and the figures that are kept for a while."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resit.build.steps.salt import make_salt, read_salt
from resit.build.steps.status import Status, status
from resit.web.demand import Demands
from resit.web.exam_results import Marked, marked_exams
from resit.web.figures import Figures
from resit.web.jobs import Jobs
from resit.web.kept import Kept
from resit.web.pair_queue import PairQueue
from resit.web.papers import Papers
from resit.web.pictures import Pictures
from resit.web.references import References
from resit.web.review_sets import ReviewSets
from resit.web.runs import Runs
from resit.web.saver import Saver
from resit.web.sessions import Sessions
from resit.web.tasks import Tasks
from resit.web.tries import Tries
from resit.web.turns import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from starlette.requests import Request

    from resit.build.steps.opened import Build
    from resit.web.class_texts import ClassText
    from resit.web.settings import Settings


@dataclass(frozen=True)
class Office:
    """What all requests share; :func:`open_office` makes one.

    Parameters
    ----------
    build : Build
    settings : Settings
    texts : mapping of str to ClassText
        By class id.
    key : bytes
        From which secrets are made that need not be stored.
    writer : Writer
    sessions : Sessions
    tasks : Tasks
    demands : Demands
    saver : Saver
    pictures : Pictures
    figures : Figures
    tries : Tries
    papers : Papers
    reviews : ReviewSets
    jobs : Jobs
    state : Kept of Status
        How far the build is.
    runs : Runs
    similar : path or None
        Table of the similar classes of each, by which pages are planned.
    pairs : PairQueue
    references : References
    marked : Kept of dict
        What came out of the exams, by their names.
    """

    build: Build
    settings: Settings
    texts: Mapping[str, ClassText]
    key: bytes
    writer: Writer
    sessions: Sessions
    tasks: Tasks
    demands: Demands
    saver: Saver
    pictures: Pictures
    figures: Figures
    tries: Tries
    papers: Papers
    reviews: ReviewSets
    jobs: Jobs
    state: Kept[Status]
    runs: Runs
    similar: str | Path | None
    pairs: PairQueue
    references: References
    marked: Kept[dict[str, Marked]]

    def forget(self) -> None:
        """Compute figures anew: something of the build was changed here."""
        self.demands.forget()
        self.figures.forget()
        self.state.forget()

    @property
    def cookie(self) -> str:
        """Name of the cookie of a session: each build has its own, as browsers give cookies to all ports of a host."""
        return f"resit_session_{self.derived('cookie', '')[:8]}"

    def derived(self, purpose: str, text: str) -> str:
        """A secret of its own for each purpose and text, which nobody can guess who does not have the key."""
        return hmac.new(self.key, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()[:32]


def open_office(
    build: Build,
    settings: Settings,
    texts: Mapping[str, ClassText],
    *,
    similar: str | Path | None = None,
    runs: Runs | None = None,
) -> Office:
    """Get all ready for requests.

    Parameters
    ----------
    build : Build
    settings : Settings
    texts : mapping of str to ClassText
    similar : path, optional
    runs : Runs, optional
    """
    make_salt(build.folder)
    key = hmac.new(read_salt(build.folder).encode(), b"web", hashlib.sha256).digest()
    writer = Writer(build.store)
    pairs = PairQueue(build, settings.lease * 60)
    return Office(
        build,
        settings,
        texts,
        key,
        writer,
        Sessions(build.store),
        Tasks(build.store),
        Demands(build.store, build.config.votes.people),
        Saver(writer.writing, settings.lease * 60),
        Pictures(build.folder),
        Figures(build),
        Tries(),
        Papers(build.store),
        ReviewSets(build),
        Jobs(build.store, writer.writing),
        Kept(lambda: status(build)),
        runs or Runs(),
        similar,
        pairs,
        References(build, pairs.references),
        Kept(lambda: marked_exams(build)),
    )


def office(request: Request) -> Office:
    """What the application that got a request shares."""
    found: Office = request.app.state.office
    return found
