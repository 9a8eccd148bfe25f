"""Review lists: what people fill in comes back as verdicts, and mistakes are told with their line."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pytest
from release_made import rows

from resit.build.review_lists import images_list, pairs_list, read_list
from resit.errors import InputError
from resit.store.schemas import IMAGES, PAIRS

NOW = "2024-01-01T00:00:00Z"
HEAD = "kind,image,other,class_id,verdict,person\n"


def image(name: str, key: str, path: str = "", url: str = "") -> dict[str, str]:
    return {**dict.fromkeys(IMAGES, ""), "image": name, "class_id": key, "path": path, "url": url}


def filled(text: str, verdicts: list[str]) -> str:
    lines = list(csv.DictReader(io.StringIO(text)))
    for line, said in zip(lines, verdicts, strict=True):
        line |= {"verdict": said, "person": "Ada" if said else ""}
    file = io.StringIO()
    writer = csv.DictWriter(file, list(lines[0]))
    writer.writeheader()
    writer.writerows(lines)
    return file.getvalue()


def test_images_come_back_as_they_were_judged():
    known = rows(IMAGES, [image("a", "c", path="images/a.png", url="https://x"), image("b", "d", url='https://y/"q",')])
    text = images_list(pa.table({"image": ["b", "a"], "class_id": ["d", "c"]}), known, {"c": "a, b", "d": 'the "d"'})
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [(line["image"], line["class"], line["link"]) for line in lines] == [
        ("b", 'the "d"', 'https://y/"q",'),
        ("a", "a, b", "images/a.png"),
    ]
    found = read_list(filled(text, ["", " Wrong "]), NOW, known=known["image"])
    assert found.blank == 1
    assert found.verdicts.to_pylist() == [
        {"kind": "image", "image": "a", "other": "", "class_id": "c", "verdict": "wrong", "person": "Ada", "time": NOW}
    ]


def test_pairs_come_back_in_their_order():
    pairs = [
        {"metric": "l2", "image": i, "other": o, "reference": r, "distance": 0.1, "rank": 1}
        for i, o, r in (("b", "a", ""), ("a", "007", "train"))
    ]
    text = pairs_list(rows(PAIRS, pairs), {"a": "images/a.png"})
    assert "0.1,,\n" in text
    found = read_list(filled(text, ["same", "unsure"]), NOW).verdicts
    assert list(zip(*(found[name].to_pylist() for name in ("image", "other", "verdict")), strict=True)) == [
        ("b", "a", "same"),
        ("a", "007", "unsure"),
    ]


@pytest.mark.parametrize("text", ["\ufeff" + HEAD, HEAD.replace(",", ";").upper(), HEAD.replace("\n", "\r\n")])
def test_what_spreadsheets_make_of_a_list_does_no_harm(text: str):
    mark = ";" if ";" in text else ","
    text += mark.join(["image", "a", "", "c", "right", "Ada"])
    assert read_list(text, NOW).verdicts["verdict"].to_pylist() == ["right"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,verdict\n", "no column kind, person"),
        (HEAD + "image,a,,c,right,Ada\nimage,a,,c,maybe,Ada\n", "line 3: no verdict 'maybe' on image"),
        (HEAD + "image,a,,c,right,\n", "line 2: no person"),
        (HEAD + "pair,a,,,same,Ada\n", "line 2: no other"),
        (HEAD + "class,,,,fine,Ada\n", "line 2: no class_id"),
        (HEAD + "image,,,c,right,Ada\n", "line 2: no image"),
        (HEAD + "pair,a,b,,same,Ada\npair,b,a,,near,Ada\n", "line 3: Ada says 'near', and in line 2 'same'"),
        (HEAD + "image,zzz,,c,right,Ada\n", "1 images that are not in the build: zzz"),
        (HEAD + 'image,"a,,c,right,Ada\n', "not valid CSV"),
        ("", "no column kind"),
    ],
)
def test_mistakes_are_told_with_their_place(text: str, message: str):
    with pytest.raises(InputError, match=message):
        read_list(text, NOW, known=pa.array(["a", "b"]))


def test_the_same_line_twice_counts_once_and_two_people_count_twice():
    line = "image,a,,c,right,{}\n"
    found = read_list(HEAD + line.format("Ada") * 2 + line.format("Bob"), NOW)
    assert found.verdicts["person"].to_pylist() == ["Ada", "Bob"]


def test_an_image_that_is_not_there_is_told():
    with pytest.raises(InputError, match="1 images that are not in the build: b as c"):
        images_list(pa.table({"image": ["b"], "class_id": ["c"]}), rows(IMAGES, [image("a", "c")]), {})
