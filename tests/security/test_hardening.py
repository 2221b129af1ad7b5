"""Small protections: headers of responses, ports and networks of webhooks, keys, files."""

import asyncio
import gzip
import os
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from api.http.idempotency import IdempotentRequest
from api.http.upload_slots import MAX_UPLOADS, MAX_UPLOADS_OF_ACCOUNT
from base.address_guard import AddressGuard, AddressRefused, guarded_session
from base.loop_cost import TokenBucket
from engine.app.account_networks import address_guards
from engine.media.clip import MediaError, MediaLimits
from engine.media.clip_maker import download
from tests.harness.api.serving import Served
from tests.harness.settings import read_settings
from tests.harness.until import until
from tests.harness.webhooks.customer import LOOPBACK

PUBLIC = "93.184.216.34"


@pytest.mark.parametrize("path", ["/healthz", "/docs", "/srmain/cdr", "/nowhere"])
async def test_responses_have_security_headers(served: Served, path: str) -> None:
    """Every response, whatever its status; only the page of the API runs a script of its own."""
    async with served.http.get(f"{served.url}{path}") as reply:
        headers = reply.headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Strict-Transport-Security"].startswith("max-age=")
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert ("script-src" in policy) == (path == "/docs")


@pytest.mark.parametrize(
    "port",
    [22, 25, 5038, 5060, 6379, 2375, 2376, 10250, 8001, 8070, 8088, 8095, 8096],
)
def test_ports_of_other_services_are_refused(port: int) -> None:
    """Also in networks that are allowed."""
    AddressGuard(LOOPBACK).check("127.0.0.1", 443)
    for guard, address in ((AddressGuard(), PUBLIC), (AddressGuard(LOOPBACK), "127.0.0.1")):
        with pytest.raises(AddressRefused):
            guard.check(address, port)


def test_ports_of_the_settings_are_refused() -> None:
    """Those of engine, nodes, gateways and store; not those that webhooks are at."""
    node = {
        "name": "pbx1",
        "url": "http://pbx:20001",
        "password": "p" * 16,
        "media_url": "http://engine:20002",
        "ami_port": 20003,
        "sip_port": 20004,
        "stream_gateways": ("https://pbx:443", "http://pbx:20005"),
    }
    more = {"streams_token": "t" * 32, "redis_url": "redis+cluster://:p@a:20006,b:20007"}
    settings = read_settings({"rpc_port": 20008, "nodes": (node,), **more})
    guard = address_guards(settings, ("127.0.0.0/8",)).private
    for port in range(20001, 20009):
        with pytest.raises(AddressRefused):
            guard.check("127.0.0.1", port)
    for port in (80, 443, 20009):
        guard.check("127.0.0.1", port)


def test_the_operators_own_networks_are_refused() -> None:
    """Unless a smaller network is allowed."""
    denied = (ip_network("93.184.216.0/24"), ip_network("2600:1901::/32"))
    AddressGuard().check(PUBLIC, 443)
    for address in (PUBLIC, "2600:1901::1"):
        with pytest.raises(AddressRefused):
            AddressGuard(deny=denied).check(address, 443)
    AddressGuard((ip_network(f"{PUBLIC}/32"),), denied).check(PUBLIC, 443)


def test_each_agent_has_its_own_idempotency_keys() -> None:
    """Two agents, and the account itself, share no response and no request id."""
    requests = [IdempotentRequest("acme", each, "k", "/", b"") for each in (None, "1", "2")]
    assert len({each.stored_key for each in requests}) == len(requests)
    assert len({each.request_id for each in requests}) == len(requests)


async def test_downloads_are_not_decompressed(tmp_path: Path) -> None:
    """A server that compresses although it was told not to: the bytes are no audio."""
    body = gzip.compress(b"RIFF\0\0\0\0WAVE" + bytes(100))

    async def packed(_request: web.Request) -> web.Response:
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    app = web.Application()
    app.add_routes([web.get("/", packed)])
    async with TestServer(app) as server, guarded_session(LOOPBACK) as session:
        url, pace = str(server.make_url("/")), TokenBucket(1e9, lambda: 1e9, lambda: 0.0)
        with pytest.raises(MediaError, match="not audio"):
            await download(session, url, "", tmp_path / "raw", MediaLimits(), pace=pace)


def test_files_are_private(tmp_path: Path) -> None:
    """Those of an engine and of the REST layer, which keep this mask."""
    code = "from base.sandbox import protect_process as p; p(); open('file', 'w').close()"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


class SlowUpload:
    """Form data whose file does not end until the test ends it."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Send the beginning, then the rest."""
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nPhone\n'
        await self.ended.wait()
        yield b"+4790000001\n\r\n--x--\r\n"


async def test_uploads_at_once_are_limited(served: Served) -> None:
    """Each is on the disk of the process; no accounts can keep others from theirs."""
    slots = served.services.upload_slots
    headers = {"Content-Type": "multipart/form-data; boundary=x"}

    async def upload(who: str, body: SlowUpload) -> tuple[int, str]:
        url = f"{served.url}/srmain/contacts_list/upload"
        sent = {**headers, **served.headers(who)}
        async with served.http.post(url, data=aiter(body), headers=sent) as reply:
            return reply.status, (await reply.json())["code"]

    slow = SlowUpload()
    async with asyncio.TaskGroup() as group:
        held = [group.create_task(upload("acme", slow)) for _ in range(MAX_UPLOADS_OF_ACCOUNT)]
        await until(lambda: slots.total == len(held))
        assert await upload("acme", SlowUpload()) == (429, "too_many_uploads")
        held += [group.create_task(upload("other", slow)) for _ in range(MAX_UPLOADS - len(held))]
        await until(lambda: slots.total == len(held))
        await served.add("third")
        held.append(group.create_task(upload("third", slow)))
        done, _ = await asyncio.wait(held, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result() for task in done] == [(503, "unavailable")]  # it gave way
        slow.ended.set()
    assert Counter(task.result()[0] for task in held) == {
        400: MAX_UPLOADS,
        503: 1,
    }  # no list's name
    assert slots.total == 0
