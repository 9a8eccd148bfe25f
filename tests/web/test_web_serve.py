"""`resit serve`: what it prints, what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from served import PAGE, Served, begun, free_port

import steps_made as made
from extras import needs
from resit.cli.app import run
from resit.errors import UsageError
from resit.web.settings import Settings, check_settings

needs("fastapi", "uvicorn", "sqlalchemy")


def test_the_first_start_alone_prints_a_link_to_the_admin_page(tmp_path: Path):
    import httpx

    folder = begun(tmp_path)
    with Served(folder) as served:
        link = re.search(r"http://127\.0\.0\.1:\d+/invite/\S+", served.process.stdout.readline())
        assert link
        assert "4 new tasks" in served.said
        with httpx.Client(follow_redirects=True) as admin:
            page = admin.get(link[0])
        assert page.url.path == "/admin"
    with Served(folder) as again:
        assert "0 new tasks" in again.said
        again.process.send_signal(2)
        assert "invite" not in again.process.stdout.read()


def test_links_are_made_and_revoked_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(made.begin(tmp_path).folder.path)
    assert run(["serve", folder, "--invite", "annotator"]) == 0
    assert run(["serve", folder, "--invite", "annotator"]) == 0
    assert run(["serve", folder, "--invite", "reviewer", "--name", "Zoé Ω", "--port", "9000"]) == 0
    told = capsys.readouterr()
    first, second, third = told.out.splitlines()
    assert first.startswith("annotator 1 (annotator): http://127.0.0.1:8321/invite/")
    assert second.startswith("annotator 2 (annotator): ")
    assert third.startswith("Zoé Ω (reviewer): http://127.0.0.1:9000/invite/")
    assert [re.search(r"http://\S+\d", line)[0] for line in told.err.splitlines()] == [  # type: ignore[index]
        *["http://127.0.0.1:8321"] * 2,
        "http://127.0.0.1:9000",
    ]
    assert "--port" in told.err
    assert run(["serve", folder, "--revoke", "Zoé Ω"]) == 0
    assert capsys.readouterr().out == "Zoé Ω: 1 links revoked\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--revoke", "Nobody"], "nobody is called 'Nobody'"),
        (["--name", "A"], "nobody to invite"),
        (["--invite", "boss"], "error: invite: no role 'boss'. The roles are annotator, reviewer, admin."),
        (["--invite", "admin", "--name", "\n"], "no name of 1 to 80 characters"),
        (["--behind-proxy", "http://votes.example.org"], "no address of https"),
        (["--behind-proxy", "https://votes.example.org/sub"], "without a path"),
        (["--invite", "reviewer", "--name", "Ann"], "Ann is annotator already"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str):
    folder = str(made.begin(tmp_path).folder.path)
    run(["serve", folder, "--invite", "annotator", "--name", "Ann"])
    assert run(["serve", folder, *words]) == 2
    assert told in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    other = str(made.begin(tmp_path / "other").folder.path)
    with Served(begun(tmp_path)) as served:
        assert run(["serve", other, "--port", str(served.port)]) == 4
    assert "cannot listen: Address already in use" in capsys.readouterr().err


def test_one_server_serves_a_build_until_its_process_ends(served: Served, capsys: pytest.CaptureFixture[str]):
    words = ["serve", str(served.folder)]
    assert run([*words, "--port", str(free_port())]) == 4
    told = capsys.readouterr().err
    assert f"another server serves this build already, at {served.address}" in told
    assert str(served.folder) in told
    assert "end it first" in told
    assert run([*words, "--invite", "annotator", "--name", "Ann", "--port", str(served.port)]) == 0
    link = capsys.readouterr().out.split()[-1]
    assert served.caller(link).get("/vote").status_code == 200
    served.kill()
    served.start()
    assert served.caller(link).get("/vote").status_code == 200


def test_other_machines_are_let_in_only_by_name_and_with_a_warning(tmp_path: Path):
    assert Settings().is_local
    assert Settings(host="::1").is_local
    assert not Settings(host="0.0.0.0").is_local
    with pytest.raises(UsageError):
        check_settings(Settings(behind_proxy="votes.example.org"))
    with Served(begun(tmp_path), "--host", "0.0.0.0") as served:
        assert "not encrypted" in served.process.stdout.readline()


def test_a_table_tells_what_a_class_is(tmp_path: Path):
    texts = tmp_path / "texts.csv"
    texts.write_text("class_id,text,synonyms,link\ncat,A small <b>animal</b>.,kitty,https://example.org/cat\ndog,A dog.,,\n")
    with Served(begun(tmp_path), "--texts", str(texts)) as served:
        pages = [served.client().get("/vote").text for _ in range(3)]
    assert any("A small &lt;b&gt;animal&lt;/b&gt;." in page and "Also called kitty" in page for page in pages)
    texts.write_text("class_id,text,link\ncat,A cat,javascript:alert(1)\n")
    assert run(["serve", str(served.folder), "--texts", str(texts)]) == 3


def test_a_large_build_is_planned_in_a_process_of_its_own_to_the_same_pages(tmp_path: Path):
    from resit.build.steps.opened import open_build
    from resit.web.run import _plan, _planned_apart

    tasks = []
    for name, planned in (("here", _plan), ("apart", _planned_apart)):
        folder = begun(tmp_path / name)
        said = planned(folder, None)
        with open_build(folder) as build:
            tasks.append((said, build.store.tasks().drop(["image"]).to_pylist()))
    assert len(tasks[0][1]) == 4 * PAGE
    assert [len(rows) for _, rows in tasks] == [len(tasks[0][1])] * 2
    assert tasks[0][0] == tasks[1][0]
