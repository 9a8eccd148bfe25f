"""What a file of weights does not say of itself: its classes, and how its images are prepared. Nothing of it is guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resit.data.guard import reading
from resit.errors import InputError, UsageError
from resit.models.preprocess import Preprocess
from resit.models.protocol import LabelSpace
from resit.models.spaces import named

GEOMETRY = ("size", "resize", "interpolation")
COLOUR = ("mean", "std")
SETTINGS = (*GEOMETRY, *COLOUR, "classes")
EXAMPLE = (
    "Write a file {file} with the lines `classes: imagenet-1k`, `preprocess:`, `  size: 224`, `  resize: 256` (or none), "
    "`  interpolation: bicubic`, `  mean: [0.485, 0.456, 0.406]`, `  std: [0.229, 0.224, 0.225]`; or give "
    "?classes=imagenet-1k&size=224&resize=256&interpolation=bicubic&mean=0.485,0.456,0.406&std=0.229,0.224,0.225."
)


@dataclass(frozen=True)
class Sidecar:
    """What is known of a model beside its weights.

    Parameters
    ----------
    file : Path
        The file of weights.
    classes : object
        As ``resit.models.spaces.named`` takes them; None where unknown.
    preprocess : mapping
        ``size``, ``resize``, ``interpolation``, ``mean`` and ``std``, or some of them.
    """

    file: Path
    classes: object
    preprocess: Mapping[str, Any]

    def label_space(self) -> LabelSpace:
        """The classes.

        Raises
        ------
        UsageError
            If they are unknown.
        """
        if self.classes is None:
            raise self._unknown("its classes are")
        return named(self.classes, self.file, self.file.parent)

    def transform(self, *, colour: bool = True) -> Preprocess:
        """How images are prepared.

        Parameters
        ----------
        colour : bool, optional
            Whether values are normalised. Without, ``mean`` and ``std`` must not be given.

        Raises
        ------
        UsageError
            If something of it is unknown or cannot be meant.
        """
        wanted = (*GEOMETRY, *COLOUR) if colour else GEOMETRY
        missing = [key for key in wanted if key not in self.preprocess]
        if missing:
            raise self._unknown(f"{', '.join(missing)} of its preprocessing {'is' if len(missing) == 1 else 'are'}")
        extra = [key for key in self.preprocess if key not in wanted]
        if extra:
            known = f"The keys are {', '.join(wanted)}."
            note = "" if colour else " The model takes 8-bit pixels, so mean and std are its own affair."
            raise UsageError(f"{', '.join(extra)} in its preprocessing has no meaning", where=self.file, fix=known + note)
        return Preprocess(**{key: _value(key, value, self.file) for key, value in self.preprocess.items()})

    def _unknown(self, what: str) -> UsageError:
        fix = EXAMPLE.format(file=self.file.with_suffix(".yaml").name)
        return UsageError(f"{what} not known, and are not guessed", where=self.file, fix=fix)


def read_sidecar(file: Path, settings: Mapping[str, str], inside: Mapping[str, Any] | None = None) -> Sidecar:
    """What is known of a file of weights.

    Parameters
    ----------
    file : Path
        The file. Its sidecar is a file of the same name that ends in ``.yaml``, ``.yml`` or ``.json``, with ``classes`` and
        ``preprocess``.
    settings : mapping
        Of the spec; they hold where they differ from the sidecar.
    inside : mapping, optional
        The same content, where the file itself has it.

    Raises
    ------
    InputError
        If the sidecar cannot be read, or differs from what the file has inside.
    """
    beside = [path for ending in (".yaml", ".yml", ".json") if (path := file.with_suffix(ending)).is_file()]
    if len(beside) > 1:
        raise InputError(f"{' and '.join(path.name for path in beside)} lie beside it", where=file, fix="Keep one of them.")
    found = _read(beside[0]) if beside else {}
    for key, value in (inside or {}).items():
        if key in found and found[key] != value:
            raise InputError(f"{key} inside of the file is another than beside it", where=beside[0], fix="Keep one of them.")
    found = {**found, **(inside or {})}
    preprocess = dict(found.get("preprocess") or {})
    preprocess.update({key: settings[key] for key in (*GEOMETRY, *COLOUR) if key in settings})
    if "classes" in settings:  # a path there begins in the current folder, not beside the file
        given = Path(settings["classes"]).expanduser()
        return Sidecar(file, str(given.resolve()) if given.is_file() else settings["classes"], preprocess)
    return Sidecar(file, found.get("classes"), preprocess)


def _read(path: Path) -> dict[str, Any]:
    with reading(path):
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else _yaml(text, path)
    if not isinstance(content, dict) or not set(content) <= {"classes", "preprocess"}:
        raise InputError("it needs the keys classes and preprocess, and no others", where=path)
    if not isinstance(content.get("preprocess", {}), dict):
        raise InputError("preprocess needs keys and values", where=path, fix="Write size, resize, interpolation, mean, std.")
    return content


def _yaml(text: str, path: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML: {' '.join(str(error).split())}", where=path) from error


def _value(key: str, value: Any, where: object) -> Any:
    """A value of the preprocessing from text or from YAML."""
    if key == "interpolation" or (key == "resize" and (value is None or str(value).lower() == "none")):
        return value if key == "interpolation" else None
    kind = float if key in COLOUR else int
    parts = value.replace("x", ",").split(",") if isinstance(value, str) else value
    try:
        numbers = tuple(_exact(kind, part) for part in (parts if isinstance(parts, list) else [parts]))
    except (TypeError, ValueError) as error:
        example = "0.5,0.5,0.5" if key in COLOUR else "224, or 224x320 for height and width"
        raise UsageError(f"{key} cannot be {value!r}", where=where, fix=f"Write {key}={example}.") from error
    return numbers if key in COLOUR or len(numbers) == 2 else _single(key, numbers, value, where)


def _exact(kind: type[int] | type[float], part: Any) -> int | float:
    if isinstance(part, bool) or kind(part) != float(part):
        raise ValueError(part)
    return kind(part)


def _single(key: str, numbers: tuple[int | float, ...], value: Any, where: object) -> int | float:
    if len(numbers) != 1:
        raise UsageError(f"{key} cannot be {value!r}", where=where, fix=f"Write {key}=224, or {key}=224x320.")
    return numbers[0]
