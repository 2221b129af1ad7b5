"""Flows and API requests over the RPC: versions, all errors at once, write-only secrets."""

import json
from typing import Any

import pytest

from engine.rpc.handlers.flows import MAX_REQUESTS_BYTES
from tests.harness.rpc.scene import RpcScene
from tests.harness.scenarios.graphs import API
from wire.schemas import DOCUMENTS

GRAPH: dict[str, Any] = {"start": "a", "nodes": {"a": {"type": "say", "data": {"text": "one"}}}}
LOOKUP = {"type": "request", "data": {"requestId": API}, "success": "end", "failure": "end"}
ASKING = {"start": "a", "nodes": {"a": LOOKUP, "end": {"type": "hangup"}}}
REQUEST: dict[str, Any] = {
    "url": "https://crm.example/people?n={{call.from}}",
    "headers": {"Authorization": "Bearer {{secrets.token}}"},
    "answers": {"tier": "/tier"},
    "secrets": {"token": "s3cr3t"},
}


async def test_a_flow_has_versions(scene: RpcScene) -> None:
    """Each put stores a new version; the newest is shown by default."""
    assert await scene.request("PUT", "/flows/acme/menu", GRAPH) == (
        200,
        {"flowId": "menu", "version": 1},
    )
    second = {**GRAPH, "name": "two"}
    assert (await scene.request("PUT", "/flows/acme/menu", second))[1]["version"] == 2
    assert await scene.request("GET", "/flows/acme/menu") == (200, second)
    assert await scene.request("GET", "/flows/acme/menu?version=1") == (200, GRAPH)
    assert (await scene.problem("GET", "/flows/acme/menu?version=3"))[0] == 404
    assert (await scene.problem("GET", "/flows/acme/menu?version=x"))[0] == 400
    assert await scene.request("GET", "/flows/acme/menu/versions") == (
        200,
        {"flowId": "menu", "versions": [1, 2]},
    )
    assert await scene.request("GET", "/flows/acme") == (
        200,
        {"flows": [{"flowId": "menu", "version": 2}]},
    )


async def test_a_flow_is_taken_away(scene: RpcScene) -> None:
    """A deleted flow is not found; stored again, it continues with the next version."""
    await scene.request("PUT", "/flows/acme/menu", GRAPH)
    assert (await scene.request("DELETE", "/flows/acme/menu"))[0] == 200
    for method, path in (("GET", ""), ("GET", "/versions"), ("DELETE", "")):
        assert await scene.problem(method, f"/flows/acme/menu{path}") == (404, "not_found")
    assert await scene.request("GET", "/flows/acme") == (200, {"flows": []})
    assert (await scene.request("PUT", "/flows/acme/menu", GRAPH))[1]["version"] == 2


async def test_a_call_names_a_flow_that_is_there(scene: RpcScene) -> None:
    """The flow must exist and be a call flow before a phone rings."""
    body = {"account": "acme", "from": "+4721930000", "to": "+4722222222", "flowId": "menu"}
    assert await scene.problem("POST", "/calls", body) == (400, "unknown_flow")
    await scene.request("PUT", "/flows/acme/menu", {**GRAPH, "kind": "message"})
    assert (await scene.problem("POST", "/calls", body))[0] == 400
    assert scene.pbx.lines == []
    await scene.request("PUT", "/flows/acme/menu", GRAPH)
    assert (await scene.request("POST", "/calls", body))[0] == 201


