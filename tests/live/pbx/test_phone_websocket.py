"""SIP over a websocket for phones in browsers: they reach /ws, and nothing else of the PBX."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.harness.pbx.asterisk import Pbx

ENGINE, PHONE = "127.0.0.1", "127.0.0.2"
OPTIONS = (
    "OPTIONS sip:pbx@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/WS a.invalid;branch=z9hG4bK1\r\n"
    "From: <sip:a@a.invalid>;tag=1\r\nTo: <sip:pbx@127.0.0.1>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n"
    "Max-Forwards: 70\r\nContent-Length: 0\r\n\r\n"
)


@pytest.fixture
async def pbx(tmp_path: Path) -> AsyncIterator[Pbx]:
    found = Pbx(tmp_path, settings={"PHONE_WEBSOCKET": "yes", "AGENT_NETS": PHONE})
    await found.start()
    yield found
    await found.stop()


async def status(pbx: Pbx, path: str, address: str) -> int:
    """Return the status of a request from an address."""
    connector = aiohttp.TCPConnector(local_addr=(address, 0))
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.get(pbx.url + path) as reply,
    ):
        return reply.status


async def test_a_phone_speaks_sip(pbx: Pbx) -> None:
    """Asterisk asks it for a password, as any phone."""
    connector = aiohttp.TCPConnector(local_addr=(PHONE, 0))
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.ws_connect(f"{pbx.url}/ws", protocols=["sip"]) as socket,
    ):
        await socket.send_str(OPTIONS)
        answer = str((await socket.receive(timeout=5)).data)
    assert answer.startswith("SIP/2.0 401")


async def test_a_phone_reaches_nothing_else(pbx: Pbx) -> None:
    """Every path that Asterisk serves but /ws is for engines only."""
    shown = await pbx.cli("http show status")
    paths = set(re.findall(r"^(/[a-z]*)", shown, re.MULTILINE)) - {"/"}
    assert {"/ari", "/ws"} <= paths
    for path in paths - {"/ws"} | {"/httpstatus"}:
        assert await status(pbx, path, PHONE) == 403, path
    assert await status(pbx, "/ari/asterisk/ping", ENGINE) == 401  # it is asked for its password
    assert await status(pbx, "/ws", ENGINE) == 403
