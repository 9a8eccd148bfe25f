"""The page: one HTML file with everything in it, that asks the network for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from resit.data.paths import counted
from resit.report import format as fmt
from resit.report.bundle import vega_bundle
from resit.report.charts import CROWD, bands, rows, scatter
from resit.report.human import human_view
from resit.report.scales import NAMES
from resit.report.summarise import View, gaps, leads, methods, views
from resit.study.result import SCALES, Comparison, Result

STYLES = ("base.css", "layout.css", "tables.css", "charts.css")
COLOURS = {"light": "colour", "dark": "dark"}
SCRIPTS = ("scatter.js", "tables.js", "models.js", "page.js")


def render(result: Result, bundle: Callable[[], str] = vega_bundle) -> str:
    """The whole page.

    Parameters
    ----------
    result : Result
        What is shown; nothing else is read.
    bundle : callable
        Returns the script that draws the charts.

    Returns
    -------
    str
        HTML.
    """
    kit = environment()
    shown = views(result)
    return str(
        kit.get_template("page.html.j2").render(
            result=result,
            views=shown,
            leads=leads(result),
            gaps=gaps(result),
            human=human_view(result.human),
            methods=methods(result),
            sets=list(dict.fromkeys(c.new.name for c in result.comparisons)),
            metrics=list(dict.fromkeys(c.metric for c in result.comparisons)),
            scales=NAMES,
            charts={view.id: _chart(view, result.original.name) for view in shown},
            styles=styles(kit),
            scripts=[bundle(), *(_source(kit, name) for name in SCRIPTS)],
        )
    )


def environment() -> Any:
    """Jinja with our templates: what is quoted is escaped, what is missing is an error."""
    import jinja2

    kit = jinja2.Environment(
        loader=jinja2.PackageLoader("resit.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    kit.globals.update(fmt=fmt, counted=counted)
    kit.filters["data"] = data_block
    return kit


def styles(kit: Any) -> list[str]:
    """Our style sheets."""
    return [_source(kit, name) for name in STYLES]


def _source(kit: Any, name: str) -> str:
    """The text of a style sheet or script of ours."""
    return str(kit.loader.get_source(kit, name)[0])


def data_block(value: object) -> Any:
    """JSON that can stand in a script element whatever names it holds."""
    import markupsafe

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign, escape in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        text = text.replace(sign, escape)
    return markupsafe.Markup(text)


def _chart(view: View, original: str) -> dict[str, Any]:
    """What the page's scatter reads: models column by column, and for each scale the line and the specifications."""
    comparison: Comparison = view.comparison
    models = rows(comparison)
    return {
        "crowd": len(models) > CROWD,
        "colours": {kind: [getattr(look, name) for look in view.palette.looks] for kind, name in COLOURS.items()},
        "fields": list(models[0]),
        "models": [list(row.values()) for row in models],
        "scales": {
            scale: {"band": bands(comparison, scale), **_specs(comparison, original, scale, near=view.n_beside > 0)}
            for scale in SCALES
        },
    }


def _specs(comparison: Comparison, original: str, scale: str, *, near: bool) -> dict[str, Any]:
    whole = {"spec": scatter(comparison, original, scale)}
    return whole | {"near": scatter(comparison, original, scale, near=True)} if near else whole
