from __future__ import annotations

import csv
import html
import json
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from votes_made import one_task, pages_of

from resit.build.voting.export import export_csv, export_label_studio, export_mturk, layout
from resit.build.voting.pages import make_pages
from resit.errors import InputError, OutputError


def two_tasks():
    return pa.concat_tables([one_task("t1", ("a", "b"), b="positive"), one_task("t2", ("c", "d"), "2", d="negative")])


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_pages_are_those_that_still_need_people_in_the_order_of_positions():
    table = two_tasks().take([3, 1, 2, 0])
    urls = {name: f"https://x/{name}" for name in "abcd"}
    pages = make_pages(table, urls, {"1": "one", "2": "two"}, {"t2": 3}).pages
    assert [(page.task, page.class_id, page.text, page.urls, page.people) for page in pages] == [
        ("t2", "2", "two", ("https://x/c", "https://x/d"), 3)
    ]


@pytest.mark.parametrize(
    ("urls", "texts", "what"),
    [
        ({"a": "u"}, {"1": "one"}, "1 images without an address: b"),
        ({"a": "u", "b": "v"}, {"1": " "}, "1 classes without a text: 1"),
        ({"a": "u", "b": "u"}, {"1": "one"}, "two images with one address"),
    ],
)
def test_pages_that_cannot_be_shown_are_refused(urls, texts, what):
    with pytest.raises(InputError, match=what):
        make_pages(one_task(names="ab"), urls, texts, {"t1": 1})


def test_case_23_classes_of_one_name_are_told():
    pages = pages_of(two_tasks(), texts={"1": "crane", "2": "crane "})
    assert [notice.code for notice in pages.notices] == ["same-text"]
    assert "Classes 1, 2 are all called 'crane'" in pages.notices[0].message


@pytest.mark.parametrize(
    ("candidate", "control", "told"),
    [
        ("https://x/images/ab/ab12.jpg", "https://x/images/0c/0cff.jpg", False),
        ("https://x/images/ab/ab12.jpg", "https://x/images/0c/0cff.png", True),
        ("https://x/new/ab12.jpg", "https://x/old/0cff.jpg", True),
        ("https://x/ab12.jpg", "https://y/0cff.jpg", True),
    ],
)
def test_addresses_that_give_the_controls_away_are_told(candidate, control, told):
    urls = {"a": candidate, "b": candidate.replace("12", "34"), "c": control, "d": control.replace("ff", "ee")}
    pages = pages_of(one_task(names="abcd", c="positive", d="negative"), urls=urls)
    assert [notice.code for notice in pages.notices] == ["source-shown"] * told


def test_plain_csv_says_what_to_show_and_not_where_it_is_from(tmp_path):
    done = export_csv(pages_of(two_tasks(), 3), tmp_path / "new" / "folder")
    assert done.files == (tmp_path / "new" / "folder" / "tasks.csv",)
    rows = rows_of(done.files[0])
    assert [row["position"] for row in rows] == ["0", "1", "0", "1"]
    assert rows[3] == {
        "task": "t2",
        "class_id": "2",
        "text": "class 2",
        "position": "1",
        "url": "https://images.example/d.jpg",
        "people": "3",
    }


def test_case_16_mechanical_turk_gets_text_escaped_and_addresses_encoded(tmp_path):
    urls = {"a": 'https://x/ä b"<.jpg?w=1&copy=2', "b": "https://x/100%25.jpg"}
    done = export_mturk(pages_of(one_task(names="ab"), 10, {"1": 'Bär & "Söhne" <b>'}, urls=urls), tmp_path)
    assert [path.name for path in done.files] == ["layout.html", "batch-10.csv"]
    (row,) = rows_of(tmp_path / "batch-10.csv")
    assert row["text"] == "Bär &amp; &quot;Söhne&quot; &lt;b&gt;"
    assert html.unescape(row["images"]).split(" ") == ["https://x/%C3%A4%20b%22%3C.jpg?w=1&copy=2", "https://x/100%25.jpg"]
    assert "<" not in row["images"]
    assert set(row) == {"task", "text", "images"}
    assert (tmp_path / "layout.html").read_text() == layout()
    assert "`" not in layout(), "a template literal's ${…} would be filled in by Mechanical Turk"
    assert layout().count("${") == 3


def test_tasks_for_other_numbers_of_people_are_other_files(tmp_path):
    table = two_tasks()
    urls = {name: f"https://x/{name}" for name in "abcd"}
    pages = make_pages(table, urls, {"1": "one", "2": "two"}, {"t1": 10, "t2": 2})
    assert [path.name for path in export_mturk(pages, tmp_path).files] == ["layout.html", "batch-2.csv", "batch-10.csv"]
    files = export_label_studio(pages, tmp_path).files
    assert [path.name for path in files] == ["interface.xml", "tasks-2.json", "tasks-10.json"]


def test_addresses_that_people_cannot_open(tmp_path):
    assert [n.code for n in export_mturk(pages_of(one_task(), urls={k: f"http://x/{k}" for k in "abc"}), tmp_path).notices] == [
        "plain-http"
    ]
    for url in ("images/a.jpg", "javascript:alert(1)", "file:///a.jpg"):
        with pytest.raises(InputError, match="not an address of the web"):
            export_mturk(pages_of(one_task(names="a"), urls={"a": url}), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_label_studio_tasks_fit_their_interface(tmp_path):
    export_label_studio(
        pages_of(one_task(names="ab"), 2, {"1": "Bär"}, urls={"a": "https://x/'a'", "b": "https://x/b"}), tmp_path
    )
    (task,) = json.loads((tmp_path / "tasks-2.json").read_text(encoding="utf-8"))
    assert task["data"] == {
        "task": "t1",
        "text": "Bär",
        "images": [
            {"value": "1", "html": '<img src="https://x/&#x27;a&#x27;" alt="image 1">'},
            {"value": "2", "html": '<img src="https://x/b" alt="image 2">'},
        ],
    }
    interface = ElementTree.parse(tmp_path / "interface.xml").getroot()
    choices = interface.find("Choices")
    assert choices is not None
    assert choices.attrib == {
        "name": "selected",
        "toName": "text",
        "choice": "multiple",
        "layout": "inline",
        "value": "$images",
    }
    assert [tag.get("name") for tag in interface.iter("Text")] == ["text"]
    used = {value[1:] for tag in interface.iter() for value in tag.attrib.values() if value.startswith("$")}
    assert used <= task["data"].keys()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("here")
    with pytest.raises(OutputError, match="cannot be made"):
        export_csv(pages_of(one_task()), tmp_path / "file")
