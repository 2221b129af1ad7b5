"""Flows, number routes, nodes and health over the RPC."""

import pytest

from tests.harness.rpc.scene import SAY, RpcScene
from wire.documents.versioned import SECRET_KINDS

ROUTE = {"account": "acme", "action": SAY, "customData": {"a": 1}}


async def test_flows_are_kept(scene: RpcScene) -> None:
    """A flow is stored and shown; one without placeholders must be a valid tree."""
    flow = {"type": "say", "data": {"text": "Hi {{contact.fName}}"}}
    await scene.documents.flow("acme", "menu", flow)
    assert await scene.request("GET", "/documents/acme/flow/menu") == (200, flow)
    assert await scene.problem("GET", "/documents/other/flow/menu") == (404, "not_found")
    for bad in ({"type": "sing"}, b"{", b'"\xff"', b"{{", b'{"a": "{{' + b"x" * 70_000 + b'"}'):
        assert (await scene.problem("POST", "/flows/acme/menu/check", bad))[0] == 400
    assert (await scene.problem("POST", "/flows/acme/a%2Fb/check", flow))[0] == 400
    assert (await scene.problem("POST", "/flows/ac%0Ame/b/check", flow))[0] == 400


async def test_routes_are_kept(scene: RpcScene) -> None:
    """The route of a number is stored, shown and deleted."""
    await scene.documents.route("+4733333333", ROUTE)
    await scene.documents.route("*", {**ROUTE, "action": "https://x.example/"})
    assert await scene.request("GET", "/documents/acme/route/+4733333333") == (200, ROUTE)
    assert (await scene.store.routes()).keys() == {"+4733333333", "*"}
    await scene.documents.delete("acme", "route", "*")
    assert (await scene.store.routes()).keys() == {"+4733333333"}


@pytest.mark.parametrize(
    "change",
    [
        {"action": {"type": "play", "data": {"audioUrl": "http://x/"}}},
        {"customData": {"n": 2**70}},
        {"recordCall": "yes"},
    ],
)
async def test_bad_routes(scene: RpcScene, change: dict[str, object]) -> None:
    """They are found before they are stored."""
    assert (await scene.problem("POST", "/routes/1/check", {**ROUTE, **change}))[0] == 400
    for more in ({"recordCall": True}, {"recordCall": {"enable": True}}):
        assert (await scene.request("POST", "/routes/1/check", {**ROUTE, **more}))[0] == 200


@pytest.mark.parametrize("kind", SECRET_KINDS)
async def test_documents_with_secrets_are_not_shown(scene: RpcScene, kind: str) -> None:
    """A client that may only read would get the secrets of all accounts."""
    assert await scene.problem("GET", f"/documents/acme/{kind}/x") == (400, "invalid")


async def test_nodes_health_and_metrics(scene: RpcScene) -> None:
    """Nodes are listed with their calls; health, readiness and metrics need no token."""
    await scene.start_call()
    _, nodes = await scene.request("GET", "/nodes")
    shown = {"name": "pbx1", "connected": True, "calls": 1, "weight": 1.0}
    assert shown.items() <= nodes["nodes"][0].items()
    for path, text in (("healthz", "ok"), ("readyz", "true"), ("metrics", "switchroom_calls")):
        async with scene.session.get(f"{scene.url}/{path}") as got:
            assert got.status == 200
            assert text in await got.text()
