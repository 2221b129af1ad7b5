"""Doctor checks of nodes, stores and engines."""

from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from aiohttp import web
from msgspec.structs import replace

from cli.doctor.machine import check_engine
from cli.doctor.pbx import MODULES, AriNode, check_node
from cli.doctor.result import Finding
from cli.doctor.store import check_store
from cli.http_client import HttpClient
from tests.harness.ports import free_port
from tests.harness.servers.valkey_cluster import PRIMARIES, ValkeyCluster
from tests.harness.servers.web_server import WebServer
from wire import rpc
from wire.error_codes.problems import coded_problem

TOKEN = "secret"  # noqa: S105 - of a server that lives for one test
OPEN = "any page in a browser opens its websocket for phones, past the REST layer"


class FakeEngine(WebServer):
    """Serves the RPC of an engine that is connected to one of two nodes."""

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve the requests of the doctor."""
        return [web.get("/rpc/v1/nodes", self._answer), web.get("/rpc/v1/slots", self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        if request.headers["Authorization"] != f"Bearer {TOKEN}":
            refused = coded_problem(401, "unauthenticated", "wrong token")
            return web.Response(status=401, body=msgspec.json.encode(refused))
        nodes = rpc.Nodes((rpc.NodeView("pbx1", True, 3), rpc.NodeView("pbx2", False, 0)))
        found = nodes if request.path.endswith("nodes") else rpc.Slots(2, highest=2)
        return web.Response(body=msgspec.json.encode(found))


def rpc_of(url: str, token: str = TOKEN) -> HttpClient:
    """Return a client of an engine."""
    return HttpClient(url, f"Bearer {token}", None, "engine")


@asynccontextmanager
async def asterisk(  # noqa: PLR0913 - a test names only what it varies
    version: str = "22.10.1",
    missing: str = "",
    info: int = 200,
    sessions: int = 99,
    refers: Collection[str] = (),
    *,
    websocket: str = "",
) -> AsyncIterator[AriNode]:
    """Serve the ARI of an Asterisk with these properties."""
    pings: list[web.Request] = []

    async def about(_request: web.Request) -> web.Response:
        return web.json_response({"system": {"version": version}}, status=info)

    async def modules(_request: web.Request) -> web.Response:
        shown = [name for name in MODULES if name != missing]
        return web.json_response([{"name": f"{name}.so", "status": "Running"} for name in shown])

    async def ping(request: web.Request) -> web.Response:
        pings.append(request)
        if len(pings) > sessions and request.transport is not None:
            request.transport.close()
        return web.json_response({})

    async def endpoints(_request: web.Request) -> web.Response:
        return web.json_response([{"resource": name} for name in ("1001", "1002", "trunk")])

    async def endpoint(request: web.Request) -> web.Response:
        if request.match_info["name"] == "browser-template":
            return web.Response(status=404)
        accepts = str(request.match_info["name"] in refers).lower()
        return web.json_response([{"attribute": "allow_transfer", "value": accepts}])

    async def events(request: web.Request) -> web.WebSocketResponse:
        websocket = web.WebSocketResponse()
        await websocket.prepare(request)
        await websocket.receive()
        await websocket.send_str('{"type": "RESTResponse", "status_code": 200}')
        await websocket.close()
        return websocket

    app = web.Application()
    app.router.add_get("/ari/asterisk/info", about)
    app.router.add_get("/ari/asterisk/modules", modules)
    app.router.add_get("/ari/asterisk/ping", ping)
    app.router.add_get("/ari/endpoints/PJSIP", endpoints)
    app.router.add_get("/ari/asterisk/config/dynamic/res_pjsip/endpoint/{name}", endpoint)
    app.router.add_get("/ari/events", events)
    if websocket:
        app.router.add_get(websocket, events)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield AriNode("pbx1", f"http://127.0.0.1:{runner.addresses[0][1]}", "user", "password")
    finally:
        await runner.cleanup()


def failed(findings: list[Finding]) -> list[str]:
    """Return the texts of the findings that are not OK."""
    return [each.text for each in findings if each.level != "OK"]


async def test_a_good_node_is_good() -> None:
    """A suitable node has only OK findings."""
    async with asterisk() as node:
        findings = await check_node(node, "doctor", 10)
    assert failed(findings) == []
    assert len(findings) == 8


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"version": "18.9.0"}, "Asterisk 18.9.0"),
        (
            {"refers": ("1001", "trunk")},
            "accepts REFER of trunk, 1001; one with `Refer-Sub: false` crashes 22.10.1",
        ),
        ({"missing": "res_curl"}, "missing modules: res_curl"),
        ({"websocket": "/ws"}, OPEN),
        ({"websocket": "/WS"}, OPEN),
        ({"sessions": 4}, "room for 4 more HTTP sessions; an engine needs up to 10"),
    ],
)
async def test_a_nodes_fault_is_named(properties: dict[str, Any], expected: str) -> None:
    """Each fault of a node is one finding."""
    async with asterisk(**properties) as node:
        assert failed(await check_node(node, "doctor", 10)) == [expected]


async def test_an_http_server_where_phones_are() -> None:
    """It answers at the address of SIP, too, so strangers may hold its connections."""
    async with asterisk() as node:
        found = failed(await check_node(replace(node, sip_host="localhost"), "doctor", 10))
    assert found == ["its HTTP server answers at localhost, too, where phones reach it"]


@pytest.mark.parametrize(("build", "level"), [("1", "WARN"), ("1+noplc1", "OK")])
async def test_debians_build_is_named(build: str, level: str) -> None:
    """Unless it was built without the patch that drops audio."""
    async with asterisk(f"22.10.1+dfsg+~cs6.17.60671434-{build}") as node:
        version, *_ = await check_node(node, "doctor", 10)
    assert version.level == level


@pytest.mark.parametrize("version", ["20.21.0", "22.11.0-rc1", "23.5.1", "24.0.0", "GIT-master"])
async def test_a_fixed_version_may_accept_refer(version: str) -> None:
    """Later releases survive a REFER with `Refer-Sub: false`."""
    async with asterisk(version, refers=("1001", "trunk")) as node:
        found = await check_node(node, "doctor", 10)
    assert [each.level for each in found if "REFER" in each.text] == ["OK"]


@pytest.mark.parametrize(
    ("status", "expected"), [(401, "wrong user or password"), (503, "not booted yet")]
)
async def test_a_closed_node_shows_why(status: int, expected: str) -> None:
    """The finding distinguishes wrong credentials from an Asterisk that is still booting."""
    async with asterisk(info=status) as node:
        (finding,) = await check_node(node, "doctor", 10)
    assert finding.level == "FAIL"
    assert expected in finding.text


async def test_an_absent_node_and_store_fail() -> None:
    """A server that does not answer fails with the system's reason."""
    port = free_port()
    node = AriNode("pbx1", f"http://127.0.0.1:{port}", "user", "password")
    (no_node,) = await check_node(node, "doctor", 10)
    (no_store,) = await check_store(f"redis://:secret@127.0.0.1:{port}/0")
    assert no_node.text == f"http://127.0.0.1:{port}: connection refused"
    assert no_store.text == f"127.0.0.1:{port}/0: connection refused"


