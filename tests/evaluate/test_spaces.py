import re
from dataclasses import replace

import numpy as np
import pytest
import sat

from resit.data.benchmark import ClassInfo
from resit.errors import InputError, UsageError
from resit.evaluate.spaces import columns_of, scored_as, scoring_of
from resit.models.protocol import POSITIONS, LabelSpace


def space(ids, names=None, name="its own"):
    return LabelSpace(name, tuple(ClassInfo(key, label) for key, label in zip(ids, names or ids, strict=True)))


IDS = [info.id for info in sat.CLASSES]


def test_without_a_convention_all_classes_count():
    exam = sat.made()
    scoring = scoring_of(exam, "auto")
    assert scoring.classes.tolist() == list(range(7))
    assert scoring.name == "7 listed classes"


def test_case_4_a_convention_is_followed_unless_the_user_says_full():
    exam = replace(sat.made(), subset=np.array([4, 1], np.int32), label_space="odd (2 of seven)")
    auto, full = scoring_of(exam, "auto"), scoring_of(exam, "full")
    assert (auto.name, auto.classes.tolist()) == ("odd (2 of seven)", [1, 4])
    assert (full.name, full.classes.tolist()) == ("7 listed classes", list(range(7)))
    assert scored_as(exam, auto).subset.tolist() == [1, 4]
    assert scored_as(exam, full).subset is None


def test_subset_without_a_convention_is_the_classes_with_examples():
    exam = sat.made(n=3)
    present = sorted(set(exam.labels.ravel().tolist()))
    scoring = scoring_of(exam, "subset")
    assert scoring.classes.tolist() == present
    assert re.fullmatch(rf"subset [0-9a-f]{{6}} \({len(present)} of 7 listed classes\)", scoring.name)


def test_a_subset_needs_a_class_list():
    with pytest.raises(UsageError, match="class list"):
        scoring_of(replace(sat.made(), classes=()), "subset")


def test_case_2_classes_are_matched_by_id_never_by_rank():
    exam = sat.made()
    columns = columns_of(space([*IDS[::-1], "other"]), exam, scoring_of(exam, "auto"), "m")
    assert columns.tolist() == [6, 5, 4, 3, 2, 1, 0]


def test_names_count_where_no_id_is_known_and_they_are_unique():
    exam = sat.made()
    names = [info.name for info in sat.CLASSES]
    assert columns_of(space("abcdefg", names[::-1]), exam, scoring_of(exam, "auto"), "m").tolist() == [6, 5, 4, 3, 2, 1, 0]


def test_case_23_a_name_of_two_classes_is_no_match():
    twice = (ClassInfo("a", "crane"), ClassInfo("b", "crane"), *sat.CLASSES[2:])
    exam = replace(sat.made(), classes=twice)
    with pytest.raises(InputError, match="2 of 7 classes are none of the model's"):
        columns_of(space("1234567", [info.name for info in twice]), exam, scoring_of(exam, "auto"), "m")


def test_classes_that_the_model_does_not_score_are_told_with_what_to_do():
    exam = sat.made()
    with pytest.raises(InputError, match=r"1 of 7 classes.*n3.*--label-space subset"):
        columns_of(space([key for key in IDS if key != "n3"]), exam, scoring_of(exam, "auto"), "m")
    with pytest.raises(InputError, match=r"7 of 7 classes.*--classes imagenet-1k"):
        columns_of(space("abcdefg"), exam, scoring_of(exam, "auto"), "m")


def test_positions_count_only_where_the_model_says_so_and_the_numbers_agree():
    exam = sat.made()
    some = replace(exam, subset=np.array([2, 5], np.int32))
    assert columns_of(space("0123456", name=POSITIONS), some, scoring_of(some, "auto"), "m").tolist() == [2, 5]
    with pytest.raises(InputError, match="6 scores for 7 classes"):
        columns_of(space("012345", name=POSITIONS), exam, scoring_of(exam, "auto"), "m")
