"""A test set as people name it: by a path, by the name of a known one, or by a name and a path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.card import Card
from resit.data.class_lists import class_list, part_of, resolve_classes
from resit.data.classes import ClassMap
from resit.data.expect import check_expected
from resit.data.guard import reading
from resit.data.label_spaces import IMAGENET_1K, UNNAMED
from resit.data.paths import counted, default_name, short_list, visible_files, visible_folders, whole_path
from resit.data.read_card import read_card
from resit.data.registry import CARD_SUFFIXES, find_card, folder_of, known_benchmarks, suggestion
from resit.data.relabel import relabel
from resit.errors import InputError, Notice, UsageError

NO_NAMES = {"val", "valid", "validation", "test", "train", "eval", "dev", "images", "data"}
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?!\\)")

OWN_CARD = "benchmark.yaml"  # in the folder of a release
GLOB = re.compile(r"[*?{\[]")


@dataclass(frozen=True)
class Found:
    """What a name or path means.

    Parameters
    ----------
    place : str
        A path or an address, as a layout reader takes it.
    name : str
        Name that was given with it; empty where there was none.
    card : Card or None
        What is known of it.
    folder : Path or None
        The test set's folder, where the card's files are.
    """

    place: str
    name: str = ""
    card: Card | None = None
    folder: Path | None = None


def load_benchmark(
    source: str | Path | Benchmark,
    *,
    name: str | None = None,
    layout: str | None = None,
    classes: str | Path | ClassMap | None = None,
    labels: object = None,
    subset: str | Path | Sequence[str] | None = None,
    data: str | Path | None = None,
    partial: bool = False,
) -> Benchmark:
    """Read a test set.

    Parameters
    ----------
    source : path, str or Benchmark
        A path or an address; ``NAME`` of a known test set whose files are in the data folder; ``NAME=PATH`` for one whose files
        are elsewhere; or the YAML file of a card, or a folder with one called ``benchmark.yaml``. A path that exists goes
        before a name. An unknown NAME is just a name. A benchmark is returned as it is.
    name : str, optional
        Name of the test set. Default: that of the card, else of the folder or file.
    layout : str, optional
        How the files are laid out. Default: as the card says, else found out.
    classes : path, str or ClassMap, optional
        Class list: a file, or ``imagenet-1k`` or another that ships with resit.
    labels : path, array or list, optional
        Accepted labels, in place of those that lie beside the images.
    subset : path, str or sequence of str, optional
        Those classes that answers are taken from: a class list, or ids.
    data : path, optional
        Data folder. Default: ``$RESIT_DATA``, else ``~/.resit/data``.
    partial : bool, optional
        Whether fewer or more examples than the card says are told in a notice, and not an error.

    Returns
    -------
    Benchmark

    Raises
    ------
    InputError
        If the files cannot be read, or are not what the card says.
    UsageError
        If there is no such path or known test set, or a known one is not in the data folder.
    """
    if isinstance(source, Benchmark):
        if any(given is not None for given in (name, layout, classes, labels, subset)):
            raise UsageError(
                "options of reading for a benchmark that was read already", where=source.name, fix="Give the path instead."
            )
        return source
    benchmark = _load(source, name, layout, classes, labels, subset, data, partial)
    plain_read = all(given is None for given in (layout, labels, subset, data)) and not isinstance(classes, ClassMap)
    return replace(benchmark, origin=(_whole(source), _whole(classes or "")) if plain_read else None)


def _whole(source: object) -> str:
    """A source or a class list as it can be given again from another folder."""
    name, equals, place = str(source).rpartition("=")
    if _exists(str(source)):
        return str(Path(str(source)).absolute()) if str(source) else ""
    return f"{name}={Path(place).absolute()}" if equals and _exists(place) else str(source)


def _load(
    source: str | Path,
    name: str | None,
    layout: str | None,
    classes: str | Path | ClassMap | None,
    labels: object,
    subset: str | Path | Sequence[str] | None,
    data: str | Path | None,
    partial: bool,
) -> Benchmark:
    found = find(source, data=data)
    card = found.card or Card("path")
    class_map = resolve_classes(classes if classes is not None else _class_file(card))
    beside = labels if labels is not None or not card.labels else _file_of(card, found, data, card.labels)
    benchmark = _read(found, card, name=name, layout=layout, class_map=class_map, labels=beside)
    if class_map is None:
        benchmark = over_imagenet(benchmark)
    if card.relabel is not None:
        file = labels if labels is not None else _file_of(card, found, data, card.relabel.file)
        benchmark = relabel(benchmark, card.relabel, file, class_map)
    chosen = subset if subset is not None else card.subset
    if chosen is not None:
        indices = _subset(chosen, benchmark)
        space = part_of(benchmark.label_space, [benchmark.class_id(int(index)) for index in indices])
        benchmark = replace(benchmark, subset=indices, label_space=space)
    if found.card is None:
        return replace(benchmark, notices=(*benchmark.notices, *_known_by_name(found)))
    if card.label_space != UNNAMED and _same_classes(class_map, card, classes):
        benchmark = replace(benchmark, label_space=card.label_space)
    return check_expected(_named_groups(benchmark, card, found.place), card, partial=partial)


def _named_groups(benchmark: Benchmark, card: Card, place: str) -> Benchmark:
    """Group columns under the names that the card gives them."""
    columns = card.groups if isinstance(card.groups, Mapping) else {name: name for name in card.groups}
    if missing := [column for column in columns.values() if column not in benchmark.groups]:
        raise InputError(f"no group columns {short_list(missing)}, which {card.where} names", where=place)
    names = {column: name for name, column in columns.items()}
    renamed = [names.get(column, column) for column in benchmark.groups]
    if len(set(renamed)) < len(renamed):
        raise InputError(f"two group columns of one name, as {card.where} names them", where=place)
    return replace(benchmark, groups=dict(zip(renamed, benchmark.groups.values(), strict=True)))


def find(source: str | Path, *, data: str | Path | None = None) -> Found:
    """What a name or path means, before anything is read.

    Parameters
    ----------
    source : path or str
        As :func:`load_benchmark` takes it.
    data : path, optional
        Data folder.

    Returns
    -------
    Found

    Raises
    ------
    InputError
        If it is a card's file that cannot be read.
    UsageError
        If there is no such path or known test set, or its files are not there.
    """
    text = str(source)
    if _exists(text):
        path = Path(text)
        if path.is_file() and path.suffix.lower() in CARD_SUFFIXES:
            return _of_card(read_card(path), path.parent, data)
        if _exists(str(path / OWN_CARD)):
            return _of_card(read_card(path / OWN_CARD), path, data)
        return Found(text)
    if SCHEME.match(text):
        return Found(text)
    start, equals, place = text.partition("=")
    if equals:
        return _named(start.strip(), place.strip(), text)
    if GLOB.search(text):
        return Found(text)
    card = _chosen(find_card(text))
    if card is None:
        fix = f"Check the path. {suggestion(text)}"
        raise UsageError("no such file or folder, and no known test set of this name", where=text, fix=fix)
    return _of_card(card, None, data)


def over_imagenet(benchmark: Benchmark) -> Benchmark:
    """Number the classes as ImageNet does where all of them are known by wnids of its 1,000; else as it was.

    A folder with some of the classes is then scored over all 1,000, as it would be in ImageNet.
    """
    known = {info.id: index for index, info in enumerate(class_list(IMAGENET_1K))}
    if not benchmark.classes or any(info.id not in known for info in benchmark.classes):
        return benchmark
    new = np.array([*(known[info.id] for info in benchmark.classes), -1], np.int32)
    message = (
        f"All {len(benchmark.classes)} classes are wnids of ImageNet's 1,000, so its class list is taken. "
        "Answers out of fewer classes: --label-space subset."
    )
    return replace(
        benchmark,
        classes=class_list(IMAGENET_1K),
        labels=new[benchmark.labels],
        label_space=IMAGENET_1K,
        notices=(
            *(notice for notice in benchmark.notices if notice.code != "classes-are-wnids"),
            Notice("imagenet-by-wnid", benchmark.name, message),
        ),
    )


def _chosen(card: Card | None) -> Card | None:
    """A card of one test set: where there are variants, one must have been chosen."""
    return card.choose(()) if card is not None and card.variants else card


def _exists(text: str) -> bool:
    with reading(text):
        return Path(text).exists()


def _named(name: str, place: str, text: str) -> Found:
    if not name or not place:
        raise UsageError("half of NAME=PATH is missing", where=text, fix="Write the name, an equals sign and the path.")
    is_path = _exists(place)
    if not (is_path or SCHEME.match(place) or GLOB.search(place)):
        raise UsageError("no such file or folder", where=place, fix="Check the path and the current folder.")
    card = _chosen(find_card(name))
    if card is None or not is_path:
        return Found(place, name, card)
    folder = Path(place) if Path(place).is_dir() else Path(place).parent
    whole = card.path != "." and folder == Path(place) and _exists(str(card.place_in(folder)))
    return Found(card.read_from(folder) if whole else place, name, card, folder)


def _of_card(card: Card, beside: Path | None, data: str | Path | None) -> Found:
    if card.base:
        base = find_card(card.base)
        folders = [folder_of(base or Card(card.base), data), folder_of(card, data)]
    else:
        folders = [folder_of(card, data)]
    folders = ([beside] if beside is not None else []) + folders
    for folder in folders:
        if _exists(str(card.place_in(folder))):
            return Found(card.read_from(folder), card.name, card, folder)
    name = card.base or card.name
    how = card.access or f"Fetch it with `resit data fetch {name}`."
    fix = f"{how} Or say where it is: {card.name}=PATH."
    raise UsageError("its files are not in the data folder", where=card.place_in(folders[0]), fix=fix)


def _class_file(card: Card) -> str | None:
    if card.classes and card.folder and _exists(str(Path(card.folder) / card.classes)):
        return str(Path(card.folder) / card.classes)
    return card.classes


def _same_classes(class_map: ClassMap | None, card: Card, given: object) -> bool:
    """Whether a class list that was given is that of the card."""
    own = resolve_classes(_class_file(card)) if given is not None else class_map
    return own is class_map or (own is not None and class_map is not None and own.classes == class_map.classes)


def _file_of(card: Card, found: Found, data: str | Path | None, name: str) -> str:
    """A file of the card: in the test set's folder, else in that of the data folder."""
    candidates = [*([found.folder] if found.folder else []), folder_of(card, data)]
    candidates += [Path(card.folder)] if card.folder else []
    known = next((folder / name for folder in candidates if _exists(str(folder / name))), None)
    if name and known is None:
        fix = f"Fetch it with `resit data fetch {card.name}`, or give labels=… (--labels)."
        raise UsageError("no such file of labels", where=str(candidates[-1] / name), fix=fix)
    return str(known or "")


