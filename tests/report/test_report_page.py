"""The page: one file, safe whatever models are called, that says why something is not there."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
from fake import HOSTILE, NAMES, comparison, result

from resit import Accuracies, ModelId, compare
from resit.data.accuracies import Figures
from resit.report import bundle as bundling
from resit.report.bundle import bundle_ahead, vega_bundle
from resit.report.page import data_block, render


class Outline(HTMLParser):
    """Tags, identifiers and headings of a page, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_script = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_script and tag not in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._in_script:
            self.text.append(data)

    def all(self, *names: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag in names]


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    return Outline(page)


def test_it_is_one_file_that_may_ask_for_nothing(outline: Outline) -> None:
    (policy,) = [meta["content"] for meta in outline.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    assert not outline.all("link", "iframe", "object", "embed", "img", "base")
    assert not [script for script in outline.all("script") if "src" in script]


def test_it_says_its_language_and_every_label_has_its_target(outline: Outline) -> None:
    assert outline.all("html")[0]["lang"] == "en"
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in outline.tags:
        for name in ("aria-labelledby", "for"):
            assert attributes.get(name) is None or attributes[name] in ids
    links = [a["href"] for a in outline.all("a") if (a["href"] or "").startswith("#")]
    assert links
    assert {str(link)[1:] for link in links} <= set(ids)


def test_headings_come_in_order(outline: Outline) -> None:
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


def test_sort_buttons_are_buttons(page: str) -> None:
    headings = re.findall(r'<th scope="col" class="\w+" aria-sort="(\w+)"><button type="button">', page)
    assert headings.count("ascending") == 4
    assert len(headings) == 4 * 10


def test_what_matters_is_there_and_in_order(page: str) -> None:
    parts = [
        "The slope is 1.100 [1.080, 1.120]",
        "2 warnings before you read on",
        "At a glance",
        "share 3,186 examples",
        "Original against new accuracy",
        "Change by model",
        "Rank changes",
        "Most confused pairs",
        "All models",
        "Intervals by what is resampled",
        "The drop in model years",
        "--alias fv_64k_model=fv_64k",
        "Settings and versions",
        "How to cite",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)


def test_many_warnings_are_folded_but_all_there() -> None:
    text = render(result(comparison(), warnings=9))
    assert "9 warnings before you read on" in text
    assert "<summary>3 more</summary>" in text
    assert all(f"fv_16k{i or ''}</strong>" in text for i in range(9))


def test_without_warnings_there_is_no_box(bare_page: str) -> None:
    assert 'class="warnings"' not in bare_page


def test_what_is_not_available_says_why(bare_page: str) -> None:
    text = " ".join(" ".join(Outline(bare_page).text).split())
    for reason in (
        "Real swaps: not available: only accuracies are known",
        "By class: not available: only accuracies are known",
        "not available: fewer than three models",
        "not available: no model has a date",
        "Mean change, points",
    ):
        assert reason in text
    assert "None" not in re.sub(r"None (were asked for|: every)|None:", "", text)
    assert not re.search(r"\bnan\b", text)


def test_hostile_names_are_only_names() -> None:
    kept = comparison(names=(*NAMES[:6], *HOSTILE))
    text = render(result(kept))
    outline = Outline(text)
    assert not [attributes for _, attributes in outline.tags if "onerror" in attributes]
    assert not outline.all("img")
    assert len(outline.all("script")) == len(Outline(render(result(comparison()))).all("script"))
    assert "<script>alert(1)" not in text
    block = re.search(r'<script type="application/json" id="data-c0">(.*?)</script>', text, re.DOTALL)
    assert block is not None
    data = json.loads(block[1])
    assert [row[data["fields"].index("key")] for row in data["models"]][-3:] == list(HOSTILE)


def test_a_data_block_cannot_end_its_script() -> None:
    text = str(data_block({"a": "</script><!-- \u2028 & >"}))
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!-- \u2028 & >"}


def test_the_bundle_stays_inside_its_script() -> None:
    assert "</script" not in vega_bundle()
    assert "<!--" not in vega_bundle()


@pytest.mark.parametrize("code", [bundling.CODE, "raise SystemExit(1)"], ids=["made", "failed"])
def test_the_bundle_is_the_same_when_it_is_made_ahead(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    here = vega_bundle()
    vega_bundle.cache_clear()
    monkeypatch.setattr(bundling, "CODE", code)
    with bundle_ahead() as bundle:
        assert bundle() == here


def test_a_bundle_that_nobody_waits_for_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    vega_bundle.cache_clear()
    started: list[subprocess.Popen[bytes]] = []
    real = bundling._started
    monkeypatch.setattr(bundling, "_started", lambda: started.append(real()) or started[0])
    with pytest.raises(KeyboardInterrupt), bundle_ahead():
        raise KeyboardInterrupt
    assert started[0].returncode is not None


def test_1500_models_make_a_page_of_bounded_size() -> None:
    small, large = (len(render(result(comparison(names=tuple(f"model {i}" for i in range(count)))))) for count in (100, 1600))
    assert (large - small) / 1500 < 1_100  # characters a model


@pytest.mark.parametrize("models", [1, 2])
def test_one_is_said_in_the_singular_in_every_part(models: int) -> None:
    sets = []
    for name, values in (("old", [1.0, 0.8]), ("new", [0.7, 0.6])):
        known, n = np.array(values[:models]), np.full(models, 100.0)
        ids = tuple(ModelId(f"m{at}") for at in range(models))
        sets.append(Accuracies(name, ids, {"top1": Figures(known, known * n, n, np.full(models, np.nan))}))
    found = compare(*sets, model_resamples=100, example_resamples=50)
    page = re.sub("<script>.*?</script>", "", render(found), flags=re.DOTALL)
    wrong = re.compile(r"(?<![\d.,])1 (?:\w+ )?(?:models|pairs|warnings|examples|accuracies|classes|groups|files)\b")
    assert [wrong.findall(text) for text in (str(found), found._repr_html_(), page)] == [[], [], []]
    assert f"of {models} model{'s' if models > 1 else ''} is" in str(found)
