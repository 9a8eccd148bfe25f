"""Figures for a paper: each as SVG, PNG (300 dots an inch) and PDF, one column wide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from resit.report import format as fmt
from resit.report.charts import scatter
from resit.report.frame import Spec
from resit.report.paper import drop, ranks, theme
from resit.study.result import SCALES, Result

DOTS = 300
ZOOM = 1.5  # eight-point letters as the twelve pixels of the page's own charts
PAGE_ROOM = (340, 240)
SIZE = re.compile(r'width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)"')
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
CLIP = re.compile(r'(?<=id="clip)\d+(?=")|(?<="url\(#clip)\d+(?=\)")')
RESOURCES = re.compile(rb"(?:^ +/[a-z]+\d+ \d+ 0 R\n)+", re.MULTILINE)


def figures(result: Result) -> dict[str, bytes]:
    """All figures of a result.

    Parameters
    ----------
    result : Result
        The comparison.

    Returns
    -------
    dict of bytes
        Contents by path, such as ``figures/scatter-v4-top1-linear.svg``.
    """
    return {path: content for name, spec in specs(result) for path, content in export(f"figures/{name}", spec)}


def specs(result: Result) -> Iterator[tuple[str, Spec]]:
    """Name and specification of each figure."""
    original = result.original.name
    for stem, comparison in zip(fmt.stems(result), result.comparisons, strict=True):
        for scale in SCALES:
            yield f"scatter-{stem}-{scale}", scatter(comparison, original, scale, paper=True)
        yield f"drop-{stem}", drop(comparison)
        yield f"ranks-{stem}", ranks(comparison, original)


def export(path: str, spec: Spec) -> Iterator[tuple[str, bytes]]:
    """A figure as SVG, PNG and PDF, each under its path."""
    import vl_convert

    svg = _numbered(vl_convert.vegalite_to_svg(printable(spec), config=theme()))
    yield f"{path}.svg", svg.encode()
    yield f"{path}.png", vl_convert.svg_to_png(svg, ppi=DOTS)
    yield f"{path}.pdf", _in_order(vl_convert.svg_to_pdf(svg))


def picture(spec: Spec) -> str:
    """A figure as SVG for a page: more room than on paper, in the page's sizes of letters and points."""
    import vl_convert

    svg = _numbered(vl_convert.vegalite_to_svg(printable(spec), config=theme(room=PAGE_ROOM)))
    return SIZE.sub(_zoomed, svg, count=1)


def _zoomed(found: re.Match[str]) -> str:
    return " ".join(f'{name}="{ZOOM * float(size):g}"' for name, size in found.groupdict().items())


def printable(value: Any) -> Any:
    """A specification without characters that XML cannot hold, on which the converter would break down."""
    if isinstance(value, str):
        return NOT_XML.sub("\ufffd", value)
    if isinstance(value, dict):
        return {printable(key): printable(inner) for key, inner in value.items()}
    return [printable(inner) for inner in value] if isinstance(value, list | tuple) else value


def _numbered(svg: str) -> str:
    """The same SVG with its clips counted from 1; the converter counts on from figure to figure."""
    numbers: dict[str, str] = {}
    return CLIP.sub(lambda found: numbers.setdefault(found[0], str(len(numbers) + 1)), svg)


def _in_order(pdf: bytes) -> bytes:
    """The same PDF with its lists of resources in order; the converter shuffles them, and a figure is the same each time."""
    return RESOURCES.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), pdf)
