"""``resit data`` lists, shows, fetches and verifies, and its options are in the pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from resit.cli.data import data

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "benchmarks.md").read_text(encoding="utf-8")
COMMANDS = get_command(data).commands  # type: ignore[attr-defined]
Resit = Callable[..., object]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty folders of the user."""
    monkeypatch.setenv("RESIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RESIT_DATA", str(tmp_path / "data"))


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """A card of one file at an address that is a file."""
    np.save(tmp_path / "source.npy", np.arange(5))
    path = tmp_path / "mine.yaml"
    url = (tmp_path / "source.npy").as_uri()
    path.write_text(f"name: mine\ntitle: Mine\nfiles:\n  - name: a.npy\n    urls: ['{url}']\n")
    return path


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_and_option_is_documented(command: str):
    assert f"resit data {command}" in PAGE
    assert COMMANDS[command].help
    for parameter in COMMANDS[command].params:
        assert getattr(parameter, "help", None), f"{command} {parameter.name} has no help"
        for option in parameter.opts:
            if option.startswith("--") and option != "--debug":
                assert re.search(rf"(?<![\w-]){option}(?![\w-])", PAGE), f"{command} {option} is not in the page"


def test_list_tells_what_is_known_and_what_is_there(resit: Resit, tmp_path: Path):
    (tmp_path / "data" / "cifar-10.2").mkdir(parents=True)
    ended = resit("data", "list")
    assert ended.code == 0
    lines = {line.split()[0]: line for line in ended.out.splitlines()}
    assert re.search(r"2,000\s+here\s+CIFAR-10.2", lines["cifar-10.2"])
    assert "here" not in lines["imagenet-a"]
    found = json.loads(resit("data", "list", "--json").out)
    assert {item["name"]: item["is_there"] for item in found} == {name: name == "cifar-10.2" for name in lines}


def test_show_tells_what_to_know_before_use(resit: Resit):
    out = resit("data", "show", "objectnet").out
    assert "red border, 1 to 2 pixels wide" in out
    assert "resit does not crop it" in out
    assert "label space: objectnet (113 of imagenet-1k)" in out
    fog = json.loads(resit("data", "show", "imagenet-c/fog/3", "--json").out)
    assert (fog["name"], [file["name"] for file in fog["files"]]) == ("imagenet-c/fog/3", ["weather.tar"])
    ended = resit("data", "show", "imagenet-aa")
    assert (ended.code, ended.out) == (2, "")
    assert "Did you mean imagenet-a" in ended.err


def test_fetch_puts_the_file_in_the_data_folder(resit: Resit, card: Path, tmp_path: Path):
    ended = resit("data", "fetch", card)
    assert ended.code == 0
    assert "no hash known" in ended.out
    assert np.load(tmp_path / "data" / "mine" / "a.npy").tolist() == [0, 1, 2, 3, 4]
    (file,) = json.loads(resit("data", "fetch", card, "--json").out)["files"]
    assert (file["name"], file["url"]) == ("a.npy", "")


def test_fetch_ends_with_3_where_nothing_came(resit: Resit, card: Path, tmp_path: Path):
    (tmp_path / "source.npy").unlink()
    ended = resit("data", "fetch", card, "--attempts", "1")
    assert (ended.code, ended.out) == (3, "")
    assert "could not be fetched" in ended.err
    assert ended.err.count("\n") == 1
    assert resit("data", "fetch", "imagenet-val").code == 2


def test_verify_ends_with_1_where_something_is_wrong(resit: Resit, tmp_path: Path):
    from PIL import Image

    folder = tmp_path / "pets" / "cat"
    folder.mkdir(parents=True)
    for shade in range(3):
        Image.new("RGB", (4, 4), (shade, 0, 0)).save(folder / f"{shade}.png")
    ended = resit("data", "verify", tmp_path / "pets")
    assert ended.code == 0
    assert "no problem found" in ended.out
    (folder / "1.png").write_bytes(b"x")
    ended = resit("data", "verify", tmp_path / "pets", "--json", "--workers", "1")
    report = json.loads(ended.out)
    assert (ended.code, report["ok"], report["n_decoded"]) == (1, False, 3)
    assert [Path(bad["where"]).name for bad in report["unreadable"]] == ["1.png"]
    assert resit("data", "verify", tmp_path / "pets", "--no-decode").code == 0
    assert resit("data", "verify", tmp_path / "gone").code == 2
