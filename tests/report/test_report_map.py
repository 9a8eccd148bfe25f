"""The map in the report of groups: every country has its place or is told, and the page stays offline."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import resit
from resit import Benchmark, ModelId, Predictions
from resit.report.places import countries, every_place, find_place, outline
from resit.report.world import FEW, NOTHING, world
from resit.study.groups_result import GroupStudy

SPELLINGS = {
    "CIV": ["Cote d'Ivoire", "Côte d’Ivoire", "Ivory Coast", "CI", "CIV"],
    "USA": ["USA", "United States", "United States of America", "US", "U.S.A.", "the United States"],
    "KOR": ["South Korea", "SouthKorea", "south_korea", "Korea, Republic of", "KR"],
    "BFA": ["Burkina Faso", "BurkinaFaso", "BF"],
    "PSE": ["Palestine", "State of Palestine", "PS"],
    "TUR": ["Turkey", "Türkiye", "TURKIYE"],
    "NLD": ["Netherlands", "The Netherlands", "Holland"],
    "GBR": ["UK", "Great Britain", "United Kingdom", "GB"],
    "COD": ["DR Congo", "Democratic Republic of the Congo", "Congo, Dem. Rep."],
    "TTO": ["Trinidad and Tobago", "Trinidad & Tobago"],
    "CZE": ["Czech Republic", "Czechia"],
    "NAM": ["Namibia", "NA"],
    "SGP": ["Singapore"],
}


def study(groups: dict[str, list[str]], by: str, models: int = 1, **more: Any) -> GroupStudy:
    """Groups of which the later ones of the alphabet are answered better."""
    n = len(groups[by])
    codes = np.unique(groups[by], return_inverse=True)[1]
    rng = np.random.default_rng(0)
    right = rng.random((models, n)) < 0.4 + 0.5 * codes / max(codes.max(), 1) - 0.1 * np.arange(models)[:, None]
    columns = {name: np.array(values, str) for name, values in groups.items()}
    benchmark = Benchmark("places", np.zeros((n, 1), np.int32), groups=columns)
    data = Predictions(benchmark, tuple(ModelId(f"m{at}") for at in range(models)), (~right).astype(np.int16)[:, :, None])
    return resit.groups(data, by=by, resamples=0, **more).studies[0]


def of(*names: str, n: int = 40) -> list[str]:
    return [name for name in names for _ in range(n)]


def told(found: Any) -> dict[str, str]:
    """What each country of a map says, by key, dots too."""
    rows = list(found.spec["transform"][0]["from"]["data"]["values"])
    for layer in found.spec["layer"]:
        rows += layer.get("data", {}).get("values", [])
    return {row["key"]: row["told"] for row in rows}


@pytest.mark.parametrize(("key", "names"), SPELLINGS.items())
def test_a_country_is_found_by_all_its_names(key: str, names: list[str]):
    for name in names:
        found = find_place(name)
        assert found is not None, name
        assert found.key == key, name


@pytest.mark.parametrize("name", ["Congo", "Korea", "Atlantis", "(missing)", "", "de", "Africa", "---"])
def test_what_is_no_country_or_may_be_two_is_not_placed(name: str):
    assert find_place(name) is None


def test_every_place_is_either_in_the_outline_or_a_dot_and_no_name_stands_for_two():
    shapes = {shape["id"] for shape in outline()["objects"]["countries"]["geometries"]}
    places = every_place()
    assert {place.key for place in places if place.dot is None} == shapes
    assert len({place.key for place in places}) == len(places) == 245
    for place in places:
        assert find_place(place.name) == place
        assert place.dot is None or (-180 <= place.dot[0] <= 180 and -90 <= place.dot[1] <= 90)


def _corner(shape: dict[str, Any]) -> tuple[float, float]:
    """Least longitude and latitude of a country's outline."""
    rings = [ring for part in (shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]) for ring in part]
    whole = outline()
    points = []
    for arc in (at for ring in rings for at in ring):
        steps = np.cumsum(whole["arcs"][~arc if arc < 0 else arc], axis=0)
        points.append(steps * whole["transform"]["scale"] + whole["transform"]["translate"])
    west, south = np.concatenate(points).min(axis=0)
    return float(west), float(south)


