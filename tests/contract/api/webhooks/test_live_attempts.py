"""Attempts as live events over REST: from now on, after an id, and of the account alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web

from tests.contract.rpc.webhooks.scene import CALL, WebhookScene
from tests.harness.api.databases import sqlite_url
from tests.harness.api.serving import Served, serve_rest
from tests.harness.rpc.scene import RpcScene
from tests.harness.webhooks.customer import HANGUP, Server

EVENTS = "/srmain/voice/webhooks/events"


@pytest.fixture
async def webhook_scene(scene: RpcScene) -> AsyncIterator[WebhookScene]:
    """Run a customer's server."""
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        yield WebhookScene(scene, server, url)


@pytest.fixture
async def rest(scene: RpcScene, tmp_path: Path) -> AsyncIterator[Served]:
    """Provide the REST layer with two accounts."""
    async with serve_rest(sqlite_url(tmp_path), scene.url) as found:
        yield found


@asynccontextmanager
async def reading(
    rest: Served, who: str = "acme", last: str = ""
) -> AsyncIterator[aiohttp.StreamReader]:
    """Read an account's attempts; the stream has begun."""
    headers = rest.headers(who) | ({"Last-Event-ID": last} if last else {})
    async with rest.http.get(f"{rest.url}{EVENTS}", headers=headers) as reply:
        assert (reply.status, reply.content_type) == (200, "text/event-stream")
        assert await reply.content.readuntil(b"\n\n") == b"retry: 1000\n\n"
        yield reply.content


async def next_attempt(stream: aiohttp.StreamReader) -> dict[str, Any]:
    """Return the next event of a stream."""
    while True:
        frame = await stream.readuntil(b"\n\n")
        if frame.startswith(b"id: "):
            name, event, data = frame.decode().strip().split("\n")
            attempt: dict[str, Any] = msgspec.json.decode(data.removeprefix("data: "))
            assert (name, event) == (f"id: {attempt['id']}", "event: attempt")
            return attempt


async def test_attempts_as_they_are_made(rest: Served, webhook_scene: WebhookScene) -> None:
    """Those before the stream began are not in it; with Last-Event-ID they are."""
    await webhook_scene.ask(0)
    async with reading(rest) as stream:
        await webhook_scene.ask(1)
        first = await next_attempt(stream)
        await webhook_scene.ask(2)
        second = await next_attempt(stream)
    assert [first["requestId"], second["requestId"]] == [f"{CALL}.r1", f"{CALL}.r2"]
    async with reading(rest, last=first["id"]) as stream:
        assert await next_attempt(stream) == second


async def test_another_account_reads_nothing(rest: Served, webhook_scene: WebhookScene) -> None:
    """Its stream stays empty, also after an id of the first account."""
    async with reading(rest) as ours, reading(rest, "other", "1-0") as theirs:
        await webhook_scene.ask()
        await next_attempt(ours)
        await webhook_scene.actions.ask("other", webhook_scene.url, b"{}", "3-pbx1-bbbbbbbb.r0")
        await webhook_scene.scene.attempts.flush()
        assert (await next_attempt(theirs))["callId"] == "3-pbx1-bbbbbbbb"
