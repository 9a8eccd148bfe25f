"""A map of the world in the colours of groups' accuracies, for groups that are countries or made of countries."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from resit.report import format as fmt
from resit.report.charts import SCHEMA, Rows
from resit.report.frame import Spec
from resit.report.paper import INK
from resit.report.places import Place, countries, every_place, outline
from resit.study.groups_result import GroupScore, GroupStudy, ModelGroups

BLUES = (
    "#b3d9f2",
    "#6db5e2",
    "#2f8cc4",
    "#005a8f",
    "#002f4f",
)  # the palette's two blues, from light to dark: also without colour
FEW, NOTHING = "too few examples", "no data"
GREYS = ("#a3a3a0", "#ececea")
WIDTH, HEIGHT = 460, 212
MARKED = re.compile(r'(<path aria-label="([^"]*)"[^>]*?)(?:/>|></path>)')


@dataclass(frozen=True, slots=True)
class Map:
    """A map: what it shows, its specification, and what stands beneath it, sentence by sentence."""

    label: str
    spec: Spec
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A country on the map, the group whose accuracy it shows, its name in the data, and how many examples it has."""

    place: Place
    score: GroupScore
    said: str
    n: int


def world(study: GroupStudy) -> Map | None:
    """The map of a study: of its most accurate model.

    Parameters
    ----------
    study : GroupStudy

    Returns
    -------
    Map or None
        None where groups are neither countries nor made of countries, or none has enough examples to be shown.
    """
    if len(study.columns) > 1 or not study.models:
        return None
    model = max(study.models, key=lambda one: one.accuracy.estimate or 0.0)
    found = _of_countries(study, model) or _of_regions(study, model)
    if found is None:
        return None
    spots, notes = found
    drawn: dict[str, _Spot] = {}
    again = []
    for spot in sorted(spots, key=lambda spot: -spot.n):
        if drawn.setdefault(spot.place.key, spot) is not spot:
            again.append(f"{spot.said} ({spot.place.name})")
    shown = [100 * (spot.score.accuracy.estimate or 0.0) for spot in drawn.values() if not spot.score.small]
    if not shown:
        return None
    if again:
        notes.append(f"Not drawn, as a larger one is the same country: {_listed(again)}.")
    of = f"{model.model}, the most accurate of {len(study.models):,} models" if len(study.models) > 1 else model.model
    label = f"Map of accuracy by {study.by}: {fmt.metric(study.metric)} on {study.set.name} ({of})"
    title = [f"{study.set.name}, {fmt.metric(study.metric)} accuracy by {study.by}", model.model]
    return Map(label, _spec(list(drawn.values()), (min(shown), max(shown)), title), tuple(_notes(drawn, notes)))


def _of_countries(study: GroupStudy, model: ModelGroups) -> tuple[list[_Spot], list[str]] | None:
    """Groups that are countries, and which groups are none."""
    found = countries([score.group for score in model.groups], study.columns[0])
    spots = [_Spot(found[one.group], one, one.group, one.n) for one in model.groups if one.group in found]
    return (spots, _lost([one.group for one in model.groups if one.group not in found], "groups")) if spots else None


def _of_regions(study: GroupStudy, model: ModelGroups) -> tuple[list[_Spot], list[str]] | None:
    """Groups that are made of countries, and which countries and groups have no place."""
    if study.countries is None:
        return None
    found = countries([one.country for one in study.countries.of_groups], study.countries.column)
    scores = {score.group: score for score in model.groups}
    known = [one for one in study.countries.of_groups if one.country in found and one.group in scores]
    spots = [_Spot(found[one.country], scores[one.group], one.country, one.n) for one in known]
    if not spots:
        return None
    lost = [one.country for one in study.countries.of_groups if one.country not in found]
    placed = {one.group for one in known}
    notes = [f"Each country has the colour of its {study.by} (countries: column {study.countries.column})."]
    notes += _lost(lost, "countries") + _lost([name for name in scores if name not in placed], "groups")
    if strays := [f"{one.country} {one.n_elsewhere:,}" for one in study.countries.of_groups if one.n_elsewhere]:
        notes.append(f"Examples of other groups than their country's: {_listed(strays)}.")
    return spots, notes


def _lost(names: Sequence[str], what: str) -> list[str]:
    return [f"Not on the map, as no country is known by these names ({what}): {_listed(names)}."] if names else []


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _notes(drawn: dict[str, _Spot], more: list[str]) -> Iterator[str]:
    few = sorted({f"{spot.score.group} ({spot.score.n:,})" for spot in drawn.values() if spot.score.small})
    if few:
        yield f"Dark grey, with too few examples for a colour: {_listed(few)}."
    if dots := sorted(spot.said for spot in drawn.values() if spot.place.dot):
        yield f"Drawn as a dot, as the outline leaves them out: {_listed(dots)}."
    yield from more
    yield "Outline: Natural Earth (public domain), borders as drawn there."


