"""A split of a data set on the Hugging Face hub, or of one that its library stored in a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.guard import reading
from resit.data.image_sources.huggingface import DatasetImages, import_datasets, open_dataset
from resit.data.layouts.found import Found, benchmark_of
from resit.data.layouts.libraries import HF, split_options
from resit.data.layouts.request import Request
from resit.data.layouts.tabular import image_columns, label_column, sheet_of
from resit.data.paths import short_list
from resit.data.tables import Table
from resit.errors import InputError, Notice

PLACE = re.compile(r"hf:([^:@?]+)(?::([^@?]+))?(?:@([^?]+))?")


def read(place: str, request: Request) -> Benchmark:
    """Read ``hf:ID[:CONFIG][@SPLIT][?revision=…]``, such as ``hf:uoft-cs/cifar10:plain_text@test``.

    Parameters
    ----------
    place : str
        The id is that of the hub, or a folder. Without a split, the only one is taken.
    request : Request

    Raises
    ------
    InputError
        If it cannot be loaded, has several splits and none was chosen, or has no images or labels.
    """
    head, options = split_options(place)
    match = PLACE.fullmatch(head)
    if match is None or not set(options) <= {"revision"}:
        raise InputError("no such place", where=place, fix="Write hf:ID, hf:ID:CONFIG or hf:ID:CONFIG@SPLIT (?revision=…).")
    source, config, split = match[1], match[2], match[3]
    revision = None if options.get("revision") is None else str(options["revision"])
    notices: list[Notice] = []
    if split is None:
        split = _only_split(source, config, revision, place, notices)
    rows = open_dataset(source, config, split, revision)
    with reading(place):
        rows = rows.with_format(None)
        schema = rows.features.arrow_schema
    image = request.image_column or _image_column(rows, schema, place)
    images = DatasetImages(source, config, split, image, revision, opened=rows)
    table = _table(rows, image, place)
    listed = {name: _classes(rows.features[name]) for name in table.columns}
    label = label_column(table.columns, request, [name for name, classes in listed.items() if classes], place)
    found = Found(
        place,
        images,
        sheet_of(table, request, label, notices),
        listed=listed.get(label or "", ()),
        notices=notices,
        name=f"{Path(source).name}-{split}",
    )
    return benchmark_of(found, request)


def _only_split(source: str, config: str | None, revision: str | None, place: str, notices: list[Notice]) -> str:
    library = import_datasets()
    try:
        with reading(f"{HF}{source}"):
            if (Path(source) / "dataset_dict.json").is_file():
                splits = list(library.load_from_disk(source))
            elif (Path(source) / "state.json").is_file():
                return "all"
            else:
                splits = list(library.get_dataset_split_names(source, config, revision=revision))
    except InputError:
        raise
    except Exception as error:  # the library has many errors of its own
        raise InputError(f"cannot be loaded: {error}", where=place, fix="Check its id and the network.") from error
    if len(splits) != 1:
        raise InputError(
            f"{len(splits)} splits: {short_list(splits)}",
            where=place,
            fix=f"Choose one: hf:{source}@{(splits or ['test'])[-1]}",
        )
    notices.append(Notice("only-split", place, f"The only split, {splits[0]}, was taken."))
    return str(splits[0])


def _image_column(rows: Any, schema: Any, place: str) -> str:
    typed = [name for name, feature in rows.features.items() if type(feature).__name__ == "Image"]
    found = typed or image_columns(schema)
    if len(found) != 1:
        what = f"{len(found)} columns of images: {short_list(found)}" if found else "no column of images"
        raise InputError(
            f"{what}; the columns are {', '.join(rows.column_names)}",
            where=place,
            fix="Name the column of images: image_column=….",
        )
    return found[0]


def _classes(feature: Any) -> list[ClassInfo]:
    inner = getattr(feature, "feature", None)
    names = getattr(feature, "names", None) or (getattr(inner, "names", None) if inner is not None else None)
    return [ClassInfo(name, name) for name in names or []]


def _table(rows: Any, image: str, place: str) -> Table:
    """All columns but that of images."""
    others = [name for name in rows.column_names if name != image]
    with reading(place):
        import pyarrow as pa

        data = rows.select_columns(others).with_format("arrow")[:] if others else pa.table({})
    return Table(place, data.replace_schema_metadata(None), {})
