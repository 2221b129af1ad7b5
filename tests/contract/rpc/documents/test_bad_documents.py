"""What the operations on documents of all kinds do with bad input."""

import asyncio
import io
from typing import Any

import pytest

from tests.harness.rpc.scene import SAY, TOKEN, RpcScene

FIVE_MEGABYTES = b'{"x": "' + b"x" * 5_000_000 + b'"}'
ROUTE = {"account": "acme", "action": SAY}
NAMES = ["支援", "دعم", "Støtte", "a/b", "a b", "a\u0000b", "\u202e", "🙂", "x" * 65, ""]
FLOW = {"start": "a", "nodes": {"a": {"type": "say", "data": {"text": "one"}}}}


def change(**more: Any) -> dict[str, Any]:
    """Return a route to store, with other fields."""
    number = {"account": "acme", "kind": "route", "id": "+4733333333", "version": 2}
    return {**number, "body": ROUTE, **more}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PATCH", "/documents"),
        ("POST", "/document-checksums"),
        ("POST", "/flows/acme/menu/check"),
        ("POST", "/routes/+4733333333/check"),
    ],
)
async def test_five_megabytes(scene: RpcScene, method: str, path: str) -> None:
    """They are rejected, and nothing is stored."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    sent = scene.session.request(
        method, f"{scene.url}/rpc/v1{path}", data=io.BytesIO(FIVE_MEGABYTES), headers=headers
    )
    async with sent as answer:
        assert (answer.status, (await answer.json(content_type=None))["status"]) == (413, 413)
    assert await scene.store.routes() == {}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"changes": [change(kind="number")]}, "changes[0].kind"),
        ({"changes": [change(version=0)]}, "changes[0].version"),
        ({"changes": [change(id="")]}, "changes[0].id"),
        ({"changes": [change(id="x" * 129)]}, "changes[0].id"),
        ({"changes": [change(), change(account="a/b")]}, "changes[1].account"),
        ({"changes": [{"account": "acme"}]}, "changes[0].kind"),
        ({"changes": [change(more=1)]}, "changes[0].more"),
        ({"flowVersions": [{"account": "acme", "flow": "f", "number": 0, "body": {}}]}, "flow"),
        ({"changes": [change()] * 1_001}, "changes"),
        ({"changes": 7}, "changes"),
        ([], ""),
    ],
)
async def test_a_faulty_change_stores_nothing(scene: RpcScene, body: object, path: str) -> None:
    """Not even the other changes of the request; the error names the field."""
    status, problem = await scene.request("PATCH", "/documents", body)
    assert status == 400
    assert problem["errors"][0]["path"].startswith(path)
    assert await scene.store.routes() == {}


@pytest.mark.parametrize("name", NAMES)
async def test_accounts_in_any_script(scene: RpcScene, name: str) -> None:
    """They are no names of accounts, wherever they are."""
    for method, path, body in (
        ("POST", "/document-checksums", {"accounts": ["acme", name]}),
        ("PATCH", "/documents", {"changes": [change(account=name)]}),
        ("POST", "/routes/+4733333333/check", {**ROUTE, "account": name}),
    ):
        assert (await scene.problem(method, path, body))[0] == 400, path


@pytest.mark.parametrize("name", ["支援", "دعم", "Støtte", "a b", "\u202e", "🙂"])
async def test_ids_in_any_script(scene: RpcScene, name: str) -> None:
    """What the database has under one is stored under it; no request in a path finds it."""
    body = {"changes": [change(kind="request", id=name, body={"url": "https://x.example/"})]}
    assert await scene.request("PATCH", "/documents", body) == (200, {"versions": [2]})
    _, found = await scene.request("GET", "/documents/acme/request")
    assert found == {"versions": {name: 2}}
    assert (await scene.problem("POST", f"/flows/acme/{name}/check", FLOW))[0] == 400


async def test_documents_of_another_account(scene: RpcScene) -> None:
    """Neither their versions nor their bodies are shown to it, nor are kinds that there are not."""
    await scene.request("PATCH", "/documents", {"changes": [change()]})
    assert (await scene.request("GET", "/documents/other/route"))[1] == {"versions": {}}
    shown = "route/+4733333333"
    assert await scene.problem("GET", f"/documents/other/{shown}") == (404, "not_found")
    assert await scene.request("GET", f"/documents/acme/{shown}") == (200, ROUTE)
    assert (await scene.problem("GET", "/documents/acme/number"))[0] == 400
    assert (await scene.problem("GET", "/documents/a%2Fb/route"))[0] == 400


@pytest.mark.parametrize("body", [{"published": "one", "last": 1}, {"published": 1}, [], 7])
async def test_a_flow_whose_document_is_none(scene: RpcScene, body: object) -> None:
    """It is not accepted; the others of the request are."""
    flows = [
        change(kind="flow", id="broken", body=body),
        change(kind="flow", id="menu", body={"published": 1, "last": 1}),
        change(kind="flow", id="deleted", body=None),
    ]
    versions = [{"account": "acme", "flow": "menu", "number": 1, "body": FLOW}]
    request = {"changes": flows, "flowVersions": versions}
    assert await scene.request("PATCH", "/documents", request) == (200, {"versions": [0, 2, 2]})
    assert await scene.request("GET", "/documents/acme/flow/menu") == (200, FLOW)
    assert (await scene.problem("GET", "/documents/acme/flow/broken"))[0] == 404


async def test_concurrent_writers_of_a_document(scene: RpcScene) -> None:
    """The highest version stays, in whichever order they arrive."""

    async def put(version: int) -> int:
        action = f"https://x{version}.example/"
        body = {"account": "acme", "action": action}
        changes = {"changes": [change(version=version, body=body)]}
        status, found = await scene.request("PATCH", "/documents", changes)
        assert status == 200
        return int(found["versions"][0])

    found = await asyncio.gather(*map(put, (20, 4, 12, 8, 16)))
    assert max(found) == 20
    _, route = await scene.request("GET", "/documents/acme/route/+4733333333")
    assert route["action"] == "https://x20.example/"
    assert await put(6) == 20


async def test_too_many_flows_at_once(scene: RpcScene) -> None:
    """An account has ten checks, running and waiting: more are 429, and none is a fault of ours."""
    nodes: dict[str, Any] = {
        f"n{place}": {"type": "say", "data": {"text": "x" * 1_000}, "next": f"n{place + 1}"}
        for place in range(199)
    }
    large = {"start": "n0", "nodes": {**nodes, "n199": {"type": "hangup"}}}
    checks = (scene.request("POST", f"/flows/acme/f{n}/check", large) for n in range(40))
    found = await asyncio.gather(*checks)
    assert {status for status, _ in found} <= {200, 429}
    assert [status for status, _ in found].count(200) >= 10
    assert {each["code"] for status, each in found if status == 429} <= {"too_many_checks"}
    assert (await scene.request("POST", "/flows/acme/f/check", FLOW))[0] == 200


async def test_a_route_that_names_flows_is_such_a_check(scene: RpcScene) -> None:
    """Each of them is read; one of another account is unknown. Other routes never wait."""
    await scene.documents.flow("acme", "menu", FLOW)
    await scene.documents.flow("other", "theirs", FLOW)
    named = {"type": "flow", "data": {"flowId": "menu"}}
    route = {**ROUTE, "action": {**SAY, "action": named}, "fallback": named}
    checks = (scene.request("POST", "/routes/+4733333333/check", route) for _ in range(40))
    found = await asyncio.gather(*checks)
    assert {status for status, _ in found} <= {200, 429}
    assert [status for status, _ in found].count(200) >= 10
    plain = (scene.request("POST", "/routes/+4733333333/check", ROUTE) for _ in range(40))
    assert {status for status, _ in await asyncio.gather(*plain)} == {200}
    for field in ("action", "fallback"):
        theirs = {**route, field: {"type": "flow", "data": {"flowId": "theirs"}}}
        status, problem = await scene.request("POST", "/routes/+4733333333/check", theirs)
        assert (status, problem["code"]) == (400, "unknown_flow")
        assert problem["errors"][0]["path"] == f"{field}.data.flowId"