def _read(
    found: Found, card: Card, *, name: str | None, layout: str | None, class_map: ClassMap | None, labels: object
) -> Benchmark:
    from resit.data.layouts import Request, read_layout

    flat = _unlabelled(found.place) if card.relabel is not None and card.relabel.by != "class" else None
    request = Request(
        name=name or found.name or place_name(found.place),
        classes=None if card.relabel is not None and card.relabel.by == "class" else class_map,
        labels=flat if card.relabel is not None else labels,
        layout=layout or card.layout,
        image_column=card.image_column,
        label_column=card.label_column,
        id_column=card.id_column,
        version=card.version,
    )
    benchmark = read_layout(found.place, request)
    if flat is None:
        return benchmark
    return replace(benchmark, notices=tuple(notice for notice in benchmark.notices if notice.code != "labels-by-position"))


def place_name(place: str) -> str:
    """Name of a test set from its path: ``imagenet/val`` is ``imagenet-val``, as ``val`` alone says nothing."""
    path = whole_path(Path(place.partition("://")[2] or place))
    name = default_name(path)
    return f"{path.parent.name}-{name}" if name.lower() in NO_NAMES and path.parent.name else name


def _unlabelled(place: str) -> list[int] | None:
    """A label for each image of a flat folder, to be replaced; None where it is no flat folder."""
    from resit.data.layouts.suffixes import is_image

    folder = Path(place)
    if not folder.is_dir() or visible_folders(folder):
        return None
    files, _ = visible_files(folder)
    return [0] * sum(is_image(file.name) for file in files) or None


