"""Images held out: nothing of them in the public release; the same share of each class; everything in the private one."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_made import PEOPLE, SALT, Build, rows, settings

import resit
from resit.build.release.hold_out import held_out
from resit.build.release.make import release
from resit.errors import UsageError
from resit.store.schemas import SELECTED, VERDICTS


def everything(folder: Path) -> bytes:
    """All bytes of a folder, those of Parquet tables unpacked."""
    found = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    for path in folder.rglob("*.parquet"):
        for row in pq.read_table(path).to_pylist():
            image = row.get("image")
            found += [image["bytes"]] if isinstance(image, dict) else []
            found.append(json.dumps(row, default=repr, ensure_ascii=False).encode())
    return b"\n".join(found) + "\n".join(str(path.relative_to(folder)) for path in folder.rglob("*")).encode()


def ids(folder: Path) -> set[str]:
    found = resit.load_benchmark(folder / "benchmark.yaml").ids
    assert found is not None
    return set(found.tolist())


def test_nothing_of_the_images_held_out_is_in_the_public_release(tmp_path: Path):
    build = Build(tmp_path / "build")
    material = build.material()
    options = settings(hold_out=0.5, imagefolder=True, webdataset=True)
    held = held_out(material.selection.selected, 0.5, 0, SALT)
    # A candidate that shows the same as an image held out, and one that shows the same as that; other classes stay.
    near = [build.ids[key][4] for key in ("n01", "n02")]
    verdicts = [
        build.verdict("pair", near[0], held[0], "", "same"),
        build.verdict("pair", near[1], near[0], "", "near"),
        build.verdict("pair", build.ids["n03"][4], held[0], "", "different"),
    ]
    record = {**material.selection.record, "notes": [f"drew {held[1]} upward", "kept"], held[2]: 1}
    material = replace(
        material,
        verdicts=pa.concat_tables([material.verdicts, rows(VERDICTS, verdicts)]),
        selection=replace(material.selection, record=record),
    )
    done = release(material, options, tmp_path / "public", tmp_path / "private")
    assert (done.images, done.held_out, done.withheld) == (6, 6, 8)
    assert ids(tmp_path / "private") == set(held)
    assert ids(tmp_path / "public") == {image for image, _ in build.selected()} - set(held)
    public, private = everything(tmp_path / "public"), everything(tmp_path / "private")
    paths = {one["image"]: one for one in build.images}
    for image in [*held, *near]:
        assert image.encode() not in public, image
        assert image[:8].encode() not in public  # addresses have the first digits
        assert (build.root / paths[image]["path"]).read_bytes() not in public
        assert image.encode() in private
    assert build.ids["n03"][4].encode() in public
    assert json.loads((tmp_path / "public/record/selection.json").read_text())["record"]["notes"] == ["kept"]
    votes = pq.read_table(tmp_path / "public/record/votes.parquet")
    assert len(votes) == len(material.votes) - 8 * len(PEOPLE)


def test_each_class_gives_its_share_rounded_down_whatever_the_order():
    made = [("a", f"a{i}") for i in range(5)] + [("b", "b0")] + [("c", f"c{i}") for i in range(10)]
    table = rows(SELECTED, [{"image": i, "class_id": k, "selected": 1, "shown": 1, "bin": 0, "fate": ""} for k, i in made])
    held = held_out(table, 0.5, 3, SALT)
    assert Counter(image[0] for image in held) == {"a": 2, "c": 5}
    assert held_out(table.take(pa.array(range(len(made) - 1, -1, -1))), 0.5, 3, SALT) == held
    assert held_out(table, 0.5, 4, SALT) != held
    assert held_out(table, 0.5, 3, SALT + "!") != held
    assert len(held_out(table, 0.3, 3, SALT)) == 1 + 3


def test_names_of_people_are_nowhere_and_pseudonyms_are_the_same_in_both(tmp_path: Path):
    build = Build(tmp_path / "build")
    release(build.material(), settings(hold_out=0.5), tmp_path / "public", tmp_path / "private")
    public, private = everything(tmp_path / "public"), everything(tmp_path / "private")
    for secret in (*PEOPLE, "MTURK", SALT, "/home/somebody", "11:22:33", str(tmp_path)):
        assert secret.encode() not in public + private, secret
    tables = [pq.read_table(tmp_path / one / "record/votes.parquet").to_pylist() for one in ("public", "private")]
    assert {vote["person"] for vote in tables[0]} == {"p001", "p002", "p003", "p004"}
    known = {(v["image"], v["assignment"]): (v["person"], v["selected"], v["day"]) for v in tables[1]}
    assert all(known[v["image"], v["assignment"]] == (v["person"], v["selected"], v["day"]) for v in tables[0])


def test_pseudonyms_depend_on_the_salt_and_not_on_the_names(tmp_path: Path):
    build = Build(tmp_path / "build")
    orders = set()
    for number in range(8):
        release(build.material(), settings(salt=f"{SALT} {number}"), tmp_path / str(number))
        votes = pq.read_table(tmp_path / str(number) / "record/votes.parquet").to_pylist()
        day_of = {vote["person"]: vote["day"] for vote in votes}  # each person voted on another day
        orders.add(tuple(day_of[person] for person in sorted(day_of)))
    assert len(orders) > 1


@pytest.mark.parametrize(("share", "private"), [(0.5, None), (0.0, "private"), (0.5, "public"), (0.5, "public/inside")])
def test_folders_and_share_must_fit_together(tmp_path: Path, share: float, private: Any):
    build = Build(tmp_path / "build")
    with pytest.raises(UsageError):
        release(build.material(), settings(hold_out=share), tmp_path / "public", private and tmp_path / private)
    assert [path.name for path in tmp_path.iterdir()] == ["build"]
