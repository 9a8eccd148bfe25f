"""Which searches are made in which stage: a class is searched more widely only while it is short of candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from resit.build.collect.found import Dates, Query
from resit.build.collect.terms import ClassTerms
from resit.errors import UsageError

STAGES = ("synonyms", "parent", "more", "longer", "compound", "other")
ALL = "all"  # the one stage of sources without searches


@dataclass(frozen=True)
class Search:
    """How candidates are searched for.

    Parameters
    ----------
    uploaded, taken : tuple of str
        First and last day (ISO 8601), both included, in UTC.
    limit : int
        Results of a query.
    more : int
        Results of a query from the stage ``more`` on.
    longer : tuple of str
        First and last day, for taken and uploaded alike, from the stage ``longer`` on; empty: no such stage.
    wanted : int
        Candidates of a class; a class with fewer is short. 0: none is.

    Raises
    ------
    UsageError
        If a date is none, dates are the wrong way round, or a number is too small.
    """

    uploaded: Dates = ("", "")
    taken: Dates = ("", "")
    limit: int = 200
    more: int = 1000
    longer: Dates = ("", "")
    wanted: int = 0

    def __post_init__(self) -> None:
        for name in ("uploaded", "taken", "longer"):
            _check_dates(name, getattr(self, name))
        if self.limit < 1 or self.wanted < 0:
            what = f"limit {self.limit} and wanted {self.wanted}"
            raise UsageError(what, where="search", fix="The limit of a query is at least 1, what is wanted at least 0.")


def _check_dates(name: str, dates: Dates) -> None:
    days = []
    for text in filter(None, dates):
        try:
            days.append(date.fromisoformat(text))
        except ValueError as error:
            raise UsageError(f"{text!r} is no date", where=name, fix="Write it as 2013-07-11.") from error
    if days != sorted(days):
        raise UsageError(f"from {dates[0]} to {dates[1]}", where=name, fix="Write the earlier day first.")


def stage_queries(stage: str, classes: Sequence[ClassTerms], search: Search) -> list[Query]:
    """The queries of one stage, class by class.

    Parameters
    ----------
    stage : str
        ``synonyms``; ``parent``, a synonym and a parent; ``more`` results of the synonyms; ``longer`` dates; ``compound`` and
        ``other``, whole queries as the terms have them; or ``all``.
    classes : sequence of ClassTerms
        Those that are short.
    search : Search

    Returns
    -------
    list of Query
        Empty where the stage adds nothing.

    Notes
    -----
    The order of the stages and what they do follow Recht et al. (2019), Do ImageNet Classifiers Generalize to ImageNet?,
    Appendix C.1. From ``more`` on each stage keeps what the stages before it widened.
    """
    return [query for terms in classes for query in _queries(stage, terms, search)]


def _queries(stage: str, terms: ClassTerms, search: Search) -> Iterator[Query]:
    if stage == ALL:
        yield Query(terms.class_id, terms.synonyms[0] if terms.synonyms else "", ALL)
        return
    order = STAGES.index(stage)
    plain = Query(terms.class_id, "", stage, search.limit, search.uploaded, search.taken)
    if order >= STAGES.index("more"):
        plain = replace(plain, limit=max(search.limit, search.more))
    if order >= STAGES.index("longer") and any(search.longer):
        plain = replace(plain, uploaded=search.longer, taken=search.longer)
    for text in _texts(stage, terms, search):
        yield replace(plain, text=text)


def _texts(stage: str, terms: ClassTerms, search: Search) -> list[str]:
    if stage == "parent":
        return [f"{synonym} {parent}" for synonym in terms.synonyms for parent in terms.parents]
    if stage in ("compound", "other"):
        return list(terms.compounds if stage == "compound" else terms.others)
    if (stage == "more" and search.more <= search.limit) or (stage == "longer" and not any(search.longer)):
        return []
    return list(terms.synonyms)
