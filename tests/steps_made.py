"""A small test set, candidates and references of noise for the steps of a build, and the people who vote and review."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from resit.build.steps.init import Begun
    from resit.build.steps.opened import Build

CLASSES = ("cat", "dog")
PEOPLE = tuple(f"person {number}" for number in range(10))
# How often originals were selected: a quarter at .5, a quarter at .7, the others always. Ten more votes change no bin.
SHOWN = 1000
SELECTED = (500, 700, 1000, 1000)
# Candidates, by how many of ten people say that they show their class.
CATS = {f"cat/{often}": often for often in (10, 9, 8, 3)}
DOGS = {f"dog/{often}": often for often in (10, 7, 6, 2)}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pixels(name: str) -> np.ndarray:
    """Noise of 6 × 6 squares that only depends on the name, 24 × 24."""
    rng = np.random.default_rng(int(digest(name.encode())[:16], 16))
    return np.kron(rng.integers(0, 256, (6, 6, 3)), np.ones((4, 4, 1), int)).astype(np.uint8)


def png(picture: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


def picture(name: str, *, like: str | None = None) -> bytes:
    """A picture of a name; like another one, it is that one with a little noise of its own."""
    if like is None:
        return png(pixels(name))
    rng = np.random.default_rng(int(digest(name.encode())[:16], 16))
    return png(np.clip(pixels(like).astype(int) + rng.integers(-6, 7, (24, 24, 3)), 0, 255).astype(np.uint8))


def write_images(folder: Path, images: Mapping[str, bytes]) -> Path:
    """Files by path in a folder."""
    for name, data in images.items():
        target = folder / f"{name}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


def original(folder: Path, *, per_class: int = 24, classes: Iterable[str] = CLASSES) -> tuple[Path, Path]:
    """A test set in folders, and a table of the votes on it."""
    names = [f"{class_id}/{number:03}" for class_id in classes for number in range(per_class)]
    write_images(folder / "original", {name: picture(f"original {name}") for name in names})
    counts = folder / "counts.csv"
    lines = [f"{name}.png,{SELECTED[place % len(SELECTED)]},{SHOWN}" for place, name in enumerate(names)]
    counts.write_text("\n".join(["id,selected,shown", *lines, ""]))
    return folder / "original", counts


def edit(build: Path, **changes: object) -> None:
    """Change values in build.yaml, as people do; the names of keys are unique where they are used here."""
    text = (build / "build.yaml").read_text()
    for key, value in changes.items():
        lines = [line for line in text.splitlines() if line.strip().startswith(f"{key}:")]
        assert len(lines) == 1, (key, lines)
        text = text.replace(lines[0], f"{lines[0].split(key)[0]}{key}: {value}")
    (build / "build.yaml").write_text(text)


def set_target(build: Path, target: float | str) -> None:
    """Let people review pairs up to another relative distance."""
    text = (build / "build.yaml").read_text()
    assert text.count("target: 0.6") == 1
    (build / "build.yaml").write_text(text.replace("target: 0.6", f"target: {target}"))


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def shown(url: str) -> str:
    """Digest of the image that a page shows, from what is at its address."""
    return digest(Path(url).read_bytes())


def answers(
    tasks: Path,
    yes: Mapping[tuple[str, str], int],
    originals: Mapping[str, Collection[str]],
    *,
    people: Iterable[str] = PEOPLE,
    liars: Collection[str] = (),
) -> list[dict[str, Any]]:
    """What people answer to tasks: of a candidate as many say yes as given by image and class, all are right on controls.

    Liars say the opposite of what the first person says.
    """
    rows = []
    for row in read_rows(tasks):
        image, class_id = shown(row["url"]), row["class_id"]
        known = next((key for key, images in originals.items() if image in images), None)
        often = yes[image, class_id] if known is None else len(PEOPLE) * (known == class_id)
        for place, person in enumerate((*people, *liars)):
            said = often == 0 if person in liars else place < often
            rows.append({"task": row["task"], "person": person, "position": row["position"], "selected": int(said)})
    return rows


def fill(path: Path, said: Mapping[tuple[str, str], str], *, person: str = "reviewer", usual: str = "") -> Path:
    """Fill in a review list: by (image, class) or by both images of a pair in order; the others get the usual verdict."""
    rows = read_rows(path)
    for row in rows:
        key = (row["image"], row["class_id"]) if row["kind"] == "image" else tuple(sorted((row["image"], row["other"])))
        if verdict := said.get(key, usual):
            row.update(verdict=verdict, person=person)
    return write_rows(path, rows) if rows else path


def begin(root: Path, folder: str = "new", **more: Any) -> Begun:
    """A build of two images a class, those that were selected most often."""
    from resit.build.steps.init import init_build, new_config

    if not (root / "original").exists():
        original(root)
    source = {"source": str(root / "original"), "counts": str(root / "counts.csv")}
    sampling = {"strategy": "top-images", "minimum_votes": min(10, more.get("votes", {}).get("people", 10))}
    settings = {"name": "pets", "per_class": 2, "sampling": sampling, "original": source, **more}
    return init_build(root / folder, new_config(**settings))


def photos(root: Path) -> str:
    """A source of candidates."""
    return f"folder:{write_images(root / 'photos', {name: picture(name) for name in (*CATS, *DOGS)})}"


def votes(build: Build, root: Path, name: str = "votes.csv", **more: Any) -> Path:
    """Export tasks, and write a file of the answers to them."""
    from resit.build.steps.label import export_tasks

    yes = {(digest(picture(name)), name[:3]): often for name, often in (CATS | DOGS).items()}
    known = {key: {digest(path.read_bytes()) for path in (root / "original" / key).iterdir()} for key in CLASSES}
    tasks = export_tasks(build, "csv").exported.files[0]
    return write_rows(root / name, answers(tasks, yes, known, **more))
