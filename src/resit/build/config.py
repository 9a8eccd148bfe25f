"""What people decide about a build, in build.yaml: read with the line of every fault, written with what each key means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from resit.build.duplicates.metrics import DEFAULT_METRICS
from resit.data.guard import reading, refuse_unfit
from resit.data.read_card import parse_yaml
from resit.errors import InputError

SCHEMA_NAME = "build.schema.json"
MOST = 10**9  # of anything that is counted
# Up to these distances people review unless the configuration says otherwise.
TARGETS = {"relative": 0.6}
EDITORS = f"# yaml-language-server: $schema={SCHEMA_NAME}\n"
Strategy = Literal["matched-frequency", "threshold", "top-images", "keyword", "uniform", "corrected-frequency"]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, pattern=r"^[^/\\\x00-\x1f]+$")]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OriginalConfig(_Section):
    """The benchmark that a new test set is built for."""

    source: str = Field(min_length=1, description="A path or name, as `resit.load_benchmark` takes it")
    classes: str | None = Field(default=None, description="Its class list: a known one, or a file")
    counts: str | None = Field(default=None, description="File of counts of votes on its images, where there are some already")


class SamplingConfig(_Section):
    """How images are chosen among the candidates."""

    strategy: Strategy = Field(default="matched-frequency", description="How images are drawn")
    threshold: Fraction = Field(default=0.7, description="threshold: lowest selection frequency, from 0 to 1")
    exceptions: dict[str, Fraction] = Field(
        default={}, description="threshold: another lowest frequency for some classes, by id"
    )
    attribute: str | None = Field(default=None, description="keyword: attribute of the images whose distribution is matched")
    floor: int = Field(default=0, ge=0, description="keyword: fewest images of a keyword")
    balanced: bool = Field(default=False, description="keyword: exactly as many images of each class")
    minimum_votes: int = Field(default=10, ge=1, le=MOST, description="Fewest votes of an image that may be chosen")
    minimum_originals: int = Field(
        default=20, ge=1, description="matched-frequency: fewest originals of a class with that many votes"
    )
    edges: tuple[int, ...] = Field(
        default=(1, 2, 3, 4), description="matched-frequency: edges of the bins of frequency, in fifths"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.strategy == "keyword" and not self.attribute:
            raise ValueError("the strategy keyword needs an attribute")
        if list(self.edges) != sorted(set(self.edges)) or not set(self.edges) <= {1, 2, 3, 4}:
            raise ValueError("edges are whole numbers from 1 to 4 (fifths), each larger than the one before")
        return self


GUIDANCE = (
    "Mark an image if the thing itself is in it, even small, partly hidden, or among many other things.",
    "Do not mark drawings, paintings, toys or other likenesses of it.",
    "If you are not sure after a closer look, go by what you think is more likely.",
)


class VotesConfig(_Section):
    """How people are asked."""

    task: int = Field(default=48, ge=1, le=MOST, description="Images on a page")
    positive: int = Field(default=3, ge=0, description="Of these, originals of the class")
    negative: int = Field(default=3, ge=0, description="Of these, originals of the most similar class")
    people: int = Field(default=10, ge=1, le=MOST, description="Fewest people who see each candidate")
    guidance: tuple[str, ...] = Field(default=GUIDANCE, description="What the pages tell people of which images to mark")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.positive + self.negative >= self.task:
            raise ValueError("a task must have room for candidates beside its controls")
        return self


class MetricConfig(_Section):
    """One measure of how near two images are."""

    target: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="Distance up to which people review pairs"
    )


class DuplicatesConfig(_Section):
    """How near-duplicates are looked for."""

    neighbours: int = Field(default=30, ge=1, le=MOST, description="Nearest images to keep for each candidate")
    metrics: dict[str, MetricConfig] = Field(
        default={name: MetricConfig(target=TARGETS.get(name)) for name in DEFAULT_METRICS},
        description="Measures by name, each with the distance to review up to; null: its pairs need no review",
    )


class BuildConfig(_Section):
    """All that people decide about a build."""

    name: Name = Field(description="Name of the new test set")
    version: Name = Field(default="1.0", description="Its version, in quotes")
    seed: int = Field(default=0, ge=0, description="Of all that is random")
    database: str | None = Field(
        default=None,
        description="Where events are kept: null for build.sqlite here, or postgresql+psycopg://USER@HOST/DATABASE",
    )
    per_class: int = Field(ge=1, le=MOST, description="Wanted images of each class")
    original: OriginalConfig = Field(description="The benchmark that the new test set is built for")
    sampling: SamplingConfig = Field(default=SamplingConfig(), description="How images are chosen among the candidates")
    votes: VotesConfig = Field(default=VotesConfig(), description="How people are asked")
    duplicates: DuplicatesConfig = Field(default=DuplicatesConfig(), description="How near-duplicates are looked for")
    references: tuple[str, ...] = Field(default=(), description="Sets that no new image may be a near-duplicate of")

    @field_validator("votes")
    @classmethod
    def _enough(cls, votes: VotesConfig, others: ValidationInfo) -> VotesConfig:
        sampling: SamplingConfig | None = others.data.get("sampling")
        if sampling is not None and votes.people < sampling.minimum_votes:
            raise ValueError(f"people is {votes.people}, too few for sampling.minimum_votes, {sampling.minimum_votes}")
        return votes


def read_config(path: Path) -> BuildConfig:
    """Read a build's configuration.

    Parameters
    ----------
    path : Path
        A YAML file.

    Raises
    ------
    InputError
        If it is no YAML, or a key is unknown, missing or has a value that does not fit; with its line.
    """
    refuse_unfit(path)
    with reading(path):
        text = path.read_text(encoding="utf-8")
    document = parse_yaml(text, path)
    if not isinstance(document, dict):
        raise InputError("no mapping of keys to values", where=path, fix="A configuration starts with `name: …`.")
    try:
        return BuildConfig.model_validate(document)
    except ValidationError as error:
        # A key that is misspelt is missing too: the misspelling tells more.
        found = sorted(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
        faults = [_fault(fault, text) for fault in found]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        line, what, fix = faults[0]
        raise InputError(f"{what}{more}", where=f"{path}, line {line}", fix=fix) from None


def _fault(fault: Any, text: str) -> tuple[int, str, str]:
    parts = [str(part) for part in fault["loc"]]
    keys = [part for part in parts if part != "[key]"]
    key = ".".join(keys)
    line = _line(text, keys)
    if fault["type"] == "missing":
        return line, f"the key {key} is missing", "Add it."
    if fault["type"] == "extra_forbidden":
        known = _keys_of(keys[:-1])
        return line, f"unknown key {key}", f"The keys here are {', '.join(known)}." if known else "Remove it."
    message = fault["msg"].removeprefix("Value error, ")
    message = f"{message[:1].lower()}{message[1:]}"
    wants_text = fault["type"] == "string_type" and isinstance(fault["input"], (int, float))
    fix = "Put it in quotes: YAML reads it as a number." if wants_text else ""
    return line, f"{key}: {message}" if key else message, fix


def _keys_of(path: Sequence[str]) -> list[str]:
    section: type[BaseModel] = BuildConfig
    for part in path:
        kind = section.model_fields[part].annotation if part in section.model_fields else MetricConfig
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            continue
        section = kind
    return list(section.model_fields)


def _line(text: str, keys: Sequence[str]) -> int:
    """Line of a key, or of the last key on the way to it that is there."""
    yaml: Any = import_module("yaml")
    node, line = yaml.compose(text, yaml.SafeLoader), 1
    for key in keys:
        items: list[tuple[Any, Any]] = []
        if isinstance(node, yaml.MappingNode):
            items = [(name, value) for name, value in node.value if name.value == key]
        elif isinstance(node, yaml.SequenceNode) and key.isdecimal() and int(key) < len(node.value):
            items = [(node.value[int(key)], node.value[int(key)])]
        if not items:
            break
        name, node = items[0]
        line = name.start_mark.line + 1
    return int(line)


def config_text(config: BuildConfig) -> str:
    """A configuration as YAML, with what each key means beside it.

    Parameters
    ----------
    config : BuildConfig
    """
    return EDITORS + "\n".join(_lines(config, "")) + "\n"


def _lines(section: BaseModel, indent: str) -> Iterator[str]:
    yaml: Any = import_module("yaml")
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        yield f"{indent}# {field.description}."
        if isinstance(value, BaseModel):
            yield f"{indent}{key}:"
            yield from _lines(value, f"{indent}  ")
            continue
        plain = section.model_dump(mode="json", include={key})
        style = {"sort_keys": False, "allow_unicode": True, "width": 10_000, "default_flow_style": False}
        yield from (indent + line for line in yaml.safe_dump(plain, **style).splitlines())


def schema_text() -> str:
    """The JSON Schema of a configuration, for editors."""
    return json.dumps(BuildConfig.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