def _subset(chosen: str | Path | Sequence[str], benchmark: Benchmark) -> npt.NDArray[np.int32]:
    if isinstance(chosen, (str, Path)):
        class_map = resolve_classes(chosen)
        ids = [info.id for info in class_map.classes] if class_map else []
    else:
        ids = list(chosen)
    known = benchmark.classes or tuple(ClassInfo(str(i), str(i)) for i in range(benchmark.n_classes))
    place = {info.id: index for index, info in enumerate(known)}
    unknown = [key for key in ids if key not in place]
    if unknown or not ids:
        what = f"classes of the subset that are not in the class list: {short_list(unknown)}" if ids else "an empty subset"
        raise UsageError(what, where=benchmark.name, fix="Write ids as they are in the class list.")
    indices = np.unique(np.array([place[key] for key in ids], np.int32))
    outside = (benchmark.labels >= 0) & ~np.isin(benchmark.labels, indices)
    if outside.any():
        first = sorted({benchmark.class_id(int(label)) for label in benchmark.labels[outside]})
        images = counted(int(outside.any(axis=1).sum()), "image has", "images have")
        what = f"{images} labels outside of the subset: {short_list(first)}"
        raise InputError(what, where=benchmark.name, fix="Is it this test set, and this subset?")
    return indices


def _known_by_name(found: Found) -> list[Notice]:
    """Told where a folder is called as a known test set, so that nobody misses its checks and conventions."""
    if found.name or SCHEME.match(found.place):
        return []
    name = default_name(Path(found.place))
    if name not in known_benchmarks():
        return []
    message = f"It is called as a known test set. Write {name}={found.place} to read it as that, with its classes and checks."
    return [Notice("known-by-name", found.place, message)]