async def test_flows_of_a_tree_are_there(scene: RpcScene) -> None:
    """Every unknown flow of an action is reported at once with its path, also of a route's."""
    unknown = {"type": "flow", "data": {"flowId": "none"}}
    action = {
        "type": "gather",
        "data": {"fallback": unknown},
        "action": {"type": "dial", "data": {"flowId": "menu"}, "action": unknown},
    }
    body = {"account": "acme", "from": "+4721930000", "to": "+4722222222", "action": action}
    await scene.request("PUT", "/flows/acme/menu", GRAPH)
    for method, path in (("POST", "/calls"), ("PUT", "/routes/+4733333333")):
        request = body if method == "POST" else {"account": "acme", "action": action}
        status, problem = await scene.request(method, path, request)
        assert (status, problem["code"]) == (400, "unknown_flow")
        assert [each["path"] for each in problem["errors"]] == [
            "action.action.action.data.flowId",
            "action.data.fallback.data.flowId",
        ]
    detection = {"onMachine": unknown}
    status, problem = await scene.request(
        "POST", "/calls", {**body, "action": None, "machineDetection": detection}
    )
    assert problem["errors"][0]["path"] == "machineDetection.onMachine.data.flowId"
    assert scene.pbx.lines == []


async def test_all_errors_of_a_call_are_reported(scene: RpcScene) -> None:
    """Those that only the stored data shows come together, each with its path."""
    body = {
        "account": "acme", "from": "sip:a@b.c", "to": "sip:d@e.f", "flowId": "none",
        "action": {"type": "play", "data": {"audioUrl": "http://example.com/"}},
        "statusCallbackUrl": "0" * 24,
    }  # fmt: skip
    status, problem = await scene.request("POST", "/calls", body)
    assert status == 400
    assert [each["path"] for each in problem["errors"]] == [
        "action.data.audioUrl", "from", "to", "statusCallbackUrl", "flowId",
    ]  # fmt: skip


async def test_accounts_do_not_see_each_others_flows(scene: RpcScene) -> None:
    """Flows and API requests of another account get 404, and flows cannot use its requests."""
    await scene.request("PUT", "/flows/acme/menu", GRAPH)
    await scene.request("PUT", f"/requests/acme/{API}", REQUEST)
    assert await scene.problem("GET", "/flows/other/menu") == (404, "not_found")
    assert await scene.problem("DELETE", "/flows/other/menu") == (404, "not_found")
    assert await scene.problem("GET", f"/requests/other/{API}") == (404, "not_found")
    assert await scene.problem("DELETE", f"/requests/other/{API}") == (404, "not_found")
    assert await scene.request("GET", "/requests/other") == (200, {"requests": []})
    assert await scene.problem("PUT", "/flows/other/menu", ASKING) == (400, "unknown_request")
    assert (await scene.request("PUT", "/flows/acme/asking", ASKING))[0] == 200


async def test_every_fault_is_shown_at_once(scene: RpcScene) -> None:
    """An invalid flow is not stored; each error has path, message and code."""
    broken = {"start": "b", "nodes": {"a": {"type": "say", "data": {}, "next": "c"}, "d": LOOKUP}}
    for method, path in (("PUT", "/flows/acme/menu"), ("POST", "/flows/acme/menu/check")):
        status, problem = await scene.request(method, path, broken)
        assert status == 400
        assert {(each["path"], each["code"]) for each in problem["errors"]} == {
            ("start", "unknown_node"),
            ("nodes.a.data.text", "invalid"),
            ("nodes.d.success", "unknown_node"),
            ("nodes.d.failure", "unknown_node"),
            ("nodes.d.data.requestId", "unknown_request"),
        }
    assert await scene.problem("GET", "/flows/acme/menu") == (404, "not_found")


async def test_a_faulty_tree_is_not_stored(scene: RpcScene) -> None:
    """A template in one of its texts hides no other error."""
    tree: dict[str, Any] = {"type": "say", "data": {"text": "Hi {{contact.fName}}"}}
    faulty = {**tree, "action": {"type": "pause", "data": {"length": -1}}}
    for method, path in (("PUT", "/flows/acme/hi"), ("POST", "/flows/acme/hi/check")):
        status, problem = await scene.request(method, path, faulty)
        assert status == 400
        assert [each["path"] for each in problem["errors"]] == ["action.data.length"]
    assert await scene.problem("GET", "/flows/acme/hi") == (404, "not_found")
    assert (await scene.request("PUT", "/flows/acme/hi", tree))[0] == 200


