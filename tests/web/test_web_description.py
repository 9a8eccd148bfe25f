"""The OpenAPI description: all routes are in it, with what they are sent and how they may end; only admins read it."""

from __future__ import annotations

import re

from served import Served

from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")


def test_every_route_is_described(served: Served):
    admin = served.client("admin")
    told = admin.get("/openapi.json").json()
    assert told["openapi"].startswith("3.1")
    app = needs("resit.web.app")
    routes = [route for part in app.PARTS for route in part.ROUTES]
    assert len(routes) > 20
    for route in routes:
        one = told["paths"][route.path][route.method.lower()]
        assert one["summary"]
        names = {place["name"] for place in one.get("parameters", ()) if place["in"] == "path"}
        assert names == set(re.findall(r"{(\w+)}", route.path))
        if route.roles is not None:
            assert {"401", "403"} <= set(one["responses"])
            assert one["security"]
        if route.method != "GET":
            assert "requestBody" in one, route.path
            assert "415" in one["responses"]


def test_references_lead_somewhere(served: Served):
    told = served.client("admin").get("/openapi.json")
    schemas = told.json()["components"]["schemas"]
    for name in re.findall(r'"#/components/schemas/(\w+)"', told.text):
        assert name in schemas


def test_only_admins_read_it(served: Served):
    for role in ("annotator", "reviewer"):
        assert served.client(role).get("/openapi.json").status_code == 403
    assert served.caller(f"{served.address}/invite/none").get("/openapi.json").status_code == 401
