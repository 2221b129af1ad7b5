"""Flows and API requests over the RPC: all errors at once."""

import json
from typing import Any

import pytest

from engine.rpc.handlers.document_checks import MAX_REQUESTS_BYTES
from tests.harness.rpc.scene import RpcScene
from tests.harness.scenarios.graphs import API
from tests.harness.store.documents import put_request
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


async def test_a_flow_is_taken_away(scene: RpcScene) -> None:
    """A deleted flow is not found; calls that run it go on. It may be stored again."""
    second = {**GRAPH, "name": "two"}
    await scene.documents.flow("acme", "menu", GRAPH)
    number = await scene.documents.flow("acme", "menu", second)
    assert await scene.request("GET", "/documents/acme/flow/menu") == (200, second)
    await scene.documents.delete("acme", "flow", "menu")
    assert await scene.problem("GET", "/documents/acme/flow/menu") == (404, "not_found")
    assert await scene.store.flow("acme", "menu") is None
    assert await scene.store.flow("acme", "menu", number) is not None
    await scene.documents.flow("acme", "menu", GRAPH)
    assert await scene.request("GET", "/documents/acme/flow/menu") == (200, GRAPH)


async def test_a_call_names_a_flow_that_is_there(scene: RpcScene) -> None:
    """The flow must exist and be a call flow before a phone rings."""
    body = {"account": "acme", "from": "+4721930000", "to": "+4722222222", "flowId": "menu"}
    assert await scene.problem("POST", "/calls", body) == (400, "unknown_flow")
    await scene.documents.flow("acme", "menu", {**GRAPH, "kind": "message"})
    assert (await scene.problem("POST", "/calls", body))[0] == 400
    assert scene.pbx.lines == []
    await scene.documents.flow("acme", "menu", GRAPH)
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
    await scene.documents.flow("acme", "menu", GRAPH)
    for method, path in (("POST", "/calls"), ("POST", "/routes/+4733333333/check")):
        request = body if path == "/calls" else {"account": "acme", "action": action}
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
    """Flows of another account get 404, and flows cannot use its requests."""
    await scene.documents.flow("acme", "menu", GRAPH)
    await scene.documents.request("acme", API, REQUEST)
    assert await scene.problem("GET", "/documents/other/flow/menu") == (404, "not_found")
    unknown = await scene.problem("POST", "/flows/other/menu/check", ASKING)
    assert unknown == (400, "unknown_request")
    assert (await scene.request("POST", "/flows/acme/asking/check", ASKING))[0] == 200


async def test_every_fault_is_shown_at_once(scene: RpcScene) -> None:
    """Each error of an invalid flow has path, message and code."""
    broken = {"start": "b", "nodes": {"a": {"type": "say", "data": {}, "next": "c"}, "d": LOOKUP}}
    status, problem = await scene.request("POST", "/flows/acme/menu/check", broken)
    assert status == 400
    assert {(each["path"], each["code"]) for each in problem["errors"]} == {
        ("start", "unknown_node"),
        ("nodes.a.data.text", "invalid"),
        ("nodes.d.success", "unknown_node"),
        ("nodes.d.failure", "unknown_node"),
        ("nodes.d.data.requestId", "unknown_request"),
    }


async def test_a_faulty_tree(scene: RpcScene) -> None:
    """A template in one of its texts hides no other error."""
    tree: dict[str, Any] = {"type": "say", "data": {"text": "Hi {{contact.fName}}"}}
    faulty = {**tree, "action": {"type": "pause", "data": {"length": -1}}}
    status, problem = await scene.request("POST", "/flows/acme/hi/check", faulty)
    assert status == 400
    assert [each["path"] for each in problem["errors"]] == ["action.data.length"]
    assert (await scene.request("POST", "/flows/acme/hi/check", tree))[0] == 200


async def test_a_check_stores_nothing(scene: RpcScene) -> None:
    """A valid flow that is only checked is not stored."""
    assert await scene.request("POST", "/flows/acme/menu/check", GRAPH) == (200, {})
    assert await scene.problem("GET", "/documents/acme/flow/menu") == (404, "not_found")


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b"7", b'{"nodes": 7}', b"[" * 9_999, b'"' + b"x" * 300_000 + b'"']
)
async def test_what_is_no_flow(scene: RpcScene, body: bytes) -> None:
    """Anything but a flow gets 400, or 413 if it is too large."""
    assert (await scene.problem("POST", "/flows/acme/menu/check", body))[0] in {400, 413}


async def test_bad_requests_are_refused(scene: RpcScene) -> None:
    """The id must have 24 digits, the fields must be valid, and the host must be fixed."""
    assert (await scene.problem("POST", "/requests/acme/7/check", REQUEST))[0] == 400
    assert (await scene.problem("POST", f"/requests/a%2Fb/{API}/check", REQUEST))[0] == 400
    without = {**REQUEST, "secrets": {}}
    unknown = await scene.problem("POST", f"/requests/acme/{API}/check", without)
    assert unknown == (400, "unknown_secret")
    for bad in (b"", b"{}", b"[]", {**REQUEST, "url": "https://{{contact.host}}/"}):
        assert (await scene.problem("POST", f"/requests/acme/{API}/check", bad))[0] == 400


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
        await put_request(scene.store, "acme", each, body)
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
