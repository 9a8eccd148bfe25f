"""What classes are searched by, how searches widen, and which class a label means."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resit.build.collect.class_rules import ClassRules, read_class_map
from resit.build.collect.found import Query
from resit.build.collect.terms import ClassTerms, class_terms
from resit.build.collect.widening import STAGES, Search, stage_queries
from resit.data.benchmark import ClassInfo
from resit.errors import InputError, UsageError

CLASSES = (ClassInfo("n1", "golden_retriever"), ClassInfo("n2", "crane"), ClassInfo("n3", "crane"))
DOG = ClassTerms("n1", ("golden retriever", "goldie"), ("dog", "pet"), ("golden retriever puppy",), ("retriever",))
DATES, LONGER = ("2012-07-11", "2013-07-11"), ("2010-01-01", "2014-12-31")


def test_a_class_without_terms_is_searched_by_its_name():
    assert class_terms(CLASSES[:1]) == (ClassTerms("n1", ("golden retriever",)),)


def test_terms_of_a_table(tmp_path: Path):
    path = tmp_path / "terms.csv"
    path.write_text("class_id,kind,term\nn1,parent,dog\nn2,synonym,crane bird\nn2,synonym,crane bird\nn2,other,NA\n")
    assert class_terms(CLASSES[:2], path) == (
        ClassTerms("n1", ("golden retriever",), ("dog",)),
        ClassTerms("n2", ("crane bird",), others=("NA",)),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class_id,term\nn1,dog\n", "no column kind"),
        ("class_id,kind,term\nn9,parent,dog\n", "ids of no class: n9"),
        ("class_id,kind,term\nn1,mother,dog\n", "kinds of terms 'mother'"),
        ("class_id,kind,term\nn1,parent,dog\nn1,parent,\n", "no term in row 2"),
    ],
)
def test_terms_that_cannot_be_meant(tmp_path: Path, text: str, reason: str):
    (tmp_path / "terms.csv").write_text(text)
    with pytest.raises(InputError, match=reason):
        class_terms(CLASSES, tmp_path / "terms.csv")


def test_each_stage_widens_and_keeps_what_the_earlier_ones_widened():
    search = Search(DATES, ("", ""), 200, 1000, LONGER, 50)
    expected = {
        "synonyms": [("golden retriever", 200, DATES, ("", "")), ("goldie", 200, DATES, ("", ""))],
        "parent": [(f"{name} {kind}", 200, DATES, ("", "")) for name in DOG.synonyms for kind in ("dog", "pet")],
        "more": [("golden retriever", 1000, DATES, ("", "")), ("goldie", 1000, DATES, ("", ""))],
        "longer": [("golden retriever", 1000, LONGER, LONGER), ("goldie", 1000, LONGER, LONGER)],
        "compound": [("golden retriever puppy", 1000, LONGER, LONGER)],
        "other": [("retriever", 1000, LONGER, LONGER)],
    }
    for stage in STAGES:
        wanted = [Query("n1", text, stage, limit, uploaded, taken) for text, limit, uploaded, taken in expected[stage]]
        assert stage_queries(stage, [DOG], search) == wanted


def test_stages_that_add_nothing_ask_nothing():
    search = Search(DATES, limit=500, more=500)
    assert stage_queries("more", [DOG], search) == stage_queries("longer", [DOG], search) == []
    assert stage_queries("parent", class_terms(CLASSES), search) == []
    assert [query.uploaded for query in stage_queries("other", [DOG], search)] == [DATES]


@pytest.mark.parametrize(
    "how",
    [
        {"uploaded": ("2013-13-01", "")},
        {"taken": ("2013-02-01", "2013-01-01")},
        {"longer": ("x", "")},
        {"limit": 0},
        {"wanted": -1},
    ],
)
def test_searches_that_make_no_sense(how: dict[str, object]):
    with pytest.raises(UsageError):
        Search(**how)  # type: ignore[arg-type]


def test_labels_by_id_by_name_and_by_map():
    rules = ClassRules(CLASSES)
    assert rules.match([ClassInfo("n2", "x"), ClassInfo("0", "golden_retriever")], "s")[0] == ["n2", "n1"]
    mapped = ClassRules(CLASSES, {"7": "n3", "Crane": "n2", "stone": ""})
    labels = [ClassInfo(label, label) for label in ("007", "Crane", "stone", "n1", "unknown")]
    assert mapped.match(labels, "s")[0] == ["n3", "n2", "", "n1", ""]


def test_case_23_a_name_of_two_classes_is_no_answer():
    with pytest.raises(InputError, match="more than one class is called by: 'crane'"):
        ClassRules(CLASSES).match([ClassInfo("crane", "crane")], "s")
    assert ClassRules(CLASSES, {"crane": "n3"}).match([ClassInfo("crane", "crane")], "s")[0] == ["n3"]


@given(st.lists(st.integers(0, 30), min_size=1, unique=True))
def test_numbers_are_positions_by_value_and_never_by_rank(numbers: list[int]):
    classes = tuple(ClassInfo(f"c{i}", f"name {i}") for i in range(31))
    found, notices = ClassRules(classes).match([ClassInfo(str(number), str(number)) for number in numbers], "s")
    assert found == [f"c{number}" for number in numbers]
    assert [notice.code for notice in notices] == ["labels-by-position"]


def test_numbers_beyond_the_class_list_are_refused():
    with pytest.raises(InputError, match="label 3, while there are 3 classes"):
        ClassRules(CLASSES).match([ClassInfo("0", "0"), ClassInfo("3", "3")], "s")


def test_a_class_map_is_read_and_checked(tmp_path: Path):
    path = tmp_path / "map.csv"
    path.write_text("label,class_id\n007,n1\nstone,\n007,n1\n")
    assert read_class_map(path) == {"007": "n1", "stone": ""}
    path.write_text("label,class_id\na,n1\na,n2\n")
    with pytest.raises(InputError, match="label 'a' for 'n1' and 'n2'"):
        read_class_map(path)
    path.write_text("from,to\na,n1\n")
    with pytest.raises(InputError, match="label and class_id"):
        read_class_map(path)
    with pytest.raises(InputError, match="ids of no class: 'n9'"):
        ClassRules(CLASSES, {"a": "n9"})
