"""What customers reach without a token: with a port for metrics and without docs, nothing."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import pytest

from api.app import create_app
from api.engine_client import EngineClient
from api.http.header_limits import MAX_HEADER_BYTES
from api.http.health import create_health_app
from api.http.readiness import CACHE_S, Readiness
from dev.servers.server import is_well
from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.api.serving import NOWHERE
from tests.harness.ports import free_port
from tests.harness.rpc.scene import RpcScene
from tests.harness.servers.records_api import RecordsApi
from tests.harness.until import MAX_WAIT_S

HEALTH = ("/healthz", "/readyz", "/metrics")
DOCS = ("/docs", "/openapi.json", "/docs/files/swagger-ui.css")


async def statuses(app: Any, *paths: str) -> set[int]:
    """Return the statuses of paths, requested without a token."""
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
        return {(await client.get(path)).status_code for path in paths}


async def test_all_at_one_port(rest: Rest) -> None:
    """As long as no settings say otherwise."""
    assert await statuses(create_app(rest.services), *HEALTH, *DOCS) == {200}


async def test_metrics_at_a_port_of_their_own(tmp_path: Path, scene: RpcScene) -> None:
    """The API has neither metrics, nor health, nor documents; the other port nothing else."""
    settings = settings_for(
        sqlite_url(tmp_path), scene.url, api_metrics_port=free_port(), api_docs=False
    )
    async with run_rest(settings, scene) as rest:
        assert await statuses(create_app(rest.services), *HEALTH, *DOCS) == {404}
        health = create_health_app(rest.services)
        assert await statuses(health, *HEALTH) == {200}
        assert await statuses(health, "/srmain/cdr", *DOCS) == {404}


class TwoPorts(RecordsApi):
    """A process with a port for health."""

    health_url = ""

    async def is_ready(self) -> bool:
        """Return whether its other port says so."""
        return await is_well(f"{self.health_url}/healthz")


async def test_a_process_serves_both_ports(tmp_path: Path) -> None:
    """Both with limits of heads, and ends by one signal."""
    port = free_port()
    api = TwoPorts(
        tmp_path / "api",
        database_url=sqlite_url(tmp_path),
        engine_url=NOWHERE,
        rpc_token="none" * 8,  # there is no engine
        settings={"SWITCHROOM_API_METRICS_PORT": str(port)},
    )
    api.health_url = f"http://127.0.0.1:{port}"
    async with api, aiohttp.ClientSession() as http:
        async with http.get(f"{api.url}/metrics") as reply:
            assert reply.status == 404
        async with http.get(f"{api.health_url}/metrics") as reply:
            assert "switchroom_api_request_seconds" in await reply.text()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /metrics HTTP/1.1\r\nA: " + b"a" * 2 * MAX_HEADER_BYTES)
        async with asyncio.timeout(MAX_WAIT_S):
            with suppress(ConnectionError):  # closed before all was read
                assert await reader.read() == b""
        writer.close()
    assert not api.running()
    assert "Traceback" not in api.log.read_text()


class CountingEngine(EngineClient):
    """An engine's client that counts its requests."""

    count = 0

    async def request_raw(self, *_request: Any) -> bytes:
        """Count the request."""
        self.count += 1
        return b"{}"


async def test_readiness_is_checked_once_a_second(rest: Rest) -> None:
    """However often it is requested: it costs a query and a request."""
    engine, now_s = CountingEngine(rest.services.engine.http, ()), [0.0]
    readiness = Readiness(rest.services.database, engine, lambda: now_s[0])
    for _ in range(3):
        assert await readiness.faults() == []
    assert engine.count == 1
    now_s[0] += CACHE_S
    await readiness.faults()
    assert engine.count == 2


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
async def test_the_port_is_valid(tmp_path: Path, port: str) -> None:
    """As the other one."""
    with pytest.raises(ValueError, match="api_metrics_port"):
        settings_for(sqlite_url(tmp_path), NOWHERE, api_metrics_port=port)
