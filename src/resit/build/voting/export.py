"""Tasks as files for Mechanical Turk, for Label Studio, and as plain CSV."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from resit.build.folder import write_whole
from resit.build.voting.pages import Page, Pages
from resit.errors import InputError, Notice, OutputError

CSV_COLUMNS = ("task", "class_id", "text", "position", "url", "people")
BATCH_COLUMNS = ("task", "text", "images")
LABEL_STUDIO = """<View>
  <Style>.lsf-choices img { width: 150px; height: 150px; object-fit: contain }</Style>
  <Header value="Select every image that shows:"/>
  <Text name="text" value="$text"/>
  <Choices name="selected" toName="text" choice="multiple" layout="inline" value="$images"/>
</View>
"""


@dataclass(frozen=True)
class Exported:
    """Files that were written, and what to know of them."""

    files: tuple[Path, ...]
    notices: tuple[Notice, ...]


def layout() -> str:
    """The page of a task in HTML for Mechanical Turk, with ``${task}``, ``${text}`` and ``${images}`` to be filled in."""
    return (resources.files("resit.build.voting") / "layout.html").read_text(encoding="utf-8")


def inputs(page: Page) -> dict[str, str]:
    """What fills in the layout for a page: escaped for HTML, since it is put in as it stands."""
    texts = {"task": page.task, "text": page.text, "images": " ".join(page.urls)}
    # A dollar too, since what is put in may be looked through for more to fill in.
    return {name: html.escape(text).replace("$", "&#36;") for name, text in texts.items()}


def filled(page: Page) -> str:
    """The layout, filled in for a page."""
    text = layout()
    for name, value in inputs(page).items():
        text = text.replace(f"${{{name}}}", value)
    return text


def export_mturk(pages: Pages, folder: Path) -> Exported:
    """Files for a project and its batches in the requester's pages of Mechanical Turk.

    ``layout.html`` is the design of the project. Each ``batch-N.csv`` has the tasks to be shown to N people: publish it with N
    assignments per task.

    Parameters
    ----------
    pages : Pages
    folder : Path

    Returns
    -------
    Exported

    Raises
    ------
    InputError
        If an address is not one of the web.
    OutputError
        If a file cannot be written.
    """
    notices = (*pages.notices, *check_web(pages.pages))
    files = {"layout.html": layout()}
    for people, some in pages.by_people().items():
        files[f"batch-{people}.csv"] = _csv(BATCH_COLUMNS, (tuple(inputs(page).values()) for page in some))
    return Exported(_write(folder, files), notices)


def export_label_studio(pages: Pages, folder: Path) -> Exported:
    """Files for projects in Label Studio.

    ``interface.xml`` is the labelling interface. Each ``tasks-N.json`` has the tasks to be shown to N people: import it in a
    project of its own with N annotations per task.

    Parameters
    ----------
    pages : Pages
    folder : Path

    Returns
    -------
    Exported

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    files = {"interface.xml": LABEL_STUDIO}
    for people, some in pages.by_people().items():
        tasks = [{"data": {"task": page.task, "text": page.text, "images": _choices(page.urls)}} for page in some]
        files[f"tasks-{people}.json"] = json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"
    return Exported(_write(folder, files), pages.notices)


def export_csv(pages: Pages, folder: Path) -> Exported:
    """One file ``tasks.csv`` with a row for each image of each task.

    Columns are task, class_id, text (what people look for), position on the page, url, and people (how many to show it to).

    Parameters
    ----------
    pages : Pages
    folder : Path

    Returns
    -------
    Exported

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    rows = (
        (page.task, page.class_id, page.text, position, url, page.people)
        for page in pages.pages
        for position, url in enumerate(page.urls)
    )
    return Exported(_write(folder, {"tasks.csv": _csv(CSV_COLUMNS, rows)}), pages.notices)


def check_web(pages: Iterable[Page]) -> tuple[Notice, ...]:
    """A notice where images are not at https addresses.

    Raises
    ------
    InputError
        If an address is not one of the web at all.
    """
    plain = 0
    for page in pages:
        for url in page.urls:
            scheme = url.partition("://")[0].lower()
            if scheme not in ("http", "https"):
                fix = "Put the images on a web server, and give its address: images_at (--images-at)."
                raise InputError(f"not an address of the web: {url}", where=f"task {page.task}", fix=fix)
            plain += scheme == "http"
    message = f"{plain:,} images are at http:// addresses, which browsers block in https pages, as Mechanical Turk's are."
    return (Notice("plain-http", "pages", message),) if plain else ()


def _choices(urls: Sequence[str]) -> list[dict[str, str]]:
    return [
        {"value": str(position), "html": f'<img src="{html.escape(url)}" alt="image {position}">'}
        for position, url in enumerate(urls, start=1)
    ]


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _write(folder: Path, files: dict[str, str]) -> tuple[Path, ...]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "Name a folder that can be written."
        raise OutputError(f"cannot be made: {error.strerror or error}", where=folder, fix=fix) from error
    for name, text in files.items():
        write_whole(folder / name, text.encode())
    return tuple(folder / name for name in files)
