"""What customers reach without a token: nothing but documents where they are turned on."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import pytest
from prometheus_client import CollectorRegistry, Counter

from api.app import create_app
from api.config import Settings
from api.engine_client import EngineClient
from api.http.header_limits import MAX_HEADER_BYTES
from api.http.health import CACHE_S, MetricsPage, Readiness, create_health_app
from api.services import open_services
from dev.lab.plan import Plan
from dev.lab.settings import ensure_settings
from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import Rest, settings_for
from tests.harness.api.serving import NOWHERE
from tests.harness.rpc.scene import RpcScene
from tests.harness.servers.records_api import RecordsApi
from tests.harness.until import MAX_WAIT_S
from tools.docs.reference.openapi import rest_document

HEALTH = ("/healthz", "/readyz", "/metrics")
DOCS = ("/docs", "/openapi.json", "/docs/files/swagger-ui.css")


async def statuses(app: Any, *paths: str) -> set[int]:
    """Return the statuses of paths, requested without a token."""
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
        return {(await client.get(path)).status_code for path in paths}


@pytest.mark.parametrize("setting", ["api_docs", "keys_as_tokens"])
def test_the_lab_has_what_others_have_to_choose(setting: str, tmp_path: Path) -> None:
    """By default there are no documents, and keys without their secrets are no tokens."""
    assert Settings.model_fields[setting].default is False
    assert ensure_settings(tmp_path, Plan(), {})[f"SWITCHROOM_{setting.upper()}"] == "true"


async def test_the_port_of_customers(tmp_path: Path, scene: RpcScene) -> None:
    """It has neither metrics nor health, and documents only where they are turned on."""
    for has_docs, expected in ((False, 404), (True, 200)):
        settings = settings_for(sqlite_url(tmp_path), scene.url, api_docs=has_docs)
        async with open_services(settings) as services:
            app = create_app(services)
            assert await statuses(app, *HEALTH) == {404}
            assert await statuses(app, *DOCS) == {expected}


async def test_the_port_of_operators(rest: Rest) -> None:
    """It has health and metrics, and nothing else."""
    page = MetricsPage(rest.services.metrics.registry)
    health = create_health_app(rest.services.readiness, page)
    assert await statuses(health, *HEALTH) == {200}
    assert await statuses(health, "/srmain/cdr", *DOCS) == {404}


def test_metrics_are_collected_once_a_second() -> None:
    """However often they are requested: it takes as long as there are series."""
    registry, now_s = CollectorRegistry(), [0.0]
    counter = Counter("requests", "Requests.", registry=registry)
    page = MetricsPage(registry, lambda: now_s[0])
    first = page.read()
    counter.inc()
    assert page.read() is first
    now_s[0] += CACHE_S
    assert b"requests_total 1.0" in page.read()


async def test_a_document_is_made_once(rest: Rest) -> None:
    """Its bytes are the same for each request, compressed for who takes that; else 304."""
    app = create_app(rest.services)
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
        whole = await client.get("/openapi.json", headers={"Accept-Encoding": "identity"})
        packed = await client.get("/openapi.json", headers={"Accept-Encoding": "gzip"})
        known = {"If-None-Match": whole.headers["etag"]}
        again = await client.get("/openapi.json", headers=known)
    assert whole.json() == packed.json() == rest_document()
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) * 10 < int(whole.headers["content-length"])
    assert (again.status_code, again.content) == (304, b"")


async def test_a_process_serves_both_ports(tmp_path: Path) -> None:
    """Both with limits of heads, and ends by one signal."""
    api = RecordsApi(
        tmp_path / "api",
        database_url=sqlite_url(tmp_path),
        engine_url=NOWHERE,
        rpc_token="none" * 8,  # there is no engine
    )
    async with api, aiohttp.ClientSession() as http:
        async with http.get(f"{api.url}/metrics") as reply:
            assert reply.status == 404
        async with http.get(f"{api.metrics_url}/metrics") as reply:
            assert "switchroom_api_request_seconds" in await reply.text()
        port = int(api.metrics_url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /metrics HTTP/1.1\r\nA: " + b"a" * 2 * MAX_HEADER_BYTES)
        async with asyncio.timeout(MAX_WAIT_S):
            assert (await reader.readline()).startswith(b"HTTP/1.1 431 ")
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
