"""The event stream over the RPC: follow, resume, end."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.harness.rpc.scene import TOKEN, RpcScene, end, running
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


async def test_events_are_followed(scene: RpcScene) -> None:
    """New events arrive in order, each with an id; `callId` and `account` filter them."""
    old = await scene.start_call()
    async with listening(scene) as all_, listening(scene, "?account=other") as other:
        new = await scene.start_call(account="other")
        for stream in (all_, other):
            _, event = await stream.next()
            assert (event["callId"], event["event"]) == (new, "initiated")
        end(scene, old)
        async with listening(scene, f"?callId={new}") as one:
            end(scene, new)
            _, event = await one.next()
            assert (event["callId"], event["event"]) == (new, "completed")
        ended = {(await all_.next())[1]["callId"] for _ in range(2)}
        assert ended == {old, new}  # in order within a slot
        assert (await other.next())[1]["event"] == "completed"


async def test_a_filter_that_is_none(scene: RpcScene) -> None:
    """An unknown filter is an error, not an unfiltered stream."""
    assert await scene.problem("GET", "/events?calId=x") == (400, "invalid")


async def test_the_stream_is_taken_up_again(scene: RpcScene) -> None:
    """With Last-Event-ID no event is lost or repeated."""
    async with listening(scene) as stream:
        calls = [await scene.start_call() for _ in range(6)]
        seen = [await stream.next() for _ in range(2)]
    async with listening(scene, last=seen[-1][0]) as stream:
        rest = [await stream.next() for _ in range(4)]
    result = [event["callId"] for _, event in [*seen, *rest]]
    assert sorted(result) == sorted(calls)


@pytest.mark.parametrize(
    "last",
    [
        "x",
        "5-0",
        "[]",
        '{"0": 5}',
        '{"0": "x"}',
        '{"99": "0-0"}',
        '{"-1": "0-0"}',
        '{"0": "$"}',
        '{"0": "18446744073709551616-0"}',
    ],
)
async def test_a_place_that_is_none(scene: RpcScene, last: str) -> None:
    """An id that this stream never gave gets 400 before the stream begins."""
    refused = await scene.problem("GET", "/events", headers={"Last-Event-ID": last})
    assert refused == (400, "invalid")


async def test_a_stream_ends_with_the_store(scene: RpcScene) -> None:
    """Without the store the stream ends, and the client reconnects."""
    async with listening(scene) as stream:
        scene.store.down = True
        await stream.ended()
    scene.store.down = False
    async with listening(scene) as stream:
        await scene.start_call()
        assert (await stream.next())[1]["event"] == "initiated"


async def test_the_server_lets_go_of_its_port(tmp_path: Path) -> None:
    """Open streams end with the server, so its port is free again."""
    async with running(tmp_path) as scene:
        port = scene.port
        stream = listening(scene)
        await stream.__aenter__()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
