"""Figures of a release: the funnel, and how often people selected the images, old and new."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from resit.build.funnel import Funnel
from resit.build.keys import Ints

if TYPE_CHECKING:
    import pyarrow as pa

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
DOTS = 200
MOST_CLASSES = 40
BINS = 10
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
# Okabe and Ito's palette.
COLOURS = {
    "selected": "#0072B2",
    "eligible": "#56B4E9",
    "unreviewed": "#E69F00",
    "near-duplicates": "#CC79A7",
    "too few votes": "#999999",
    "blacklisted": "#D55E00",
    "other": "#000000",
}
CLIP = re.compile(r'(?<=id="clip)\d+(?=")|(?<="url\(#clip)\d+(?=\)")')
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def funnel_chart(funnel: Funnel) -> Spec:
    """What became of the candidates: of each class, or of all where there are more than 40.

    Parameters
    ----------
    funnel : Funnel

    Returns
    -------
    dict
        A Vega-Lite specification with its data.
    """
    few = len(funnel.rows) <= MOST_CLASSES
    shown = list(zip(funnel.labels, funnel.rows, strict=True)) if few else [("all classes", funnel.total)]
    rows = [
        {
            "class": label,
            "fate": fate,
            "n": n,
            "order": place,
        }
        for label, row in shown
        for place, (fate, n) in enumerate(
            {
                "selected": row.selected,
                "eligible": row.eligible - row.selected,
                "unreviewed": row.unreviewed,
                "near-duplicates": row.near_duplicates,
                "too few votes": row.too_few_votes,
                "blacklisted": row.blacklisted,
                "other": row.other,
            }.items()
        )
    ]
    return {
        "$schema": SCHEMA,
        "data": {"values": _printable(rows)},
        "width": 420,
        "height": {"step": 16},
        "mark": "bar",
        "encoding": {
            "y": {"field": "class", "type": "nominal", "sort": None, "title": None},
            "x": {"field": "n", "type": "quantitative", "title": "candidates", "stack": "zero", "axis": {"tickMinStep": 1}},
            "color": {
                "field": "fate",
                "type": "nominal",
                "title": None,
                "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
                "legend": {"orient": "bottom", "columns": 4},
            },
            "order": {"field": "order"},
        },
    }


def frequency_histogram(table: pa.Table) -> Ints:
    """Images by selection frequency, in ten bins that are closed on the left, the last also on the right.

    Parameters
    ----------
    table : pyarrow.Table
        With columns selected and shown; images without votes are not counted.

    Returns
    -------
    ndarray of int64, shape (10,)
        Counted in whole numbers: the bin is ``min(9, 10 * selected // shown)``.
    """
    selected, shown = (np.asarray(table[name], np.int64) for name in ("selected", "shown"))
    asked = shown > 0
    return np.bincount(np.minimum(BINS - 1, BINS * selected[asked] // shown[asked]), minlength=BINS).astype(np.int64)


def frequency_chart(sets: dict[str, Ints]) -> Spec:
    """Share of images by selection frequency, a colour a set.

    Parameters
    ----------
    sets : dict of str to ndarray of int64, shape (10,)
        Histograms by name; those without images are left out.

    Returns
    -------
    dict
        A Vega-Lite specification with its data.
    """
    rows = [
        {"set": name, "from": place / BINS, "share": float(n / counts.sum())}
        for name, counts in sets.items()
        if counts.sum()
        for place, n in enumerate(counts.tolist())
    ]
    return {
        "$schema": SCHEMA,
        "data": {"values": _printable(rows)},
        "width": 420,
        "height": 200,
        "mark": "bar",
        "encoding": {
            "x": {"field": "from", "type": "ordinal", "title": "selection frequency, from", "axis": {"labelAngle": 0}},
            "xOffset": {"field": "set", "sort": None},
            "y": {"field": "share", "type": "quantitative", "title": "share of images", "axis": {"format": "%"}},
            "color": {
                "field": "set",
                "type": "nominal",
                "title": None,
                "sort": None,
                "scale": {"range": ["#999999", "#E69F00", "#0072B2"]},
                "legend": {"orient": "bottom"},
            },
        },
    }


def export(name: str, spec: Spec) -> Iterator[tuple[str, bytes]]:
    """A figure as SVG and PNG, each under its name; the same bytes each time."""
    import vl_convert

    numbers: dict[str, str] = {}
    drawn = vl_convert.vegalite_to_svg(spec, config={"background": "white", "font": FONT, "padding": 4})
    svg = CLIP.sub(lambda found: numbers.setdefault(found[0], str(len(numbers) + 1)), drawn)
    yield f"{name}.svg", svg.encode()
    yield f"{name}.png", vl_convert.svg_to_png(svg, ppi=DOTS)


def _printable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without characters that XML cannot hold, on which the converter would break down."""
    return [
        {key: NOT_XML.sub("\ufffd", value) if isinstance(value, str) else value for key, value in row.items()} for row in rows
    ]
