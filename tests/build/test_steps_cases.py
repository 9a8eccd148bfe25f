"""Cases that real users met, through the steps of a build."""

from __future__ import annotations

from pathlib import Path

from extras import needs
from steps_made import answers, begin, digest, original, photos, picture, read_rows, votes, write_images, write_rows

needs("sqlalchemy", "alembic", "httpx")
from PIL import Image  # noqa: E402

from resit.build.steps.dedupe import find_duplicates  # noqa: E402
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.init import init_build, new_config  # noqa: E402
from resit.build.steps.label import decide, export_tasks, import_votes  # noqa: E402
from resit.build.steps.look import read_lists, write_lists  # noqa: E402
from resit.build.steps.opened import open_build  # noqa: E402
from resit.build.steps.publish import release_build  # noqa: E402
from resit.build.steps.sample import draw_revision  # noqa: E402
from resit.build.steps.status import status  # noqa: E402


def test_case_11_hidden_folders_are_left_out_and_a_class_without_images_stays_a_class(tmp_path: Path):
    folder, _ = original(tmp_path)
    write_images(folder, {".ipynb_checkpoints/0": picture("hidden")})
    (folder / "fox").mkdir()
    done = init_build(tmp_path / "new", new_config(name="pets", per_class=2, original={"source": str(folder)}))
    assert (done.images, done.classes) == (48, 3)
    assert any(".ipynb_checkpoints" in notice.message for notice in done.notices)
    with open_build(tmp_path / "new") as build:
        assert [info.id for info in build.classes] == ["cat", "dog", "fox"]
        gather(build, f"folder:{write_images(tmp_path / 'photos', {'cat/0': picture('0')})}")
        drawn = draw_revision(build).drawn
        short = {one.class_id: one.why for one in drawn.shortages}
        assert short["fox"] == "0 originals with 10 votes, and 20 are needed"
        assert [row.class_id for row in status(build).funnel.rows] == ["cat", "dog", "fox"]


def test_case_12_a_file_is_what_its_content_is(tmp_path: Path):
    begin(tmp_path)
    folder = tmp_path / "photos" / "cat"
    folder.mkdir(parents=True)
    (folder / "PHOTO.JPG").write_bytes(picture("png"))
    Image.new("RGB", (24, 24), (1, 2, 3)).save(folder / "b.jpeg", "WEBP")
    (folder / "c.png").write_bytes(b"<html>")
    with open_build(tmp_path / "new") as build:
        done = gather(build, f"folder:{tmp_path / 'photos'}")
        assert (done.new, len(done.failed)) == (2, 1)
        paths = build.store.images("candidate")["path"].to_pylist()
        assert sorted(Path(path).suffix for path in paths) == [".png", ".webp"]
        assert all((build.path / path).exists() for path in paths)
        assert next(row for row in status(build).funnel.rows if row.class_id == "cat").failed == 1


def test_case_16_names_of_any_language_go_through_all_steps(tmp_path: Path):
    root = tmp_path / "Bilder für später #1 (ñ, 猫)"
    classes = ("Größe & Co", "猫")
    folder, counts = original(root, classes=classes)
    candidates = {f"{name}/{number} ü": picture(f"{name} {number}") for name in classes for number in range(3)}
    source = {"source": str(folder), "counts": str(counts)}
    settings = {"name": "Tiere-2", "per_class": 2, "sampling": {"strategy": "top-images"}}
    init_build(root / "neu", new_config(original=source, **settings))
    person = 'Łukasz; O\'Brien, "Q"'
    with open_build(root / "neu") as build:
        gather(build, f"folder:{write_images(root / 'Fotos', candidates)}")
        yes = {(digest(data), name.partition("/")[0]): 10 for name, data in candidates.items()}
        known = {name: {digest(path.read_bytes()) for path in (folder / name).iterdir()} for name in classes}
        tasks = export_tasks(build, "csv").exported.files[0]
        people = [person, *(f"p{number}" for number in range(9))]
        import_votes(build, write_rows(root / "Stimmen.csv", answers(tasks, yes, known, people=people)))
        assert person in build.store.votes()["person"].to_pylist()
        find_duplicates(build)
        draw_revision(build)
        images, _, _ = write_lists(build, root / "Prüfung")
        rows = read_rows(images)
        assert {row["class"] for row in rows} == set(classes)
        read_lists(build, write_rows(images, [{**row, "verdict": "right", "person": person} for row in rows]))
        assert release_build(build, root / "fertig").fresh

        import resit

        loaded = resit.load_benchmark(root / "fertig")
        assert {info.id for info in loaded.classes} == set(classes)
        assert loaded.n == 4


def test_case_17_names_that_look_like_numbers_stay_texts(tmp_path: Path):
    begin(tmp_path, "007", name="007", version="1.0")
    with open_build(tmp_path / "007") as build:
        assert (build.config.name, build.config.version) == ("007", "1.0")
        gather(build, photos(tmp_path))
        people = [f"{number:03}" for number in range(10)]
        import_votes(build, votes(build, tmp_path, people=people))
        assert build.store.votes()["person"].unique().to_pylist() == people
        decide(build, build.store.assignments()["assignment"].to_pylist()[:1], "rejected", by="01", reason="1.0")
        assert build.store.assignments()["reason"][0].as_py() == "1.0"
    config = (tmp_path / "007" / "build.yaml").read_text()
    assert "name: '007'" in config
    assert "version: '1.0'" in config


def test_case_23_two_classes_with_one_name_are_told_apart_by_id(tmp_path: Path):
    folder, counts = original(tmp_path, classes=("n01", "n02"))
    classes = tmp_path / "classes.csv"
    classes.write_text("id,name\nn01,crane\nn02,crane\n")
    source = {"source": str(folder), "classes": str(classes), "counts": str(counts)}
    init_build(tmp_path / "new", new_config(name="cranes", per_class=1, original=source))
    with open_build(tmp_path / "new") as build:
        assert [(info.id, info.name) for info in build.classes] == [("n01", "crane"), ("n02", "crane")]
        photos = write_images(tmp_path / "photos", {"n01/0": picture("bird"), "n02/0": picture("machine")})
        gather(build, f"folder:{photos}")
        draw_revision(build)
        assert status(build).funnel.labels == ("crane (n01)", "crane (n02)")
        found = {row["image"]: row["class_id"] for row in build.store.images("candidate").to_pylist()}
        assert found == {digest(picture("bird")): "n01", digest(picture("machine")): "n02"}