def _row(place: Place, spot: _Spot | None) -> dict[str, object]:
    """What the map knows of a country."""
    if spot is None:
        return {"key": place.key, "kind": NOTHING, "told": f"{place.name}: {NOTHING}"}
    score = spot.score
    who = score.group if spot.said == score.group else f"{spot.said} in {score.group}"
    row: dict[str, object] = {
        "key": place.key,
        "kind": FEW if score.small else "shown",
        "x": 100 * (score.accuracy.estimate or 0.0),
        "group": who,
        "accuracy": fmt.percent(score.accuracy.estimate),
        "interval": fmt.bounds(score.accuracy.low, score.accuracy.high, 2, 100) or fmt.MISSING,
        "n": f"{score.n:,}",
    }
    told = f"{who}: {row['accuracy']} {row['interval']}, {score.correct:,} of {score.n:,} right"
    where = {"lon": place.dot[0], "lat": place.dot[1]} if place.dot else {}
    return row | where | {"told": f"{told}, {FEW} for a colour" if score.small else told}


def _spec(spots: Sequence[_Spot], ends: tuple[float, float], title: list[str]) -> Spec:
    """Countries without data, with too few examples, and with a colour; then the dots."""
    by_key = {spot.place.key: spot for spot in spots}
    rows: Rows = [_row(place, by_key.get(place.key)) for place in every_place() if place.dot is None]
    dots: Rows = [_row(spot.place, spot) for spot in spots if spot.place.dot is not None]
    fields = ["kind", "x", "told", "group", "accuracy", "interval", "n"]
    joined = {"lookup": "id", "from": {"data": {"values": rows}, "key": "key", "fields": fields}}
    low, high = ends if ends[0] < ends[1] else (ends[0] - 1, ends[1] + 1)
    steps = [low + (high - low) * at / (len(BLUES) - 1) for at in range(len(BLUES))]
    bar = {"title": title, "orient": "bottom", "gradientLength": 200, "titleLimit": WIDTH, "labelExpr": "datum.label + '%'"}
    colour = {"field": "x", "type": "quantitative", "scale": {"domain": steps, "range": list(BLUES)}, "legend": bar}
    kinds = [name for name in (FEW, NOTHING) if name == NOTHING or any(spot.score.small for spot in spots)]
    key = {"title": None, "orient": "bottom", "symbolType": "square", "symbolStrokeWidth": 0, "symbolSize": 60}
    grey_scale = {"domain": kinds, "range": list(GREYS[-len(kinds) :])}
    grey = {"field": "kind", "type": "nominal", "scale": grey_scale, "legend": key}
    tips = [{"field": name, "type": "nominal"} for name in ("group", "accuracy", "interval", "n")]
    told = {"description": {"field": "told", "type": "nominal"}, "tooltip": tips}
    with_colour, without = "datum.kind === 'shown'", "datum.kind !== 'shown'"
    land = {"type": "geoshape", "stroke": "white", "strokeWidth": 0.4}
    known = {**land, "stroke": INK, "strokeWidth": 0.3}
    dot = {"type": "circle", "size": 34, "opacity": 1, "stroke": INK, "strokeWidth": 0.6}
    spread = {"longitude": {"field": "lon", "type": "quantitative"}, "latitude": {"field": "lat", "type": "quantitative"}}
    layers: list[Spec] = [
        {"transform": [{"filter": without}], "mark": land, "encoding": {"fill": grey, **told}},
        {"transform": [{"filter": with_colour}], "mark": known, "encoding": {"color": colour, **told}},
    ]
    for test, channel, how in ((without, "fill", grey), (with_colour, "color", colour)):
        if dots:
            own = {"data": {"values": dots}, "transform": [{"filter": test}]}
            layers.append({**own, "mark": dot, "encoding": {channel: how, **spread, **told}})
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": HEIGHT,
        "projection": {"type": "equalEarth"},
        "data": {"values": outline(), "format": {"type": "topojson", "feature": "countries"}},
        "transform": [joined],
        "layer": layers,
    }


def with_titles(svg: str) -> str:
    """A map's SVG whose countries say on hover what they are, without any script."""

    def titled(found: re.Match[str]) -> str:
        return f"{found[1]}><title>{html.escape(html.unescape(found[2]))}</title></path>"

    return MARKED.sub(titled, svg)
