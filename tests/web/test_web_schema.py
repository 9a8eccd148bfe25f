"""Schemathesis asks a served build, in each role, what its OpenAPI description allows and what it does not.

Every answer has a status, a type, headers and a body that are described, and none is an error of the server.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from served import Served
from whole import whole

from databases import schema_of_its_own
from extras import needs

schemathesis = needs("schemathesis", "fastapi", "uvicorn", "sqlalchemy")
NOT_SET = schemathesis.core.NOT_SET

ROLES = ("annotator", "reviewer", "admin")
EXAMPLES = 10  # of each route and role
SEED = 20_260_131
LEFT_OUT = ("/leave", "/invite/{secret}")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole(tmp_path_factory.mktemp("whole"))


@pytest.fixture(params=ROLES)
def asking(request: pytest.FixtureRequest, built: Path, tmp_path: Path) -> Iterator[Asking]:
    shutil.copytree(built.parent, tmp_path, dirs_exist_ok=True)
    with Served(tmp_path / built.name) as served:
        somebody = Asking(served, request.param)
        yield somebody
        somebody.session.close()


def operations(served: Served) -> list[Any]:
    """All that is described, but for signing in and out, which can be done a few times only: test_web_access does that."""
    schema = schemathesis.openapi.from_dict(served.client("admin").get("/openapi.json").json())
    found = [one.ok() for one in schema.get_all_operations()]
    return [one for one in found if one.path not in LEFT_OUT]


class Asking:
    """Somebody who is signed in, and what is on their pages."""

    def __init__(self, served: Served, role: str) -> None:
        import requests

        self.served, self.role, self.session = served, role, requests.Session()
        self.sign_in()
        self.places = self._places()

    def sign_in(self) -> None:
        self.caller = self.served.client(self.role, f"{self.role} who asks")
        self.headers = {"x-csrf-token": self.caller.get("/session").json()["csrf"]}
        self.cookies = dict(self.caller.http.cookies)

    def _places(self) -> dict[str, dict[str, Any]]:
        """What really stands in the places of paths, by their first word."""
        exam = re.findall(r'data-image="(\w+)"', self.caller.get("/exam/1").text)
        found: dict[str, dict[str, Any]] = {"exam": {"exam": 1, "image": exam[0], "place": 0, "size": "small"}}
        if self.role != "reviewer":
            task, images = self.caller.page()
            found["vote"] = {"task": task, "image": images[0].split("/")[3], "size": "large"}
        if self.role != "annotator":
            keys = re.findall(r'data-image="(\w+)"', self.caller.get("/review/1").text)
            found["review"] = {"place": 1, "revision": 1, "image": keys[0], "size": "small"}
            found["pairs"] = {"pair": self.pairs()[0], "side": "one", "size": "small"}
        return found

    def pairs(self) -> list[str]:
        """Names of pairs."""
        text = self.caller.get("/pairs").text
        first = json.loads(unescape(re.search(r"data-first='([^']*)'", text)[1]))  # type: ignore[index]
        return [pair["id"] for pair in first["pairs"]]

    def real(self, path: str) -> dict[str, Any]:
        """What stands in the places of a path."""
        known = self.places.get(path.split("/")[1], {})
        return {name: known[name] for name in re.findall(r"{(\w+)}", path) if name in known}

    def ask(self, case: Any) -> Any:
        where = {"base_url": self.served.address, "session": self.session, "allow_redirects": False}
        return case.call_and_validate(checks=CHECKS, headers=self.headers, cookies=self.cookies, **where)


def forged(case: Any) -> bool:
    """Whether a cookie or token was drawn that is none: test_web_access has those."""
    found = case.meta.components.items() if case.meta else ()
    return any(place.value in ("cookie", "header") and part.mode.is_negative for place, part in found)


CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_headers_conformance,
    schemathesis.checks.response_schema_conformance,
    schemathesis.checks.negative_data_rejection,
    schemathesis.checks.unsupported_method,
    schemathesis.checks.allow_header_conformance,
    schemathesis.checks.ignored_auth,
]


def cases(operation: Any, places: dict[str, Any]) -> Any:
    """What is allowed, what is not, and what is allowed to be sent to what there is."""
    found = [operation.as_strategy()]
    if operation.path_parameters or operation.query or operation.body:
        negative = operation.as_strategy(schemathesis.GenerationMode.NEGATIVE)
        found.append(negative.filter(lambda case: not forged(case)))
    if places:
        found.append(operation.as_strategy(path_parameters=places))
    return st.one_of(found)


def test_what_is_drawn(asking: Asking):
    answered: dict[str, set[int]] = {}
    for operation in operations(asking.served):

        @seed(SEED)
        @settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases(operation, asking.real(operation.path)))
        def ask(case: Any) -> None:
            answered.setdefault(case.operation.label, set()).add(asking.ask(case).status_code)

        ask()
    for route in routes():
        statuses = answered.get(f"{route.method} {route.path}", {403})
        if route.roles is not None:
            assert (statuses == {403}) == (asking.role not in route.roles), (route.path, statuses)
        if route.method == "GET" and "{" not in route.path and statuses != {403}:
            assert statuses <= {200, 303}, route.path


def routes() -> list[Any]:
    from resit.web.app import PARTS

    return [route for part in PARTS for route in part.ROUTES if route.path not in LEFT_OUT]


def test_what_is_asked_with_sense(asking: Asking):
    """What programs do, with what there is: all is done, and told as it is described."""
    places, words = asking.places, iter(f"an-event-{number}" for number in range(100))
    sent: dict[str, Any] = {"/exam/{exam}/answers": {"answers": [{"event": next(words), "place": 0, "class_id": "cat"}]}}
    sent["/exam/{exam}/finish"] = {"answered": 1}
    if "vote" in places:
        sent["/vote/{task}/clicks"] = {"clicks": [{"event": next(words), "position": 0, "selected": True}]}
        sent["/vote/{task}/finish"] = {"selected": [0]}
    if "review" in places:
        mark = {"event": next(words), "revision": 1, "kind": "image", "verdict": "wrong", "image": places["review"]["image"]}
        sent["/review/{place}/marks"] = {"marks": [mark]}
        sent["/pairs/next"] = {"held": [], "skip": [], "again": True}
        verdict = {"event": next(words), "pair": places["pairs"]["pair"], "verdict": "near"}
        sent["/pairs/verdicts"] = {"verdicts": [verdict]}
    if asking.role == "admin":
        sent["/admin/invites"] = {"role": "reviewer", "name": "Zoe"}
        sent["/admin/revoke"] = {"name": "Zoe"}
        answer = f"{places['vote']['task']}:{asking.role} who asks"
        sent["/admin/answers"] = {"assignment": answer, "status": "rejected", "reason": "too quick"}
        sent["/admin/person"] = {"name": "nobody", "status": "accepted"}
        sent["/build/plan"] = {"event": next(words)}
    read = [f"/review/{{place}}/{{revision}}/{name}" for name in ("state", "votes")] if "review" in places else []
    known = {operation.path: operation for operation in operations(asking.served)}
    for path in (*sent, *read):
        case = known[path].Case(path_parameters=asking.real(path), body=sent.get(path, NOT_SET), media_type="application/json")
        assert asking.ask(case).status_code in (200, 303), path


def test_texts_that_a_database_does_not_take(tmp_path: Path, postgresql: str):
    with Served(whole(tmp_path, database=schema_of_its_own(postgresql))) as served:
        boss = served.client("admin")
        token = {"x-csrf-token": boss.token}
        task, _ = boss.page()
        for at, (text, refused) in enumerate((("a\0b", {400}), ("\ud800", {400}), ("\\u0000", {200, 404, 422}))):
            event = f"an-event-{at}"
            mark = {"event": event, "revision": 1, "kind": "image", "verdict": "wrong", "image": text}
            for path, body in {
                "/admin/invites": {"role": "reviewer", "name": text},
                "/admin/revoke": {"name": text},
                "/admin/person": {"name": text, "status": "rejected"},
                "/admin/answers": {"assignment": text, "status": "rejected", "reason": text},
                "/exam/1/answers": {"answers": [{"event": event, "place": 0, "class_id": text}]},
                "/pairs/next": {"held": [text]},
                "/review/1/marks": {"marks": [mark]},
                "/build/plan": {"event": event, text: ""},
            }.items():
                sent = {"content": json.dumps(body), "headers": {"content-type": "application/json"} | token}
                assert boss.http.post(path, **sent).status_code in refused, (path, text)
        for path in ("/vote/%00/x/small", f"/vote/{task}/%00/small", "/invite/%00", "/exam/%00", "/review/%00", "/%00"):
            assert boss.get(path).status_code == 404, path
        form = {"content-type": "application/x-www-form-urlencoded"} | token
        assert boss.http.post("/admin/revoke", content="name=a%00b", headers=form).status_code == 400