def test_french_guiana_is_not_in_the_colour_of_france():
    shapes = {shape["id"]: shape for shape in outline()["objects"]["countries"]["geometries"]}
    assert _corner(shapes["FRA"]) > (-10, 40)
    west, south = _corner(shapes["GUF"])
    assert (-56 < west < -50, 0 < south < 5) == (True, True)
    found = world(study({"country": of("France", "Peru")}, "country"))
    assert found is not None
    assert told(found)["GUF"] == f"French Guiana: {NOTHING}"


@pytest.mark.parametrize(("file", "column"), [("geode", "ip_country"), ("dollarstreet", "country")])
def test_all_countries_of_the_real_sets_are_placed(shared_data: Path, file: str, column: str):
    with (shared_data / "geography" / f"{file}_metadata.csv").open(encoding="utf-8-sig", newline="") as lines:
        names = sorted({line[column] for line in csv.DictReader(lines)})
    found = countries(names, column)
    assert sorted(found) == names
    assert len({place.key for place in found.values()}) == len(names)


@pytest.mark.parametrize(
    ("names", "column", "placed"),
    [
        (["Kenya", "Peru", "Atlantis"], "where", 2),
        (["Kenya", "Atlantis", "Mu"], "country", 0),
        (["Kenya"], "country", 0),
        (["Kenya", "Atlantis"], "country", 0),
        (["AM", "PM"], "half", 0),
        (["AM", "PM"], "country_code", 2),
        (["DE", "FR", "NA", "KE", "PE"], "place", 5),
        (["AL", "AK", "AZ", "CA", "CO", "GA", "NY", "TX"], "state", 0),
        (["KEN", "PER", "XXX"], "iso3", 2),
        (["AM", "PM"], "combination", 0),
        (["Africa", "Asia", "Europe"], "region", 0),
    ],
)
def test_a_map_needs_most_groups_to_be_countries(names: list[str], column: str, placed: int):
    assert len(countries(names, column)) == placed


def test_the_map_says_of_each_country_its_figures_and_shows_the_best_model():
    one = study({"country": of("Kenya", "Peru", "Singapore")}, "country", models=3)
    found = world(one)
    assert found is not None
    model = max(one.models, key=lambda each: each.accuracy.estimate)
    assert found.label == f"Map of accuracy by country: top-1 on places ({model.model}, the most accurate of 3 models)"
    score = next(each for each in model.groups if each.group == "Peru")
    said = told(found)
    assert said["PER"].startswith(f"Peru: {100 * score.accuracy.estimate:.2f}% [{100 * score.accuracy.low:.2f}, ")
    assert said["PER"].endswith(f"{score.correct} of 40 right")
    assert said["FRA"] == f"France: {NOTHING}"
    assert said["SGP"].startswith("Singapore: ")
    assert "Drawn as a dot, as the outline leaves them out: Singapore." in found.notes
    domain = found.spec["layer"][1]["encoding"]["color"]["scale"]["domain"]
    values = [100 * each.accuracy.estimate for each in model.groups]
    assert (domain[0], domain[-1]) == (pytest.approx(min(values)), pytest.approx(max(values)))


def test_names_without_a_place_doubles_and_small_groups_are_told():
    names = [*of("Kenya", "Peru", "USA", "Atlantis", "Congo"), *of("United States", "Chile", n=10), ""]
    found = world(study({"country": names}, "country"))
    assert found is not None
    notes = " ".join(found.notes)
    assert "no country is known by these names (groups): (missing), Atlantis, Congo." in notes
    assert "Not drawn, as a larger one is the same country: United States (United States)." in notes
    assert "Dark grey, with too few examples for a colour: Chile (10)." in notes
    assert told(found)["USA"].startswith("USA: ")
    assert told(found)["CHL"].endswith(f"{FEW} for a colour")
    assert "Natural Earth" in found.notes[-1]