async def test_a_check_stores_nothing(scene: RpcScene) -> None:
    """A valid flow that is only checked is not stored."""
    assert await scene.request("POST", "/flows/acme/menu/check", GRAPH) == (200, {})
    assert await scene.problem("GET", "/flows/acme/menu") == (404, "not_found")


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b"7", b'{"nodes": 7}', b"[" * 9_999, b'"' + b"x" * 300_000 + b'"']
)
async def test_what_is_no_flow(scene: RpcScene, body: bytes) -> None:
    """Anything but a flow gets 400, or 413 if it is too large."""
    assert (await scene.problem("PUT", "/flows/acme/menu", body))[0] in {400, 413}


async def test_a_request_is_shown_without_its_secrets(scene: RpcScene) -> None:
    """The view has only names of secrets; a put without them keeps them, null deletes one."""
    shown = {**REQUEST, "requestId": API, "secrets": ["token"]}
    assert await scene.request("PUT", f"/requests/acme/{API}", REQUEST) == (200, shown)
    again = {key: each for key, each in REQUEST.items() if key != "secrets"}
    assert await scene.request("PUT", f"/requests/acme/{API}", again) == (200, shown)
    assert await scene.request("GET", f"/requests/acme/{API}") == (200, shown)
    assert await scene.request("GET", "/requests/acme") == (200, {"requests": [shown]})
    gone = {**again, "secrets": {"token": None}}
    assert await scene.problem("PUT", f"/requests/acme/{API}", gone) == (400, "unknown_secret")
    stored = await scene.dependencies.store.request("acme", API)
    assert stored is not None
    assert b"s3cr3t" in stored
    assert (await scene.request("DELETE", f"/requests/acme/{API}"))[0] == 200
    assert await scene.problem("GET", f"/requests/acme/{API}") == (404, "not_found")


async def test_bad_requests_are_refused(scene: RpcScene) -> None:
    """The id must have 24 digits, the fields must be valid, and the host must be fixed."""
    assert (await scene.problem("PUT", "/requests/acme/7", REQUEST))[0] == 400
    assert (await scene.problem("PUT", f"/requests/a%2Fb/{API}", REQUEST))[0] == 400
    for bad in (b"", b"{}", b"[]", {**REQUEST, "url": "https://{{contact.host}}/"}):
        assert (await scene.problem("PUT", f"/requests/acme/{API}", bad))[0] == 400


async def test_schemas_are_published(scene: RpcScene) -> None:
    """They are those of the code."""
    for name, schema in DOCUMENTS.items():
        status, document = await scene.request("GET", f"/schemas/{name}")
        assert (status, document) == (200, json.loads(json.dumps(schema())))
    assert await scene.problem("GET", "/schemas/other.json") == (404, "not_found")


async def test_a_flow_names_few_bytes_of_api_requests(scene: RpcScene) -> None:
    """A check reads those that the flow names, in steps; more of them are an error."""
    body = b'{"url":"https://a.example/","method":"POST","text":"%s"}' % (b"x" * 65_000)
    ids = [f"{number:024x}" for number in range(MAX_REQUESTS_BYTES // len(body) + 1)]
    for each in ids:
        await scene.store.put_request("acme", each, body)
    end = {"type": "hangup"}
    for named, status in ((ids[1:], 200), (ids, 400)):
        following = [*named[1:], "end"]
        nodes = {
            each: {
                "type": "request",
                "data": {"requestId": each},
                "success": after,
                "failure": "end",
            }
            for each, after in zip(named, following, strict=True)
        }
        flow = {"start": named[0], "nodes": {**nodes, "end": end}}
        got, problem = await scene.request("POST", "/flows/acme/menu/check", flow)
        assert got == status
    (error,) = problem["errors"]
    assert (error["path"], error["code"]) == ("nodes", "too_large")
