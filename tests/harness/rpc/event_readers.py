"""Readers of an engine's events."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.harness.rpc.scene import TOKEN, RpcScene
from tests.harness.until import MAX_WAIT_S


class Stream:
    """A listener of the event stream."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def next(self) -> tuple[str, dict[str, Any]]:
        """Return the next event, and its id for Last-Event-ID."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(MAX_WAIT_S):
            while not fields.get("data"):
                line = (await self._response.content.readline()).decode().rstrip("\n")
                name, _, value = line.partition(": ")
                if name and value:
                    fields[name] = value
        event: dict[str, Any] = json.loads(fields["data"])
        assert fields["event"] == event["event"]
        return fields["id"], event

    async def ended(self) -> None:
        """Wait for the regular end of the stream: only comments remain."""
        async with asyncio.timeout(MAX_WAIT_S):
            left = await self._response.content.read()
        assert left.replace(b":\n\n", b"") == b""


@asynccontextmanager
async def listening(scene: RpcScene, query: str = "", last: str = "") -> AsyncIterator[Stream]:
    """Follow the event stream."""
    headers = {"Authorization": f"Bearer {TOKEN}"} | ({"Last-Event-ID": last} if last else {})
    async with scene.session.get(f"{scene.url}/rpc/v1/events{query}", headers=headers) as got:
        assert got.status == 200
        assert got.content_type == "text/event-stream"
        yield Stream(got)
