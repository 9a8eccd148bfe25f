"""What a release says of itself: the card that resit reads, and the README with what Hugging Face reads."""

from __future__ import annotations

import re
from dataclasses import asdict
from importlib import import_module
from typing import Any

from resit.build.release.check import class_counts
from resit.build.release.examples import Contents, features
from resit.build.release.facts import Facts
from resit.build.release.record import Material, ReleaseSettings
from resit.data.card import Card

# Identifiers of licences that Hugging Face knows; others are told by name.
HF_LICENCES = (
    *("apache-2.0", "mit", "cc", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
    *("cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0"),
    *("cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "odc-by", "odbl", "pddl", "unlicense"),
)
SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
MOST_CLASSES = 50
FILES = (
    ("data/test.parquet", "the images with their labels and attributes"),
    ("classes.csv", "the classes in order"),
    ("attribution.csv", "licence, author and address of each image"),
    ("record/candidates.parquet", "all candidates: votes on them, what became of each, and why"),
    ("record/originals.parquet", "votes on images of the original test set"),
    ("record/votes.parquet", "each vote; people and assignments under pseudonyms, of the time the day"),
    ("record/pairs.parquet", "the nearest images of each candidate, by each metric"),
    ("record/verdicts.parquet", "what people said of pairs, images and classes; the last one on a thing counts"),
    ("record/selection.parquet", "the selection: each image's votes and fate"),
    ("record/selection.json", "how the selection was made: all parameters"),
    ("record/funnel.csv", "the funnel, class by class"),
    ("benchmark.yaml", "the card by which resit reads it"),
    ("croissant.json", "metadata in the Croissant format"),
    ("card/datasheet.md", "the datasheet"),
    ("SHA256SUMS", "checksums: `sha256sum -c SHA256SUMS`"),
)


def benchmark_yaml(material: Material, settings: ReleaseSettings) -> str:
    """The card by which resit reads the release, as YAML."""
    counts = class_counts(material)
    card = Card(
        name=settings.name,
        title=settings.title,
        description=settings.description,
        homepage=settings.homepage,
        licence=settings.licence,
        citation=settings.citation,
        version=settings.version,
        layout="parquet",
        path="data/test.parquet",
        image_column="image",
        label_column="label",
        id_column="id",
        classes="classes.csv",
        label_space=settings.label_space,
        n=sum(counts),
        per_class={info.id: count for info, count in zip(material.classes, counts, strict=True)},
    )
    told = {key: value for key, value in asdict(card).items() if value and key != "folder"}
    return _yaml(told)


def readme(facts: Facts, contents: Contents, settings: ReleaseSettings, *, private: bool) -> str:
    """The README: front matter for Hugging Face, and what people need to know first."""
    title = settings.title or settings.name
    lines = ["---", _yaml(front_matter(facts, contents, settings)).rstrip("\n"), "---", "", f"# {title}", ""]
    lines += [settings.description, ""] if settings.description else []
    lines += [*_summary(facts, settings, private=private), "", *_loading(settings), "", *_tables(facts, settings)]
    lines += ["", "## Files", "", "| file | what it holds |", "|---|---|"]
    lines += [f"| `{name}` | {what} |" for name, what in FILES]
    lines += ["| `imagefolder/` | the images, a folder a class |"] if settings.imagefolder else []
    lines += ["| `webdataset/` | the images as WebDataset shards |"] if settings.webdataset else []
    lines += ["", "## Licences", "", "| licence of the image | images |", "|---|---:|"]
    lines += [f"| {_cell(name)} | {n:,} |" for name, n in facts.licences]
    lines += ["", "Each image's author and address are in `attribution.csv`.", ""]
    lines += ["## Citation", "", settings.citation, ""] if settings.citation else []
    return "\n".join(lines)


def front_matter(facts: Facts, contents: Contents, settings: ReleaseSettings) -> dict[str, Any]:
    """What Hugging Face reads of a README."""
    licence = settings.licence.lower()
    known = licence in HF_LICENCES
    kinds = [{"name": name, "dtype": _dtype(feature)} for name, feature in features(contents).items()]
    return {
        "pretty_name": settings.title or settings.name,
        "license": licence if known else "other",
        **({} if known or not settings.licence else {"license_name": settings.licence}),
        "task_categories": ["image-classification"],
        "annotations_creators": ["crowdsourced"],
        "size_categories": [next((name for most, name in SIZES if facts.images < most), "n>1M")],
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": "data/test.parquet"}]}],
        "dataset_info": {"features": kinds},
    }


def _dtype(feature: dict[str, Any]) -> Any:
    if feature["_type"] == "ClassLabel":
        return {"class_label": {"names": {str(place): name for place, name in enumerate(feature["names"])}}}
    return "image" if feature["_type"] == "Image" else feature["dtype"]


def _summary(facts: Facts, settings: ReleaseSettings, *, private: bool) -> list[str]:
    how = f", sampled by `{facts.strategy}`" if facts.strategy else ""
    votes = f"{facts.votes:,} votes by {facts.people:,} people" if facts.votes else "counts of votes"
    lines = [
        f"Version {settings.version}: {facts.images:,} images in {facts.classes:,} classes ({facts.fewest:,} to {facts.most:,} "
        f"a class), out of {facts.candidates:,} candidates with {votes}{how}. Built with resit, revision {facts.revision}."
    ]
    if settings.hold_out and private:
        lines += ["", "**Private.** These are the images that were held out of the public release. Do not publish them."]
    elif settings.hold_out:
        lines += [
            "",
            f"A share of {settings.hold_out:g} of each class is held out. Nothing of these images is in this release: they, "
            "what was judged to show the same, and all votes on them are missing from every table and figure.",
        ]
    lines += [line for notice in facts.notices for line in ("", f"Note: {notice.message}")]
    return lines


def _loading(settings: ReleaseSettings) -> list[str]:
    return [
        "```python",
        "import resit",
        f'benchmark = resit.load_benchmark("{settings.name}-{settings.version}/benchmark.yaml")',
        "",
        "from datasets import load_dataset",
        'test = load_dataset("parquet", data_files={"test": "data/test.parquet"}, split="test")',
        "```",
    ]


def _tables(facts: Facts, settings: ReleaseSettings) -> list[str]:
    lines = ["## How it was chosen", "", "![What became of the candidates](card/figures/funnel.png)", ""]
    head, *rows, total = (row[:-1] for row in facts.funnel.to_rows())
    shown = [*rows, total] if len(rows) <= MOST_CLASSES else [total]
    lines += [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in shown]
    if facts.frequency:
        lines += ["", "![Selection frequency](card/figures/selection-frequency.png)", "", "| set | mean selection frequency |"]
        lines += ["|---|---:|", *(f"| {name} | {value:.4f} |" for name, value in facts.frequency.items())]
        lines += [
            "",
            f"Selection frequency is times selected / times shown; at least {settings.minimum_votes} votes were asked for.",
        ]
    return lines


def _cell(text: str) -> str:
    """Text that stays one plain cell of a Markdown table."""
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", " ".join(text.split()))


def _yaml(document: dict[str, Any]) -> str:
    yaml: Any = import_module("yaml")
    return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1_000))
