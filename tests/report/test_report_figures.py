"""Figures: what is drawn, in the forms that papers take."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from importlib import resources

import pytest
from fake import HOSTILE, NAMES, comparison, result

from resit.report.charts import bands, rows, scatter
from resit.report.figures import export, figures, picture, specs
from resit.report.frame import frame
from resit.report.page import render
from resit.report.paper import drop, ranks
from resit.study.result import SCALES, Estimate


def test_each_figure_is_svg_png_and_pdf() -> None:
    files = figures(result(comparison("v4")))
    stems = {"scatter-v4-top1-linear", "scatter-v4-top1-probit", "scatter-v4-top1-logit", "drop-v4-top1", "ranks-v4-top1"}
    assert set(files) == {f"figures/{stem}.{end}" for stem in stems for end in ("svg", "png", "pdf")}
    heads = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert all(content.startswith(heads[path.rpartition(".")[2]]) for path, content in files.items())
    svg = files["figures/scatter-v4-top1-logit.svg"].decode()
    assert "v4, top-1 accuracy" in svg
    assert svg.count('aria-roledescription="point"') == len(NAMES)
    assert "senet" in svg
    assert "nan" not in svg.lower().replace("nasnet", "")


def test_a_picture_of_a_page_has_letters_of_the_size_of_the_pages_own_charts() -> None:
    spec = scatter(comparison("v4"), "val", "linear", paper=True)
    svg = picture(spec)
    width, height, *box = map(
        float, re.search(r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()
    )
    sizes = {float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)}
    script = (resources.files("resit.report") / "templates" / "scatter.js").read_text()
    assert min(sizes) * width / box[0] == float(re.search(r"labelFontSize: (\d+)", script)[1]) == 12
    assert height / box[1] == pytest.approx(width / box[0], abs=0.01)
    assert width > 500


def test_the_same_result_gives_the_same_figures() -> None:
    one = result(comparison("v4"))
    path, spec = next(specs(one))
    assert dict(export(path, spec)) == dict(export(path, spec))


def test_figures_are_drawn_with_little_known_and_hostile_names() -> None:
    files = figures(result(comparison("v4", full=False, names=HOSTILE)))
    drop_svg = files["figures/drop-v4-top1.svg"].decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in drop_svg
    assert "<script" not in drop_svg


@pytest.mark.parametrize("scale", SCALES)
def test_everything_lies_in_the_frame(scale: str) -> None:
    whole = comparison()
    area = frame(whole, scale)
    for row in whole.models:
        assert area.x[0] < _on(scale, row.original.accuracy) < area.x[1]
        assert area.y[0] < _on(scale, row.new.accuracy) < area.y[1]


@pytest.mark.parametrize("scale", SCALES)
def test_accuracies_of_0_and_1_are_on_the_paper(scale: str) -> None:
    whole = comparison()
    first, last = whole.models[0], whole.models[-1]
    changed = (
        dataclasses.replace(first, new=dataclasses.replace(first.new, accuracy=0.0, low=0.0)),
        *whole.models[1:-1],
        dataclasses.replace(last, new=dataclasses.replace(last.new, accuracy=1.0, high=1.0)),
    )
    area = frame(dataclasses.replace(whole, models=changed), scale)
    assert all(map(math.isfinite, (*area.x, *area.y)))


def test_a_line_below_the_models_is_not_bent_at_the_edge() -> None:
    whole = comparison()
    line = whole.fits["logit"]
    assert line.band is not None
    deep = dataclasses.replace(line.band, fit=(1e-9, *line.band.fit[1:]), low=(1e-10, *line.band.low[1:]))
    changed = dataclasses.replace(whole, fits={"logit": dataclasses.replace(line, band=deep)})
    assert bands(changed, "logit")[0]["y"] == 1e-9
    area = frame(changed, "logit")
    assert area.y[0] > _on("logit", 1e-6)
    layer = scatter(changed, "val", "logit", paper=True)["layer"][1]
    assert layer["mark"]["clip"]
    assert "clip" not in scatter(whole, "val", "logit", paper=True)["layer"][1]["mark"]
    assert "1e-12" in layer["transform"][1]["calculate"]


def test_near_shows_the_models_of_the_line() -> None:
    whole = comparison()
    far = whole.models[7]
    assert not far.baseline
    moved = dataclasses.replace(far, original=dataclasses.replace(far.original, accuracy=0.1, low=0.09, high=0.11))
    changed = dataclasses.replace(whole, models=(*whole.models[:7], moved, whole.models[8]))
    assert frame(changed, "linear").x[0] < 0.1
    assert frame(changed, "linear", near=True).x[0] > 0.5


def test_specifications_are_plain_json_without_addresses_to_fetch() -> None:
    for _, spec in specs(result()):
        text = json.dumps(spec, allow_nan=False)
        assert '"url"' not in text


def test_a_missing_line_draws_no_band() -> None:
    bare = comparison(full=False)
    assert bands(bare, "linear") == []
    assert rows(bare)[0]["x1"] is None
    assert scatter(bare, "val", "linear", paper=True)["datasets"]["band"] == []


@pytest.mark.parametrize("scale", SCALES)
def test_a_line_without_an_interval_is_drawn_without_a_band(scale: str) -> None:
    whole = comparison()
    fit = dataclasses.replace(whole.fits[scale], slope=Estimate(0.5), intercept=Estimate(0.25), band=None)
    changed = dataclasses.replace(whole, fits={scale: fit})
    old = [row.original.accuracy for row in whole.models if row.baseline]
    first, last = bands(changed, scale)
    assert (first["x"], last["x"]) == pytest.approx((min(old), max(old)))
    for point in (first, last):
        assert set(point) == {"x", "y"}
        assert _on(scale, point["y"]) == pytest.approx(0.25 + 0.5 * _on(scale, point["x"]), abs=1e-4)
    svg = dict(export("line", scatter(changed, "val", scale, paper=True)))["line.svg"].decode()
    assert svg.count('aria-roledescription="line mark"') == 2  # the diagonal is the other
    page = render(result(changed))
    assert "fit, without a band" in page
    assert "fit with its band" not in page


def test_names_are_on_the_drop_only_where_they_can_be_read() -> None:
    many = comparison(names=tuple(f"m{i}" for i in range(120)))
    assert drop(many)["layer"][-1]["encoding"]["y"]["axis"] is None
    assert drop(comparison())["layer"][-1]["encoding"]["y"]["axis"] is not None


def test_real_swaps_are_marked_on_the_ranks() -> None:
    assert sum(row["swap"] for row in ranks(comparison(), "val")["data"]["values"]) == 2


def _on(scale: str, fraction: float) -> float:
    from resit.report.scales import forward

    return forward(scale, fraction)