async def test_an_engine_is_known_by_its_token() -> None:
    """A disconnected node or a wrong token fails; a missing engine is only a warning."""
    async with FakeEngine() as engine:
        up = await check_engine(rpc_of(engine.url()), 2)
        refused = await check_engine(rpc_of(engine.url(), "wrong"), 2)
    none = await check_engine(rpc_of(f"http://127.0.0.1:{free_port()}"), 2)
    assert [each.level for each in (*up, *refused, *none)] == ["OK", "FAIL", "FAIL", "WARN"]


async def test_another_program_on_the_port_fails() -> None:
    """Another program on the RPC's port fails."""
    async with asterisk() as node:
        (finding,) = await check_engine(rpc_of(node.url), 2)
    assert finding.level == "FAIL"
    assert "another program" in finding.advice


async def test_each_primary_of_a_cluster_is_checked(shared_cluster: ValkeyCluster) -> None:
    """Its persistence, whether it writes without its replicas, and its clock."""
    findings = await check_store(shared_cluster.url)
    by_subject: dict[str, list[str]] = {}
    for each in findings:
        by_subject.setdefault(each.subject, []).append(f"{each.level} {each.text}")
    ports = [member.port for member in shared_cluster.members[:PRIMARIES]]
    assert by_subject.keys() == {f"store 127.0.0.1:{port}" for port in ports}
    for texts in by_subject.values():
        assert "OK writes are persistent (append-only file)" in texts
        assert "WARN writes without its replicas (1): a failover may lose changes" in texts
        assert "OK its clock agrees with this machine's" in texts


async def test_a_cluster_that_does_not_answer() -> None:
    """The finding names the nodes, and no password."""
    url = f"redis+cluster://:secret@127.0.0.1:{free_port()}"
    (finding,) = await check_store(url)
    assert finding.level == "FAIL"
    assert "no node of the cluster answers" in finding.text
    assert "secret" not in finding.text
