"""Accuracy tables of every layout, their numbers and their units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exam_files import refusal, write_csv
from hypothesis import given
from hypothesis import strategies as st

from resit.data import Accuracies, ModelId, Predictions, load, load_accuracies
from resit.data.numbers import parse_numbers
from resit.data.units import find_unit
from resit.errors import InputError, UsageError

TIMM = "model,img_size,top1,top1_err,top5,top5_err,param_count,crop_pct,interpolation,top1_diff,top5_diff,rank_diff"


def figures(accuracies: Accuracies, metric: str = "top1") -> list[float]:
    return [round(value, 9) for value in accuracies.metrics[metric].accuracy.tolist()]


def test_a_timm_table_is_keyed_by_model_and_image_size(tmp_path: Path):
    rows = ['a,224,0.640,99.360,3.1,96.9,"1,014.45",1.000,bicubic,-75.1,-1,+6', "a,288,1.000,99,3.2,96.8,305.08,1,bicubic,,,0"]
    accuracies = load(write_csv(tmp_path / "timm-results-imagenet-a.csv", TIMM, rows))
    assert isinstance(accuracies, Accuracies)
    assert accuracies.name == "imagenet-a"
    assert accuracies.models == (ModelId("a", "224"), ModelId("a", "288"))
    assert figures(accuracies) == [0.0064, 0.01]
    assert figures(accuracies, "top5") == [0.031, 0.032]
    assert accuracies.unit == "percent"
    assert accuracies.provenance is not None
    assert "top1 and its error add up to 100" in accuracies.provenance["unit"]


def test_the_robustness_testbeds_wide_table(tmp_path: Path):
    rows = ["alexnet,56.52,43.98,1.76", "resnet50,76.13,63.2,", "vgg,71.59,58.7,2.3"]
    path = write_csv(tmp_path / "results.csv", ",val,imagenetv2-matched-frequency,imagenet-a", rows)
    with pytest.raises(InputError, match=r"3 test sets in one file; it has val, imagenetv2-.*results.csv::val"):
        load_accuracies(path)
    accuracies = load(f"{path}::imagenetv2-matched-frequency")
    assert isinstance(accuracies, Accuracies)
    assert figures(accuracies) == [0.4398, 0.632, 0.587]
    hard = load_accuracies(path, test_set="imagenet-a")
    assert hard.models == (ModelId("alexnet"), ModelId("vgg"))
    assert [notice.code for notice in hard.notices] == ["no-figure"]
    assert "resnet50" in hard.notices[0].message


def test_a_wide_table_has_no_sets_of_errors_or_sizes(tmp_path: Path):
    path = write_csv(tmp_path / "wide.csv", "model,params,top1_err,imagenet,rank", ["a,25.6,23.9,76.1,1", "b,60.2,21.6,78.4,2"])
    assert figures(load_accuracies(path)) == [0.761, 0.784]
    only_errors = write_csv(tmp_path / "errors.csv", "model,top1_err", ["a,23.9", "b,21.6"])
    with pytest.raises(InputError, match="no column of accuracies among model, top1_err"):
        load_accuracies(only_errors)


def test_a_long_table_of_several_sets(tmp_path: Path):
    rows = [f"{model},{name},{n},{k}" for model, k in (("a", 60), ("b", 70)) for name, n in (("old", 100), ("new", 80))]
    path = write_csv(tmp_path / "all.csv", "model,dataset,n,correct", rows)
    accuracies = load_accuracies(f"{path}::new")
    assert accuracies.name == "new"
    assert figures(accuracies) == [0.75, 0.875]
    assert accuracies.metrics["top1"].correct.tolist() == [60, 70]
    assert accuracies.metrics["top1"].n.tolist() == [80, 80]
    assert accuracies.unit == "count"
    with pytest.raises(InputError, match="no test set 'v6'; it has old, new"):
        load_accuracies(path, test_set="v6")
    with pytest.raises(UsageError, match="two test sets: 'new' and 'old'"):
        load_accuracies(f"{path}::new", test_set="old")


def test_columns_that_the_user_names(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "Who;Right in %;F1;Other", ["a;70.5;0.3;x", "b;71;0.4;y"])
    accuracies = load(path, columns={"model": "Who", "top1": "Right in %"})
    assert isinstance(accuracies, Accuracies)
    assert figures(accuracies) == [0.705, 0.71]
    both = load_accuracies(path, columns={"model": "Who", "f1": "F1"})
    assert figures(both, "f1") == [0.3, 0.4]
    error = refusal(lambda: load_accuracies(path, columns={"model": "Nobody"}), UsageError)
    assert "columns['model'] is 'Nobody', but the columns are Who, Right in %, F1, Other" in error.what


def test_standard_errors_go_with_their_unit(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "model,accuracy,stderr", ["a,70.5,1.2", "b,71.0,0.8", "c,64.0,0.7"])
    found = load_accuracies(path).metrics["top1"]
    assert found.standard_error.tolist() == pytest.approx([0.012, 0.008, 0.007])
    assert np.isnan(found.correct).all()


def test_scores_with_standard_errors_need_no_unit(tmp_path: Path):
    path = write_csv(tmp_path / "elo.csv", "model,score,se", ["a,1250.5,8", "b,1190,7"])
    accuracies = load_accuracies(path)
    assert accuracies.unit == "score"
    assert accuracies.metrics["top1"].accuracy.tolist() == [1250.5, 1190]
    without = write_csv(tmp_path / "plain.csv", "model,score", ["a,1250.5", "b,1190"])
    with pytest.raises(InputError, match=r"column 'score' holds 1250.5, outside of 0 to 100 \(percent"):
        load_accuracies(without)


@pytest.mark.parametrize("kind", ["csv", "tsv", "semicolon", "parquet"])
def test_the_file_format_does_not_matter(tmp_path: Path, kind: str):
    rows = [["a", "70.5"], ["b", "71"]]
    if kind == "parquet":
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"model": ["a", "b"], "top1": [70.5, 71.0]}), path)
    else:
        mark = {"csv": ",", "tsv": "\t", "semicolon": ";"}[kind]
        path = write_csv(
            tmp_path / f"a.{'tsv' if kind == 'tsv' else 'csv'}", mark.join(["model", "top1"]), map(mark.join, rows)
        )
    assert figures(load_accuracies(path)) == [0.705, 0.71]


def test_n_gives_the_number_right(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "model,top1", ["a,88.627", "b,1.333", "c,97.360"])
    found = load_accuracies(path, n=7500).metrics["top1"]
    assert found.correct.tolist() == [6647, 100, 7302]
    error = refusal(lambda: load_accuracies(path, n=1000), InputError)
    assert "no whole number right of n = 1000 gives the accuracies of 3 rows (a, b, c)" in error.what
    assert error.fix == "Give the set's true n, or leave it out."
    with pytest.raises(UsageError, match="n = 0 is no number of examples"):
        load_accuracies(path, n=0)


def test_an_n_in_the_table_that_does_not_fit_is_told_and_not_used(tmp_path: Path):
    accuracies = load_accuracies(write_csv(tmp_path / "a.csv", "model,n,top1", ["a,10,88.6", "b,10,90"]))
    assert np.isnan(accuracies.metrics["top1"].correct).all()
    assert [notice.code for notice in accuracies.notices] == ["n-does-not-fit"]


def test_counts_and_accuracies_that_contradict_each_other_are_refused(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "model,n,correct,accuracy", ["a,100,70,0.70", "b,100,71,0.17"])
    with pytest.raises(InputError, match=r"b has 71 right of 100, but an accuracy of 0\.17"):
        load_accuracies(path)
    exact = write_csv(tmp_path / "b.csv", "model,n,correct,accuracy", ["a,300,200,0.67", "b,300,100,0.33"])
    assert figures(load_accuracies(exact)) == [round(2 / 3, 9), round(1 / 3, 9)]


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("model,correct", ["a,70", "b,71"], r"column 'correct' counts, but of how many\? Add a column n|of how many"),
        ("model,n,correct", ["a,100,101"], "a has 101 right of 100"),
        ("model,n,correct", ["a,100,7.5"], "column 'correct' counts, but holds 7.5"),
        ("model,n,correct", ["a,100,-1"], "column 'correct' counts, but holds -1"),
        ("model,top1", ["a,good", "b,71"], "column 'top1' holds 'good', which is not a number"),
        ("model,top1", ["a,", "b,"], "no figure in any row"),
        ("model,top1", [",70", "b,71"], "no model in row 1"),
        ("model,top1", ["a,101", "b,71"], "column 'top1' holds 101, outside of 0 to 100"),
        ("model,top1", ["a,-3", "b,71"], "column 'top1' holds -3, outside of 0 to 100"),
        ("model,colour", ["a,red"], "no column of accuracies among model, colour"),
        ("who,top1", ["a,70"], r"no column of models among who, top1\. Call it model"),
    ],
)
def test_tables_that_contradict_themselves_are_refused(tmp_path: Path, header: str, rows: list[str], message: str):
    path = write_csv(tmp_path / "a.csv", header, rows)
    error = refusal(lambda: load_accuracies(path), InputError)
    assert error.fix
    assert error.where == str(path)
    with pytest.raises(InputError, match=message):
        raise error


def test_nothing_asked_has_no_accuracy(tmp_path: Path):
    accuracies = load_accuracies(write_csv(tmp_path / "a.csv", "model,n,correct", ["a,0,0", "b,10,7"]))
    assert accuracies.models == (ModelId("b"),)
    assert [notice.code for notice in accuracies.notices] == ["no-figure"]


def test_case_08_odd_numbers_and_a_byte_order_mark_parse(tmp_path: Path):
    path = tmp_path / "a.csv"
    rows = ['a,+6,"1,013.01",70.1', "b,\N{MINUS SIGN}1,5,71", "c,,,64.25"]
    path.write_text("\n".join(["\ufeffmodel,rank_diff,param_count,top1", *rows]), "utf-8")
    assert figures(load_accuracies(path)) == [0.701, 0.71, 0.6425]
    numbers = parse_numbers(np.array(["1,013.01", "+6", "\ufeff7.50", "\N{MINUS SIGN}1e-2", "76.1 %", "-", "NaN"]))
    assert numbers is not None
    np.testing.assert_allclose(numbers.values, [1013.01, 6, 7.5, -0.01, 76.1, np.nan, np.nan])
    assert numbers.decimals.tolist() == [2, 0, 2, 2, 1, 0, 0]
    assert numbers.percent_signs == 1


@pytest.mark.parametrize("text", ["76,1", "0,901", "1,01", "12,34,567", "x", "1e", "--1", ".", "1e999", "²", "inf"])
def test_case_08_what_is_no_number_is_not_guessed(text: str):
    assert parse_numbers(np.array([text])) is None


@pytest.mark.parametrize(
    ("values", "unit"),
    [(["76.1", "70", "0"], "percent"), (["0.761", "0.7", "1"], "fraction"), (["0.9%", "0.5%", "0.1%"], "percent")],
)
def test_case_08_the_unit_is_of_the_whole_column(tmp_path: Path, values: list[str], unit: str):
    path = write_csv(tmp_path / "a.csv", "model,top1", [f"m{i},{value}" for i, value in enumerate(values)])
    accuracies = load_accuracies(path)
    assert accuracies.unit == unit
    assert accuracies.notices == ()


def test_case_08_a_unit_that_was_guessed_from_little_is_told(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "model,top1", ["a,0.9", "b,0.8"])
    [notice] = load_accuracies(path).notices
    assert notice.code == "unit-inferred"
    assert "0.9 could be 0.9 %" in notice.message
    assert "--unit" in notice.message
    stated = load_accuracies(path, unit="percent")
    assert figures(stated) == [0.009, 0.008]
    assert stated.notices == ()
    with pytest.raises(UsageError, match="unit 'permille' is not known"):
        load_accuracies(path, unit="permille")


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("model,top1", ["a,0.9", "b,71"], r"column 'top1' holds both 0\.9 and 71\. One looks like a fraction"),
        ("model,top1,top5", ["a,0.7,91", "b,0.8,92"], r"columns 'top1' and 'top5' hold 0\.7 and 91"),
        ("model,top1", ["a,70%", "b,0.7"], "1 of 2 values carry a percent sign"),
        ("model,test_set,top1", ["a,x,0.3", "b,x,0.4", "c,x,0.2", "a,y,70"], r"column 'top1' holds both 0\.3 and 70"),
        ("model,x,imagenet", ["a,0.3,70", "b,0.4,71", "c,0.2,72"], r"columns 'x' and 'imagenet' hold 0\.3 and 72"),
    ],
)
def test_case_08_mixtures_are_refused(tmp_path: Path, header: str, rows: list[str], message: str):
    path = write_csv(tmp_path / "a.csv", header, rows)
    with pytest.raises(InputError, match=message):
        load_accuracies(f"{path}::x" if "x" in header or ",x," in rows[0] else path)
    stated = f"{path}::x" if "x" in header or ",x," in rows[0] else path
    if "%" not in rows[0]:
        assert load_accuracies(stated, unit="percent").unit == "percent"


def test_case_08_a_stated_unit_must_be_possible(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "model,top1", ["a,70", "b,71"])
    with pytest.raises(InputError, match=r"holds 70, outside of 0 to 1 \(fraction, stated\)"):
        load_accuracies(path, unit="fraction")


def test_case_09_the_same_metric_twice_is_an_error(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "model,top1,acc@1", ["a,70,71"])
    error = refusal(lambda: load_accuracies(path), InputError)
    assert "columns 'top1' and 'acc@1' both mean top1" in error.what
    assert "--column top1=top1" in error.fix
    assert figures(load_accuracies(path, columns={"top1": "acc@1"})) == [0.71]
    same = write_csv(tmp_path / "b.csv", "model,top5,top5", ["a,70,71"])
    with pytest.raises(InputError, match="column 'top5' is there more than once"):
        load_accuracies(same)


def test_case_20_rows_that_say_the_same_collapse_with_a_notice(tmp_path: Path):
    accuracies = load_accuracies(write_csv(tmp_path / "a.csv", "model,top1,note", ["a,70.5,x", "a,70.5,y", "b,71,z"]))
    assert accuracies.models == (ModelId("a"), ModelId("b"))
    [notice] = accuracies.notices
    assert notice.code == "duplicates-collapsed"
    assert "counted once: a" in notice.message


def test_case_20_rows_that_differ_are_an_error_that_names_the_variant(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "model,top1,size", ["a,70.5,224", "a,71.5,288", "b,71,224"])
    error = refusal(lambda: load_accuracies(path), InputError)
    assert "rows of one model that differ: a" in error.what
    assert "--column variant=size" in error.fix
    columns = {"model": "model", "variant": "size", "top1": "top1"}
    assert load_accuracies(path, columns=columns).models[1] == ModelId("a", "288")
    plain = write_csv(tmp_path / "b.csv", "model,top1", ["a,70.5", "a,71.5"])
    assert "Keep one row for each model" in refusal(lambda: load_accuracies(plain), InputError).fix


def test_case_16_names_in_a_table_stay_as_they_are(tmp_path: Path):
    rows = ["timm/resnet50.a1_in1k,70", "模型,71", "ResNet,72", "resnet,73", "007,74", "NA,75"]
    models = load_accuracies(write_csv(tmp_path / "a.csv", "model,top1", rows)).models
    assert [model.model for model in models] == ["timm/resnet50.a1_in1k", "模型", "ResNet", "resnet", "007", "NA"]


def test_a_table_with_ids_of_models_is_still_one_of_accuracies(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "id,model,top1", ["1,a,70.5", "2,b,71"])
    assert isinstance(load(path), Accuracies)


def test_a_long_table_of_answers_is_none_of_accuracies(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "model,correct", ["a,1", "a,0", "b,1", "b,1"])
    found = load(path)
    assert isinstance(found, Predictions)
    assert found.correct().tolist() == [[True, False], [True, True]]


def test_a_table_is_no_folder(tmp_path: Path):
    with pytest.raises(InputError, match="a folder where a table of accuracies is needed"):
        load_accuracies(tmp_path)
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(InputError, match=r"a \.json file where a table of accuracies is needed"):
        load_accuracies(tmp_path / "a.json")
    table = write_csv(tmp_path / "a.csv", "model,top1", ["a,70"])
    with pytest.raises(UsageError, match="no column of test sets to choose 'v4' from"):
        load_accuracies(f"{table}::v4")


@given(st.lists(st.text(max_size=12), min_size=1, max_size=6))
def test_numbers_are_read_or_refused_and_nothing_else(texts: list[str]):
    numbers = parse_numbers(np.array(texts))
    assert numbers is None or (len(numbers.values) == len(texts) and not np.isinf(numbers.values).any())


@given(
    st.lists(st.integers(0, 10_000), min_size=3, max_size=20).filter(lambda values: max(values) >= 1000),
    st.sampled_from([2, 3, 4]),
)
def test_case_08_percent_and_fraction_of_the_same_figures_agree(values: list[int], digits: int):
    percent = parse_numbers(np.array([f"{value / 100:.{digits}f}" for value in values]))
    fraction = parse_numbers(np.array([f"{value / 10_000:.{digits + 2}f}" for value in values]))
    assert percent is not None
    assert fraction is not None
    assert find_unit({"top1": fraction}, {}, None, "here").name == "fraction"
    if any(0 < value <= 100 for value in values):
        with pytest.raises(InputError, match="One looks like a fraction"):
            find_unit({"top1": percent}, {}, None, "here")
    else:
        assert find_unit({"top1": percent}, {}, None, "here").name == "percent"
