"""Flows, number routes, nodes and health over the RPC."""

from urllib.parse import quote

from tests.harness.rpc.scene import SAY, RpcScene


async def test_flows_are_kept(scene: RpcScene) -> None:
    """A flow is stored and shown; one without placeholders must be a valid tree."""
    flow = {"type": "say", "data": {"text": "Hi {{contact.fName}}"}}
    assert (await scene.request("PUT", "/flows/acme/menu", flow))[0] == 200
    assert await scene.request("GET", "/flows/acme/menu") == (200, flow)
    assert await scene.problem("GET", "/flows/other/menu") == (404, "not_found")
    for bad in ({"type": "sing"}, b"{", b'"\xff"', b"{{", b'{"a": "{{' + b"x" * 70_000 + b'"}'):
        assert (await scene.problem("PUT", "/flows/acme/menu", bad))[0] == 400
    assert (await scene.problem("PUT", "/flows/acme/a%2Fb", flow))[0] == 400
    assert (await scene.problem("PUT", "/flows/ac%0Ame/b", flow))[0] == 400


async def test_routes_are_kept(scene: RpcScene) -> None:
    """The route of a number is stored, listed and deleted."""
    route = {"account": "acme", "action": SAY, "customData": {"a": 1}}
    assert (await scene.request("PUT", "/routes/+4733333333", route))[0] == 200
    assert (await scene.request("PUT", "/routes/*", {**route, "action": "https://x.example/"}))[
        0
    ] == 200
    _, routes = await scene.request("GET", "/routes")
    assert routes["+4733333333"] == route
    assert set(routes) == {"+4733333333", "*"}
    for spelling in ("+47 33 33 33 33", "tel:+4733333333", "+47(0)33-33-33-33"):
        changed = {**route, "customData": {"spelling": spelling}}
        assert (await scene.request("PUT", f"/routes/{quote(spelling)}", changed))[0] == 200
        assert (await scene.request("GET", "/routes"))[1]["+4733333333"] == changed
    assert (await scene.request("DELETE", "/routes/*"))[0] == 200
    assert await scene.problem("DELETE", "/routes/*") == (404, "not_found")
    assert set((await scene.request("GET", "/routes"))[1]) == {"+4733333333"}
    bad = {**route, "action": {"type": "play", "data": {"audioUrl": "http://x/"}}}
    assert (await scene.problem("PUT", "/routes/1", bad))[0] == 400
    assert (await scene.problem("PUT", "/routes/2193.0000", route))[0] == 400
    assert (await scene.problem("PUT", "/routes/1", {**route, "customData": {"n": 2**70}}))[
        0
    ] == 400


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
