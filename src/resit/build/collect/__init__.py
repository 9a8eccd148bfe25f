"""Candidates: from folders, tables, Parquet files and searches, politely downloaded, each with where it came from."""

from resit.build.collect.class_rules import ClassRules, read_class_map
from resit.build.collect.download import Downloader
from resit.build.collect.found import Found, Lost, Query, Source
from resit.build.collect.polite import Manners
from resit.build.collect.record import Collected
from resit.build.collect.run import collect
from resit.build.collect.sources import open_source
from resit.build.collect.terms import ClassTerms, class_terms
from resit.build.collect.widening import Search

__all__ = [
    "ClassRules",
    "ClassTerms",
    "Collected",
    "Downloader",
    "Found",
    "Lost",
    "Manners",
    "Query",
    "Search",
    "Source",
    "class_terms",
    "collect",
    "open_source",
    "read_class_map",
]