def test_regions_are_drawn_by_the_countries_that_they_are_made_of():
    country = of("Kenya", "Ghana", "Peru", "Mu")
    region = ["South"] * 80 + ["West"] * 40 + ["Lost"] * 40
    found = world(study({"region": region, "country": country}, "region"))
    assert found is not None
    notes = " ".join(found.notes)
    assert "Each country has the colour of its region (countries: column country)." in notes
    assert "(countries): Mu." in notes
    assert "(groups): Lost." in notes
    said = told(found)
    assert said["KEN"].startswith("Kenya in South: ")
    assert said["KEN"].split(": ")[1] == said["GHA"].split(": ")[1]
    country[0], region[1] = "Peru", "West"
    strays = world(study({"region": region, "country": country}, "region"))
    assert strays is not None
    assert "Examples of other groups than their country's: Kenya 1, Peru 1." in strays.notes


def test_there_is_no_map_of_other_groups_nor_where_all_are_small():
    assert world(study({"sex": ["f", "m"] * 40}, "sex")) is None
    assert world(study({"region": of("Africa", "Asia")}, "region")) is None
    assert world(study({"country": of("Kenya", "Peru", n=10)}, "country")) is None
    assert world(study({"country": of("Kenya", "Peru", n=10)}, "country", min_size=5)) is not None


def test_all_alike_have_a_scale_all_the_same():
    found = world(study({"country": of("Kenya", "Kenya", "Peru", n=1)}, "country", min_size=0))
    assert found is not None
    domain = found.spec["layer"][1]["encoding"]["color"]["scale"]["domain"]
    assert domain == sorted(set(domain))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Report with a map in which a country has a name that would break a page."""
    names = of('<"Kenya">', "Peru", "Malta", "<script>Mu")
    benchmark = Benchmark("set", np.zeros((160, 1), np.int32), groups={"country": np.array(names)})
    data = Predictions(benchmark, (ModelId("m"),), (np.arange(160) % 3 == 0).astype(np.int16)[None, :, None])
    return resit.report(resit.groups(data, by="country", resamples=50), tmp_path_factory.mktemp("map") / "report")


def test_the_page_has_the_map_with_words_on_hover_and_its_note(page: Path):
    text = page.read_text()
    assert "<figcaption>Map of accuracy by country: top-1 on set (m)</figcaption>" in text
    assert re.search(r"<title>Peru: \d+\.\d\d% \[[^<]*of 40 right</title>", text)
    assert text.count("<title>") > 170
    assert "&lt;script&gt;Mu" in text
    assert "<script" not in text
    assert '<"Kenya">' not in text
    assert re.search(r"<title>&lt;&quot;Kenya&quot;&gt;: \d", text)
    assert {path.name for path in (page.parent / "figures").glob("map-*")} == {
        f"map-set-country-top1.{kind}" for kind in ("svg", "png", "pdf")
    }


def test_the_page_names_nothing_on_the_network_that_it_would_load(page: Path):
    text = page.read_text()
    assert not re.search(r'(src|xlink:href)="(?!#)|url\((?!["\']?#)|@import|<link|<iframe', text)
    assert "vega.github.io" not in text
    assert "default-src 'none'" in text
    assert json.loads((page.parent / "result.json").read_text())["studies"][0]["countries"] is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chromium_draws_the_map_and_asks_for_nothing(page: Path, browser: Any, scheme: str):
    asked: list[str] = []
    shown = browser.new_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(page.as_uri())
    figure = shown.locator("figure", has_text="Map of accuracy")
    box = figure.locator("svg").bounding_box()
    peru = figure.locator("path[aria-label^='Peru']").bounding_box()
    shown.close()
    assert asked == [page.as_uri()]
    assert box is not None
    assert 200 < box["width"] < 360
    assert peru is not None
    assert peru["width"] > 5
