"""The inner network over TLS: the RPC with its clients, ARI and AMI.

The store's is in tests/contract/store/test_addresses.py.
"""

import asyncio
import ssl
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest
from aiohttp.test_utils import TestServer

import api.engine_client
from base.tls import TlsFileError, client_context, server_context
from cli.errors import Unreachable, UsageError
from cli.http_client import HttpClient, tls_context
from engine.ami.client import AmiUnavailable, open_ami
from engine.ami.monitor import AmiMonitor
from engine.app import connections
from engine.ari.generated.operations import asterisk
from engine.rpc.access import RpcAccess
from tests.harness.ami.fake_manager import SECRET, FakeManager
from tests.harness.ami.monitoring import RecordingListener
from tests.harness.ami.scripted_manager import Manager
from tests.harness.ari.fake_pbx import FakePbx, running
from tests.harness.rpc.pair import EnginePair, request_of
from tests.harness.rpc.scene import CALL, TOKEN
from tests.harness.servers.certificate import certificate
from tests.harness.settings import read_settings
from tests.harness.store.lossy_connection import LossyProxy
from tests.harness.until import MAX_WAIT_S, until
from wire.views import Calls

CALLS = "/rpc/v1/calls"


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    """Write a key and a self-signed certificate of localhost, which is its own CA, to a file."""
    key, signed = certificate()
    (path := tmp_path / "localhost.pem").write_bytes(key + signed)
    return path


async def test_engines_and_their_clients(tmp_path: Path, pem: Path) -> None:
    """They verify an engine by its certificate, and it answers nothing in clear text."""
    async with AsyncExitStack() as stack:
        pair = EnginePair()
        for scene in (pair.one, pair.two):
            scene.url = scene.url.replace("http://127.0.0.1", "https://localhost")
            tls = server_context(pem, None), client_context(pem)
            scene.access = RpcAccess(scene.url, TOKEN, (), *tls)
        await pair.open(stack, tmp_path)
        body = {**CALL, "requestId": await request_of(pair, 1)}
        verifying = {"ssl": client_context(pem)}
        assert (await pair.one.request("POST", "/calls", body, **verifying))[0] == 201
        assert pair.two.service.live_calls == 1

        async with api.engine_client.open_client([pair.one.url], TOKEN, pem) as rest:
            assert len((await rest.request(Calls, "GET", "/calls")).calls) == 1
        assert len((await _doctor(pair.one.url, pem).request(Calls, "GET", CALLS)).calls) == 1
        async with api.engine_client.open_client([pair.one.url], TOKEN) as rest:
            with pytest.raises(api.engine_client.EngineUnavailable):
                await rest.request(Calls, "GET", "/calls")
        with pytest.raises(Unreachable, match="certificate"):
            await _doctor(pair.one.url).request(Calls, "GET", CALLS)
        plain = pair.one.url.replace("https:", "http:")
        with pytest.raises(aiohttp.ClientError):
            await pair.one.session.get(f"{plain}/healthz")


async def test_an_engine_that_cannot_be_verified(tmp_path: Path, pem: Path) -> None:
    """It gets no request from another engine."""
    async with AsyncExitStack() as stack:
        pair = EnginePair()
        pair.two.url = pair.two.url.replace("http://127.0.0.1", "https://localhost")
        pair.two.access = RpcAccess(pair.two.url, TOKEN, (), server_context(pem, None))
        await pair.open(stack, tmp_path)
        body = {**CALL, "requestId": await request_of(pair, 1)}
        assert (await pair.one.request("POST", "/calls", body))[0] == 503
        assert pair.two.service.live_calls == 0


async def test_ari(pem: Path) -> None:
    """Requests, websockets and the probe of a node use https."""
    fake, probes = FakePbx(), list[bool]()
    server = TestServer(fake.app(), scheme="https", host="localhost")
    await server.start_server(ssl=server_context(pem, None))
    node = {"name": "pbx1", "url": str(server.make_url("")), "password": SECRET}
    (settings,) = read_settings({"nodes": [node]}).nodes
    async with (
        connections.ari(settings, "e1", client_context(pem)) as ari,
        running(ari.run()),
        running(ari.health_probe(probes.append).run()),
    ):
        await until(lambda: fake.sockets != {} and True in probes, what="the node to be connected")
        assert (await ari.ask(asterisk.ping())).ok
    async with (
        connections.ari(settings, "e1", None) as ari,
        running(ari.health_probe(probes.append).run()),
    ):
        await until(lambda: not probes[-1], what="the unverified node to be refused")
    await server.close()


async def test_ami_over_http(pem: Path) -> None:
    """A node that cannot be verified gets no action."""
    manager = Manager()
    app = aiohttp.web.Application()
    app.router.add_post("/arawman", manager.answer)
    server = TestServer(app, scheme="https", host="localhost")
    await server.start_server(ssl=server_context(pem, None))
    url = str(server.make_url("")).rstrip("/")
    async with open_ami(url, "user", "secret", client_context(pem)) as ami:
        assert (await ami.ask("MixMonitor", {})).is_ok
    async with open_ami(url, "user", "secret") as ami:
        with pytest.raises(AmiUnavailable, match="certificate"):
            await ami.ask("MixMonitor", {})
    assert len(manager.forms) == 1
    await server.close()


@pytest.mark.parametrize("is_verified", [True, False])
async def test_ami_events(pem: Path, *, is_verified: bool) -> None:
    """The password is sent to a verified node only."""
    listener = RecordingListener()
    async with FakeManager() as manager:
        proxy = LossyProxy(manager.port, server_context(pem, None))
        async with proxy.listening():
            monitor = AmiMonitor(
                "pbx1",
                ("localhost", proxy.port),
                ("switchroom", SECRET),
                listener,
                listener,
                retry_delay_s=0.01,
                tls=client_context(pem if is_verified else None),
            )
            async with running(monitor.run()):
                expected = 7 if is_verified else "on_unwatched"
                await until(lambda: expected in listener.calls, what="a result")
        assert manager.actions[:1] == (["Login"] if is_verified else [])


async def test_files_that_cannot_be_used(tmp_path: Path, pem: Path) -> None:
    """The error names the setting and the file."""
    missing, wrong = tmp_path / "no.pem", tmp_path / "wrong.pem"
    wrong.write_text("x")
    for path in (missing, wrong):
        with pytest.raises(TlsFileError, match=rf"SWITCHROOM_TLS_CA: .*{path.name}"):
            client_context(path)
        with pytest.raises(TlsFileError, match=rf"SWITCHROOM_RPC_TLS_CERT, _KEY: .*{path.name}"):
            server_context(path, None)
        with pytest.raises(TlsFileError, match=path.name):
            server_context(pem, path)
        with pytest.raises(TlsFileError, match=path.name):
            async with asyncio.timeout(MAX_WAIT_S):
                await _open_rest(path)
        with pytest.raises(UsageError, match=path.name):
            _doctor("https://localhost:1", path)
    assert server_context(pem, None).minimum_version >= ssl.TLSVersion.TLSv1_2


async def _open_rest(ca: Path) -> None:
    async with api.engine_client.open_client(["https://localhost:1"], TOKEN, ca):
        pass


def _doctor(url: str, ca: Path | None = None) -> HttpClient:
    """Return a client of the RPC as the doctor has it."""
    return HttpClient(url, f"Bearer {TOKEN}", tls_context(url, ca), "engine")
