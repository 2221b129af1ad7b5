"""What the REST layer lets an engine check before it stores a document: nothing is stored."""

from typing import Any

import pytest

from tests.harness.rpc.scene import SAY, RpcScene
from tests.harness.scenarios.graphs import API

NUMBER = "/routes/+4733333333"
GRAPH: dict[str, Any] = {"start": "a", "nodes": {"a": {"type": "say", "data": {"text": "one"}}}}
REQUEST = {
    "url": "https://crm.example/",
    "headers": {"X-Key": "{{secrets.key}}"},
    "secrets": {"key": "s3cr3t"},
}
AGENT = {"endpoint": "PJSIP/1002"}
TARGET = "https://example.com/status"


def calling(flow_id: str) -> dict[str, Any]:
    """Return a flow that calls another one."""
    node = {"type": "flow", "data": {"flowId": flow_id}}
    return {"start": "a", "nodes": {"a": node}}


async def test_valid_documents_are_not_stored(scene: RpcScene) -> None:
    """A check is answered with an empty object, and the document is not there afterwards."""
    for path, body, kind in (
        (f"{NUMBER}/check", {"account": "acme", "action": SAY}, "route"),
        ("/flows/acme/menu/check", GRAPH, "flow"),
        (f"/requests/acme/{API}/check", REQUEST, "request"),
        ("/agents/acme/ann/check", AGENT, "agent"),
    ):
        assert await scene.request("POST", path, body) == (200, {})
        assert await scene.request("GET", f"/documents/acme/{kind}") == (200, {"versions": {}})


@pytest.mark.parametrize(
    ("path", "body", "code", "field"),
    [
        (
            f"{NUMBER}/check",
            {"account": "acme", "action": "http://x.example/"},
            "insecure_url",
            "action",
        ),
        (
            f"{NUMBER}/check",
            {
                "account": "acme",
                "action": {"type": "redirect", "data": {"url": "http://x.example/"}},
            },
            "insecure_url",
            "action.data.url",
        ),
        (
            f"{NUMBER}/check",
            {"account": "acme", "action": {"type": "flow", "data": {"flowId": "theirs"}}},
            "unknown_flow",
            "action.data.flowId",
        ),
        (
            f"/requests/acme/{API}/check",
            {**REQUEST, "secrets": {}},
            "unknown_secret",
            "headers.X-Key",
        ),
        ("/requests/acme/x/check", REQUEST, "invalid", "request"),
        ("/agents/acme/ann/check", {"endpoint": "PJSIP/trunk"}, "invalid", "endpoint"),
        ("/agents/acme/ann/check", {**AGENT, "name": "Ann\r\nX: y"}, "invalid", "name"),
        ("/agents/acme/a%2Fb/check", AGENT, "invalid", "agent"),
        ("/flows/acme/menu/check", calling("menu"), "recursive_flow", "nodes.a.data.flowId"),
    ],
)
async def test_invalid_documents(
    scene: RpcScene, path: str, body: object, code: str, field: str
) -> None:
    """The error names the field; flows of another account are unknown."""
    await scene.documents.flow("other", "theirs", GRAPH)
    status, problem = await scene.request("POST", path, body)
    assert (status, problem["code"], problem["errors"][0]["path"]) == (400, code, field)


async def test_flows_that_call_each_other(scene: RpcScene) -> None:
    """The one that would close the circle is not valid."""
    for flow_id, called in (("a", "b"), ("b", "c")):
        await scene.documents.flow("acme", flow_id, calling(called))
    status, problem = await scene.request("POST", "/flows/acme/c/check", calling("a"))
    assert (status, problem["code"]) == (400, "recursive_flow")
    assert problem["errors"][0]["message"] == "the flow calls itself: c → a → b → c"
    assert (await scene.request("POST", "/flows/other/c/check", calling("a")))[0] == 200


async def test_the_phone_of_a_checked_agent_belongs_to_the_account(scene: RpcScene) -> None:
    """Of two accounts that store an agent at once, the second gets 409."""
    assert (await scene.request("POST", "/agents/acme/ann/check", AGENT))[0] == 200
    refused = await scene.problem("POST", "/agents/other/bob/check", AGENT)
    assert refused == (409, "endpoint_taken")


async def test_some_agents_are_listed(scene: RpcScene) -> None:
    """Those in the query, without those that do not exist."""
    for name in ("ann", "bob", "eve"):
        await scene.documents.agent("acme", name, {"endpoint": f"PJSIP/{name}"})
    for query, ids in (("ann,eve,none", ["ann", "eve"]), ("", [])):
        _, found = await scene.request("GET", f"/agents?account=acme&agents={query}")
        assert [each["agentId"] for each in found["agents"]] == ids


async def draft(scene: RpcScene, change: str, **more: Any) -> Any:
    """Return what follows a change of callback settings."""
    body = {"change": change, **more}
    status, found = await scene.request("POST", "/callbacks/acme/draft", body)
    assert status == 200, found
    return found


async def test_callback_settings_are_drafted(scene: RpcScene) -> None:
    """The engine makes the secrets, and stores nothing."""
    made = await draft(scene, "put", settings={"target": TARGET, "concurrency": 4})
    first = made["settings"]
    assert made["isSecretNew"]
    assert (first["target"], first["concurrency"]) == (TARGET, 4)
    again = await draft(scene, "put", before=first, settings={"target": TARGET})
    assert "isSecretNew" not in again
    assert again["settings"]["secret"] == first["secret"]
    rotated = await draft(scene, "rotate", before=first)
    second = rotated["settings"]
    assert rotated["isSecretNew"]
    assert (second["previous"], second["secret_number"]) == (first["secret"], 1)
    left = (await draft(scene, "remove", before=second))["settings"]
    assert left.keys() == {"secret", "made_ms", "secret_number", "is_secret_unseen"}
    assert left["secret"] not in {first["secret"], second["secret"]}
    assert await scene.problem("GET", "/callbacks/acme") == (404, "not_found")
    for body in ({"change": "remove"}, {"change": "remove", "before": left}):
        assert await scene.problem("POST", "/callbacks/acme/draft", body) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"change": "put"}, "settings"),
        ({"change": "put", "settings": {"target": "http://example.com/"}}, "target"),
        ({"change": "put", "settings": {"target": "0" * 24}}, "target"),
        ({"change": "swap"}, "change"),
    ],
)
async def test_bad_drafts(scene: RpcScene, body: object, field: str) -> None:
    """Each error names its field."""
    status, problem = await scene.request("POST", "/callbacks/acme/draft", body)
    assert (status, problem["errors"][0]["path"]) == (400, field)
