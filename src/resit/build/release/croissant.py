"""The release in the words of Croissant, which search engines and loaders of data sets read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from resit.build.release.examples import Contents, features
from resit.build.release.record import Material, ReleaseSettings
from resit.build.release.stage import file_hash
from resit.build.release.tables import licences

SPECIFICATION = "http://mlcommons.org/croissant/1.0"
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
SEMANTIC = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")
TABLES = (
    ("classes.csv", "text/csv", "The classes in order."),
    ("data/test.parquet", "application/x-parquet", "The images with their labels."),
    ("record/candidates.parquet", "application/x-parquet", "The pool: votes on all candidates, and what became of each."),
    ("record/votes.parquet", "application/x-parquet", "All votes, under pseudonyms."),
)


def croissant(contents: Contents, material: Material, settings: ReleaseSettings, stage: Path) -> str:
    """The manifest, as JSON-LD.

    Parameters
    ----------
    contents : Contents
    material : Material
    settings : ReleaseSettings
    stage : Path
        Folder in which the files that it lists are.

    Returns
    -------
    str

    References
    ----------
    Akhtar, M., et al. (2024). Croissant: A Metadata Format for ML-Ready Datasets. NeurIPS 37.
    """
    described = settings.description or f"The test set {settings.title or settings.name}, {len(contents.rows):,} images."
    document: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": SPECIFICATION,
        "name": settings.name,
        "description": described,
        "version": semantic(settings.version),
        "license": settings.licence or ", ".join(name for name, _ in licences(material)),
        "datePublished": material.time[:10],
        **({"url": settings.homepage} if settings.homepage else {}),
        "citeAs": settings.citation or f"{settings.title or settings.name}, version {settings.version}",
        "creator": {"@type": "sc:Organization", "name": settings.contact or f"The makers of {settings.name}"},
        "distribution": [_file(stage, *told) for told in TABLES],
        "recordSet": [_classes(), _examples(contents)],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def semantic(version: str) -> str:
    """A version as three numbers, as Croissant wants it: ``1`` is ``1.0.0``; one of another form stays as it is."""
    match = SEMANTIC.fullmatch(version)
    return ".".join(part or "0" for part in match.groups()) if match else version


def _file(stage: Path, name: str, kind: str, what: str) -> dict[str, Any]:
    path = stage / name
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": what,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": kind,
        "sha256": file_hash(path),
    }


def _field(records: str, name: str, kind: str | list[str], file: str, **more: Any) -> dict[str, Any]:
    source = {"fileObject": {"@id": file}, "extract": {"column": name}}
    transform = more.pop("transform", None)
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{name}",
        "name": name,
        "dataType": kind,
        "source": source if transform is None else {**source, "transform": transform},
        **more,
    }


def _classes() -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "classes",
        "name": "classes",
        "dataType": "sc:Enumeration",
        "key": {"@id": "classes/label"},
        "field": [
            _field("classes", "label", "sc:Integer", "classes.csv"),
            _field("classes", "id", "sc:Text", "classes.csv"),
            _field("classes", "name", ["sc:Text", "sc:name"], "classes.csv"),
        ],
    }


def _examples(contents: Contents) -> dict[str, Any]:
    kinds = {"int64": "sc:Integer", "string": "sc:Text"}
    fields = []
    for name, feature in features(contents).items():
        if name == "image":
            fields.append(_field("examples", name, "sc:ImageObject", "data/test.parquet", transform={"jsonPath": "bytes"}))
        elif name == "label":
            reference = {"field": {"@id": "classes/label"}}
            fields.append(_field("examples", name, "sc:Integer", "data/test.parquet", references=reference))
        else:
            fields.append(_field("examples", name, kinds[feature["dtype"]], "data/test.parquet"))
    return {"@type": "cr:RecordSet", "@id": "examples", "name": "examples", "key": {"@id": "examples/id"}, "field": fields}
