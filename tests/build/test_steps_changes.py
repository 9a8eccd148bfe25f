"""What changed between revisions that are not next to each other."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pools_made import images_of

from resit.build.folder import BuildFolder
from resit.build.steps.changes import changes
from resit.build.steps.init import new_config
from resit.build.steps.opened import open_build
from resit.store.schemas import EXCLUDED, SELECTED, table


def selected(**fates: str) -> pa.Table:
    n = len(fates)
    columns = {"class_id": ["x"] * n, "selected": [9] * n, "shown": [10] * n, "bin": [4] * n}
    return table(SELECTED, {"image": list(fates), "fate": list(fates.values()), **columns})


def test_images_have_the_fate_with_which_they_came(tmp_path: Path):
    BuildFolder.create(tmp_path / "b", new_config(name="b", per_class=3, original={"source": "elsewhere"}))
    rounds = [
        selected(a="drawn", b="drawn", c="drawn"),
        selected(a="kept", b="kept", d="upward"),
        selected(a="kept", d="kept", e="drawn"),
        selected(a="kept", d="kept", e="kept"),
    ]
    gone = table(EXCLUDED, {"image": ["b", "c"], "class_id": ["x", "x"], "reason": ["blacklisted", "near-duplicate"]})
    with open_build(tmp_path / "b") as build:
        build.store.add_images(images_of([(name, "x") for name in "abcde"]))
        for number, chosen in enumerate(rounds):
            build.store.add_selection({"time": "2026-01-01T00:00:00Z"}, chosen, gone, parent=number or None)
        found = changes(build, 1, 4)
        back = changes(build, 4, 1)
    assert dict(zip(found.came["image"].to_pylist(), found.came["fate"].to_pylist(), strict=True)) == {
        "d": "upward",
        "e": "drawn",
    }
    reasons = dict(zip(found.went["image"].to_pylist(), found.went["reason"].to_pylist(), strict=True))
    assert reasons == {"b": "blacklisted", "c": "near-duplicate"}
    assert found.stayed == 1
    assert back.came["image"].to_pylist() == ["b", "c"]
    assert back.came["fate"].to_pylist() == ["drawn", "drawn"]
