"""Who may do what: links, sessions, roles, tokens, and images that nobody else can have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import Caller, Served, begun

import steps_made as made
from extras import needs
from resit.web.times import moment

httpx = needs("httpx", "fastapi", "uvicorn", "sqlalchemy")

ROLES = ("annotator", "reviewer", "admin")
VOTERS, ADMINS = {"annotator", "admin"}, {"admin"}
REVIEWERS = {"reviewer", "admin"}
# Every route, and who may use it; None: nobody need be signed in.
ROUTES = {
    ("GET", "/health"): None,
    ("GET", "/invite/{secret}"): None,
    ("GET", "/"): set(ROLES),
    ("GET", "/session"): set(ROLES),
    ("GET", "/openapi.json"): ADMINS,
    ("POST", "/leave"): set(ROLES),
    ("GET", "/vote"): VOTERS,
    ("GET", "/vote/ahead"): VOTERS,
    ("GET", "/vote/{task}/{image}/{size}"): VOTERS,
    ("POST", "/vote/{task}/clicks"): VOTERS,
    ("POST", "/vote/{task}/finish"): VOTERS,
    ("GET", "/exam"): set(ROLES),
    ("GET", "/exam/{exam}"): set(ROLES),
    ("GET", "/exam/{exam}/{image}/{size}"): set(ROLES),
    ("GET", "/exam/{exam}/example/{place}/{size}"): set(ROLES),
    ("POST", "/exam/{exam}/answers"): set(ROLES),
    ("POST", "/exam/{exam}/finish"): set(ROLES),
    ("GET", "/pairs"): REVIEWERS,
    ("GET", "/pairs/{pair}/{side}/{size}"): REVIEWERS,
    ("POST", "/pairs/next"): REVIEWERS,
    ("POST", "/pairs/verdicts"): REVIEWERS,
    ("GET", "/review"): REVIEWERS,
    ("GET", "/review/next"): REVIEWERS,
    ("GET", "/review/changes/{revision}"): REVIEWERS,
    ("GET", "/review/{place}"): REVIEWERS,
    ("GET", "/review/{place}/{revision}/state"): REVIEWERS,
    ("GET", "/review/{place}/{revision}/votes"): REVIEWERS,
    ("GET", "/review/{place}/{revision}/{image}/{size}"): REVIEWERS,
    ("POST", "/review/{place}/marks"): REVIEWERS,
    ("POST", "/review/sample"): REVIEWERS,
    ("GET", "/jobs"): REVIEWERS,
    ("GET", "/build"): ADMINS,
    ("POST", "/build/plan"): ADMINS,
    ("POST", "/build/dedupe"): ADMINS,
    ("POST", "/build/release"): ADMINS,
    ("GET", "/build/export"): ADMINS,
    ("POST", "/build/export"): ADMINS,
    ("GET", "/admin"): ADMINS,
    ("GET", "/admin/invites"): ADMINS,
    ("POST", "/admin/invites"): ADMINS,
    ("POST", "/admin/revoke"): ADMINS,
    ("POST", "/admin/answers"): ADMINS,
    ("GET", "/admin/answers/{answer}"): ADMINS,
    ("GET", "/admin/answers/{answer}/{image}/{size}"): ADMINS,
    ("GET", "/admin/person"): ADMINS,
    ("POST", "/admin/person"): ADMINS,
}
# Something in the places of each path.
PLACES = {
    "task": "t0",
    "answer": "a0",
    "image": "i0",
    "size": "small",
    "secret": "x",
    "exam": "1",
    "place": "0",
    "revision": "1",
    "pair": "p0",
    "side": "one",
}
GUARDED = [key for key, roles in ROUTES.items() if roles is not None]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(begun(tmp_path_factory.mktemp("access"), people=50)) as server:
        yield server


def asked(caller: Caller, method: str, path: str, csrf: str | None = None) -> Any:
    """A route, with something in its places."""
    path = path.format(**PLACES)
    return caller.get(path) if method == "GET" else caller.post(path, {}, csrf=csrf)


def test_the_routes_are_those_that_are_tested(tmp_path: Path):
    from resit.build.steps.opened import open_build
    from resit.web.app import make_app
    from resit.web.class_texts import class_texts
    from resit.web.identity import Allowed, fields
    from resit.web.office import open_office
    from resit.web.settings import Settings

    made.begin(tmp_path)
    with open_build(tmp_path / "new") as build:
        desk = open_office(build, Settings(), class_texts(build, None))
        app = make_app(desk)
        desk.saver.close()
    found: dict[tuple[str, str], Any] = {}
    for route in app.routes:
        if route.path == "/static":
            continue
        guards = [guard.dependency for guard in route.dependencies]
        allowed = [set(guard.roles) for guard in guards if isinstance(guard, Allowed)]
        for method in route.methods:
            found[method, route.path] = allowed[0] if allowed else None
            assert (fields in guards) == (method != "GET"), route.path
    assert found == ROUTES


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_each_role_on_each_route(served: Served, method: str, path: str):
    for role in ROLES:
        caller = served.client(role)
        caller.token  # noqa: B018
        status = asked(caller, method, path).status_code
        allowed = role in ROUTES[method, path]
        assert (status not in (401, 403)) if allowed else status == 403, (role, status)
    stranger = httpx.request(method, served.address + path.format(**PLACES))
    assert stranger.status_code == 401


@pytest.mark.parametrize(("method", "path"), [key for key in GUARDED if key[0] == "POST"])
@pytest.mark.parametrize("csrf", ["", "0" * 32, "ä"])
def test_a_writing_request_without_the_token_is_refused(served: Served, method: str, path: str, csrf: str):
    caller = served.client("admin")
    body: Any = {"content": b"{}", "headers": {"content-type": "application/json", "x-csrf-token": csrf.encode()}}
    assert caller.http.post(path.format(**PLACES), **body).status_code == 403
    assert caller.get("/admin").status_code == 200


def test_the_token_of_somebody_else_is_of_no_use(served: Served):
    one, other = served.client("admin"), served.client("admin")
    assert one.post("/admin/invites", {"role": "annotator"}, csrf=other.token).status_code == 403


def test_other_bodies_and_large_ones_are_refused(served: Served):
    caller = served.client("admin")
    send = caller.http.post
    token = {"x-csrf-token": caller.token}
    for kind, body, status in (
        ("multipart/form-data; boundary=x", b"--x--", 415),
        ("application/json", b"[1]", 415),
        ("application/json", b"{", 400),
        ("application/json", b"[" * 60_000, 400),
        ("application/json", b" " * 70_000, 413),
        ("application/x-www-form-urlencoded", b"a=%ff&" * 60, 400),
    ):
        answer = send("/admin/invites", content=body, headers={"content-type": kind} | token)
        assert answer.status_code == status, (kind, body[:9], answer.text)


def test_links_are_for_those_who_have_them(served: Served):
    link = served.link(name="Zoe")
    assert Caller(link).first.status_code == 200
    again = served.link(name="Zoe")
    for good in (link, again):
        assert served.caller(good).get("/vote").status_code == 200
    kept = {value for table in ("invite", "session") for row in served.rows(table) for value in row.values()}
    assert link.rsplit("/", 1)[1] not in kept
    assert all(len(row["secret"]) == 64 for table in ("invite", "session") for row in served.rows(table))


def test_a_cookie_that_scripts_and_other_sites_do_not_get(served: Served):
    answer = httpx.get(served.link(name="Cookie"))
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    assert cookie.split("=")[1].split(";")[0] not in {row["secret"] for row in served.rows("session")}


def test_behind_a_proxy_cookies_are_secure_and_links_have_its_address(tmp_path: Path):
    from resit.web.run import invite_to
    from resit.web.settings import Settings

    with Served(begun(tmp_path), "--behind-proxy", "https://votes.example.org") as served:
        assert "https://votes.example.org/invite/" in served.process.stdout.readline()
        _, link = invite_to(served.folder, "annotator", None, Settings(behind_proxy="https://votes.example.org"))
        assert link.startswith("https://votes.example.org/invite/")
        cookie = httpx.get(link.replace("https://votes.example.org", served.address)).headers["set-cookie"]
        assert "Secure" in cookie


def test_revoked_links_and_their_sessions_end_at_once(served: Served):
    link = served.link(name="Gone")
    caller, boss = served.caller(link), served.client("admin")
    assert caller.get("/vote").status_code == 200
    assert boss.post("/admin/revoke", {"name": "Gone"}).status_code == 200
    assert caller.get("/vote").status_code == 401
    assert httpx.get(link).status_code == 404
    (held,) = [row for row in served.rows("lease") if row["account_id"] == ids(served)["Gone"]]
    assert held["ends"] <= moment()
    assert served.client(name="Gone").get("/vote").status_code == 200  # invited again


def ids(served: Served) -> dict[str, int]:
    return {row["name"]: row["id"] for row in served.rows("account")}


def test_signing_out_ends_the_session(served: Served):
    caller = served.client()
    cookies = dict(caller.http.cookies)
    assert caller.post("/leave", {}).status_code == 200
    assert not caller.http.cookies
    assert httpx.get(f"{served.address}/vote", cookies=cookies).status_code == 401


def test_tries_of_links_are_bounded(tmp_path: Path):
    with Served(begun(tmp_path)) as served:
        codes = [httpx.get(f"{served.address}/invite/{number}").status_code for number in range(12)]
        assert codes == [404] * 10 + [429] * 2
        assert int(httpx.get(f"{served.address}/invite/x").headers["retry-after"]) <= 60


def test_images_are_only_for_those_who_were_given_their_page(served: Served):
    ann, bo = served.client(), served.client()
    (task, images), (_, others) = ann.page(), bo.page()
    answer = ann.get(images[0])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert "private" in answer.headers["cache-control"]
    assert not set(images) & set(others)  # names differ even where the images are the same
    assert bo.get(images[0]).status_code == 404
    digests = {path.stem for path in (served.folder / "images").rglob("*.png")}
    assert not any(digest in " ".join(images) for digest in digests)
    for digest in sorted(digests)[:5]:
        assert ann.get(f"/vote/{task}/{digest}/small").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2fapp.py",
        "/static//etc/passwd",
        "/vote/{task}/..%2f..%2fbuild.yaml/small",
        "/vote/{task}/{image}/..%2f..%2f..%2fbuild.yaml",
        "/vote/{task}/{image}/../../../../salt",
        "/vote/..%2f..%2f/{image}/small",
        "/build.yaml",
        "/salt",
        "/build.sqlite",
        "/docs",
    ],
)
def test_nothing_else_of_the_build_can_be_read(served: Served, path: str):
    import socket

    caller = served.client()
    task, images = caller.page()
    wanted = path.format(task=task, image=images[0].split("/")[3])
    ((name, cookie),) = caller.http.cookies.items()
    with socket.create_connection(("127.0.0.1", served.port)) as wire:  # a client would tidy the path
        wire.sendall(f"GET {wanted} HTTP/1.1\r\nHost: x\r\nCookie: {name}={cookie}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: wire.recv(65536), b""))
    assert answer.split()[1] in (b"404", b"405"), answer[:200]


def test_headers_of_every_answer(served: Served):
    caller = served.client()
    for path in ("/health", "/vote", "/static/vote.js", "/nothing", "/admin"):
        headers = caller.get(path).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
    assert caller.get("/vote").headers["cache-control"] == "no-store"


def test_names_that_hold_code_are_shown_as_text(served: Served):
    boss = served.client("admin", "<script>alert(1)</script>")
    text = boss.get("/admin").text
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_servers_on_one_machine_leave_each_others_sessions_alone(served: Served, tmp_path: Path):
    caller = served.client("admin")
    with Served(begun(tmp_path)) as other:
        assert caller.get(other.link("admin")).status_code == 200  # one jar, as a browser has one for all ports
        assert caller.get(f"{other.address}/admin").status_code == 200
    assert caller.get("/admin").status_code == 200
