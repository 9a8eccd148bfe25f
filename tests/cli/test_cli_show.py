"""What a command shows while it works."""

from __future__ import annotations

import re

import pytest

from resit.cli import show


def test_a_log_gets_a_line_where_a_step_comes_long_after_the_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    times = iter([0.0, 1.0, 61.0, 62.0, 130.0])
    monkeypatch.setattr(show.time, "monotonic", lambda: next(times))
    with show.progress() as tell:
        for step in ("first", "second", "third", "fourth"):
            tell(step)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.fullmatch(r"\d\d:\d\d:\d\d second\n\d\d:\d\d:\d\d fourth\n", shown.err)


def test_nothing_is_shown_where_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(show.time, "monotonic", lambda: pytest.fail("it looked at the clock"))
    with show.progress(quiet=True) as tell:
        tell("first")
    assert capsys.readouterr() == ("", "")
