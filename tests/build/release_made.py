"""A small build by hand: two classes called the same, image files, votes by named people, wrong images, near-duplicates."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from PIL import Image

from resit.build.release.record import Material, ReleaseSettings
from resit.data.benchmark import ClassInfo
from resit.store.records import Selection
from resit.store.schemas import COUNTS, EXCLUDED, IMAGES, PAIRS, SELECTED, VERDICTS, VOTES, table

CLASSES = (ClassInfo("n01", "crane"), ClassInfo("n02", "crane"), ClassInfo("n03", "Ölkanne"))
PEOPLE = ("ada@example.org", "Bob", "worker-Ω", "dora")
SALT = "a secret of sixteen or more"
LAST = "2024-05-06T07:08:09Z"
PER_CLASS = 4


def rows(schema: dict[str, str], made: list[dict[str, Any]]) -> pa.Table:
    return table(schema, {name: [one[name] for one in made] for name in schema})


def content(number: int, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (9, 7), (number * 7 % 256, number % 256, 200)).save(file, kind)
    return file.getvalue()


class Build:
    """Six candidates a class, of which four are selected, one is wrong and one has too few votes; two originals a class."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.images: list[dict[str, Any]] = []
        self.ids: dict[str, list[str]] = {info.id: [] for info in CLASSES}
        self.originals: dict[str, list[str]] = {info.id: [] for info in CLASSES}
        for place, info in enumerate(CLASSES):
            for number in range(6):
                self._add(
                    info.id, content(100 * place + number, "JPEG" if number % 2 else "PNG"), ".jpg" if number % 2 else ".png"
                )
            for number in range(2):
                self._original(info.id, f"old-{info.id}-{number}")

    def _add(self, class_id: str, data: bytes, ending: str) -> None:
        digest = hashlib.sha256(data).hexdigest()
        path = f"images/{digest[:2]}/{digest}{ending}"
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data)
        number = len(self.ids[class_id])
        self.ids[class_id].append(digest)
        attributes = {"keyword": f"word {number % 2}", "label": "their own", "secret": f"/home/somebody/{number}.jpg"}
        self.images.append(
            {
                "image": digest,
                "class_id": class_id,
                "role": "candidate",
                "path": path,
                "source": "folder: photos",
                "url": f"https://photos.example/{digest[:8]}",
                "licence": "CC-BY-4.0" if number < 4 else "",
                "author": f"Author | {number}",
                "attributes": json.dumps(attributes),
            }
        )

    def _original(self, class_id: str, name: str) -> None:
        self.originals[class_id].append(name)
        blank = dict.fromkeys(IMAGES, "")
        self.images.append({**blank, "image": name, "class_id": class_id, "role": "original", "attributes": "{}"})

    def selected(self) -> list[tuple[str, str]]:
        """Images 0 to 3 of each class."""
        return [(image, key) for key, images in self.ids.items() for image in images[:PER_CLASS]]

    def votes(self) -> list[dict[str, Any]]:
        """Everybody sees everything in one assignment a class; candidate k is selected by all but k people; 5 is shown once."""
        made = []
        for class_id in self.ids:
            for who, person in enumerate(PEOPLE):
                shown = [*self.ids[class_id][:5], *(self.ids[class_id][5:] if who == 0 else []), *self.originals[class_id]]
                made += [
                    {
                        "image": image,
                        "class_id": class_id,
                        "person": person,
                        "assignment": f"MTURK-{person}-{class_id}",
                        "role": "positive" if image in self.originals[class_id] else "candidate",
                        "selected": image in self.originals[class_id] or who >= place,
                        "time": f"2024-05-0{who + 1}T11:22:33Z",
                    }
                    for place, image in enumerate(shown)
                ]
        return made

    def counts(self) -> list[dict[str, Any]]:
        """By hand: see ``votes``."""
        made = []
        for class_id, images in self.ids.items():
            figures = [(4, 4), (3, 4), (2, 4), (1, 4), (0, 4), (0, 1)]
            made += [
                {"image": image, "class_id": class_id, "selected": right, "shown": shown}
                for image, (right, shown) in zip(images, figures, strict=True)
            ]
            made += [{"image": i, "class_id": class_id, "selected": 4, "shown": 4} for i in self.originals[class_id]]
        return made

    def material(self, **changes: Any) -> Material:
        chosen = self.selected()
        figures = {(one["image"], one["class_id"]): one for one in self.counts()}
        selected = [
            {**figures[key], "bin": min(4, 5 * figures[key]["selected"] // figures[key]["shown"]), "fate": "drawn"}
            for key in chosen
        ]
        excluded = [
            {"image": images[place], "class_id": key, "reason": reason}
            for key, images in self.ids.items()
            for place, reason in ((4, "blacklisted"), (5, "too-few-votes"))
        ]
        pairs = [
            {"metric": "l2", "image": images[0], "other": images[1], "reference": "", "distance": 1.5, "rank": 1}
            for images in self.ids.values()
        ]
        verdicts = [
            *(self.verdict("image", images[4], "", key, "wrong") for key, images in self.ids.items()),
            *(self.verdict("image", image, "", key, "right") for image, key in chosen),
            *(self.verdict("pair", images[0], images[1], "", "different") for images in self.ids.values()),
        ]
        record = {"strategy": "matched-frequency", "seed": 7, "valid": True, "by_image": {self.ids["n01"][0]: 1}}
        parts: dict[str, Any] = {
            "images": rows(IMAGES, self.images),
            "selection": Selection(3, 2, record, rows(SELECTED, selected), rows(EXCLUDED, excluded)),
            "counts": rows(COUNTS, self.counts()),
            "votes": rows(VOTES, self.votes()),
            "pairs": rows(PAIRS, pairs),
            "verdicts": rows(VERDICTS, verdicts),
            "classes": CLASSES,
            "root": self.root,
            "time": LAST,
        }
        return Material(**{**parts, **changes})

    def verdict(self, kind: str, image: str, other: str, class_id: str, verdict: str, time: str = LAST) -> dict[str, Any]:
        where = {"kind": kind, "image": image, "other": other, "class_id": class_id}
        return {**where, "verdict": verdict, "person": PEOPLE[3], "time": time}


def settings(**changes: Any) -> ReleaseSettings:
    told: dict[str, Any] = {
        "name": "cranes",
        "version": "1.0",
        "per_class": PER_CLASS,
        "salt": SALT,
        "label_space": "three things",
        "licence": "cc-by-4.0",
        "minimum_votes": 4,
        "leave_out": ("secret",),
    }
    return ReleaseSettings(**{**told, **changes})
