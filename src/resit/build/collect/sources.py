"""A source by its name: ``folder:photos``, ``csv:list.csv``, ``parquet:``, ``hf:``, ``flickr:``, ``openverse:``."""

from __future__ import annotations

from glob import has_magic
from pathlib import Path

from resit.build.collect.class_rules import ClassRules
from resit.build.collect.download import Downloader
from resit.build.collect.flickr import FlickrSource
from resit.build.collect.found import Source
from resit.build.collect.local import BenchmarkSource
from resit.build.collect.openverse import OpenverseSource
from resit.build.collect.table import TableSource
from resit.data.layouts.parquet import parquet_files
from resit.data.layouts.tabular import image_columns, schema_of
from resit.data.load_benchmark import load_benchmark
from resit.data.tables import PARQUET_SUFFIXES, PLAIN_SUFFIXES
from resit.errors import UsageError

KINDS = ("folder", "csv", "parquet", "hf", "flickr", "openverse")
SEARCHES = ("flickr", "openverse")


def open_source(text: str, rules: ClassRules, downloader: Downloader | None = None) -> Source:
    """A source of candidates by its name.

    Parameters
    ----------
    text : str
        ``folder:PATH``, a folder of class folders; ``csv:PATH`` or ``parquet:PATH``, a table of paths or addresses;
        ``parquet:PATH`` or ``hf:PATH``, Parquet files with images in them; ``hf:ID@SPLIT``, a data set of Hugging Face;
        ``flickr:`` or ``openverse:``, a search. A path without a kind is looked at.
    rules : ClassRules
        Which class its labels mean; searches have no labels.
    downloader : Downloader, optional
        Needed by searches.

    Raises
    ------
    InputError
        If it cannot be read.
    UsageError
        If there is no such kind or path, or a search has no downloader or key.
    """
    kind, colon, place = text.partition(":")
    if not colon or kind not in KINDS:
        kind, place = _kind_of(text), text
    if kind in SEARCHES:
        if downloader is None:
            raise UsageError("a search without a downloader", where=text, fix="Give one: downloader=….")
        return FlickrSource(downloader) if kind == "flickr" else OpenverseSource(downloader)
    if not place:
        raise UsageError("a source without a path", where=text, fix=f"Write {kind}: and the path.")
    if kind == "csv" or (kind == "parquet" and not image_columns(schema_of(Path(parquet_files(place)[0][0])))):
        return TableSource(place, rules)
    if kind == "hf" and not (Path(place).exists() or has_magic(place)):
        return BenchmarkSource(load_benchmark(text), rules, kind)
    return BenchmarkSource(load_benchmark(place), rules, kind)


def _kind_of(text: str) -> str:
    path = Path(text)
    if path.suffix.lower() in PLAIN_SUFFIXES:
        return "csv"
    if path.suffix.lower() in PARQUET_SUFFIXES:
        return "parquet"
    if not path.exists():
        fix = f"Check the path, or write one of {', '.join(f'{kind}:' for kind in KINDS)} before it."
        raise UsageError("no such file or folder, and no known kind of source", where=text, fix=fix)
    return "folder"
