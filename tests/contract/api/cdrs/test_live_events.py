"""`GET /srmain/voice/events`: an account's live events from an engine's real RPC."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from api.auth.key_store import parse_key_id
from api.http.event_stream import MAX_READERS
from tests.harness.api.cdrs.records import events_of, record
from tests.harness.api.databases import sqlite_url
from tests.harness.api.serving import Served, serve_rest
from tests.harness.rpc.scene import RpcScene, end
from tests.harness.shards import at
from tests.harness.until import MAX_WAIT_S, until

EVENTS = "/srmain/voice/events"
LISTS = "/srmain/contacts_list/contactlists"


@pytest.fixture
async def rest(scene: RpcScene, tmp_path: Path) -> AsyncIterator[Served]:
    """Provide the REST layer with an engine."""
    async with serve_rest(sqlite_url(tmp_path), scene.url) as found:
        yield found


class Reader:
    """A reader of events."""

    def __init__(self, reply: aiohttp.ClientResponse) -> None:
        self.reply = reply
        self.last = ""

    async def next(self) -> dict[str, Any]:
        """Return the next event, and store its id."""
        async with asyncio.timeout(MAX_WAIT_S):
            while line := (await self.reply.content.readline()).decode().rstrip("\n"):
                name, _, value = line.partition(": ")
                if name == "id":
                    self.last = value
                if name == "data":
                    await self.reply.content.readline()
                    return dict(msgspec.json.decode(value))
            return await self.next()

    async def ended(self) -> None:
        """Wait for the end of the stream."""
        async with asyncio.timeout(MAX_WAIT_S):
            while await self.reply.content.readany():
                pass


@asynccontextmanager
async def reading(rest: Served, who: str = "acme", last: str = "") -> AsyncIterator[Reader]:
    """Read an account's events."""
    headers = rest.headers(who) | ({"Last-Event-ID": last} if last else {})
    async with rest.http.get(f"{rest.url}{EVENTS}", headers=headers) as reply:
        assert (reply.status, reply.content_type) == (200, "text/event-stream")
        yield Reader(reply)


async def test_a_stream_ends_with_its_key(rest: Served) -> None:
    """A revoked key ends its streams; another account's stream continues."""
    await rest.add("acme", name="spare")
    async with reading(rest) as ours, reading(rest, "spare") as spare:
        known = parse_key_id(rest.keys["acme"])
        assert known is not None
        await rest.services.keys.expire("acme", known, rest.services.now_ms())
        await ours.ended()
        async with asyncio.timeout(MAX_WAIT_S):
            assert await spare.reply.content.readany()
            assert not spare.reply.content.at_eof()


async def test_a_reader_is_one_request(scene: RpcScene, tmp_path: Path) -> None:
    """However many events it reads, it takes one place of the account's requests at once."""
    url = sqlite_url(tmp_path)
    async with serve_rest(url, scene.url, api_max_requests_of_account=2) as rest:
        async with reading(rest) as reader:
            for _ in range(10):
                call = await scene.start_call()
                assert (await reader.next())["callId"] == call
            assert (await rest.request("GET", LISTS))[0] == 200

        opened = partial(rest.http.get, f"{rest.url}{EVENTS}", headers=rest.headers("acme"))

        async def has_both_places() -> bool:
            async with opened() as first, opened() as second:
                return {first.status, second.status} == {200}

        await until(has_both_places, what="the end of the request")


async def test_an_account_receives_its_own_events(rest: Served, scene: RpcScene) -> None:
    """Events arrive live, the last one with the record; other accounts receive their own."""
    async with reading(rest) as ours, reading(rest, "other") as theirs:
        call = await scene.start_call()
        other = await scene.start_call(account="other")
        end(scene, call)
        first, last = await ours.next(), await ours.next()
        assert [(each["event"], each["callId"]) for each in (first, last)] == [
            ("initiated", call),
            ("completed", call),
        ]
        assert last["record"]["callId"] == call
        assert (await theirs.next())["callId"] == other


async def test_a_reader_resumes(rest: Served, scene: RpcScene) -> None:
    """Last-Event-ID resumes after the last event; an outage of the store ends the stream."""
    async with reading(rest) as reader:
        first = await scene.start_call()
        assert (await reader.next())["callId"] == first
        last = reader.last
    second = await scene.start_call()
    async with reading(rest, last=last) as reader:
        assert (await reader.next())["callId"] == second
        scene.store.down = True
        await reader.ended()
        scene.store.down = False


async def test_ids_reveal_nothing_about_other_accounts(rest: Served, scene: RpcScene) -> None:
    """The length of an id does not depend on other accounts, and only we can decrypt it."""
    async with reading(rest) as reader:
        await scene.start_call()
        await reader.next()
        quiet = reader.last
        calls = [record(n, account_id="other") for n in range(50)]
        bodies = [msgspec.json.encode(event) for each in calls for event in events_of(each)]
        for slot in (0, 1):
            scene.store.stream.append(at(slot), bodies)
        await scene.start_call()
        await reader.next()
    assert len(reader.last) == len(quiet)
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(reader.last)


async def test_an_invalid_last_event_id(rest: Served) -> None:
    """The error names the header."""
    headers = rest.headers("acme") | {"Last-Event-ID": "never"}
    async with rest.http.get(f"{rest.url}{EVENTS}", headers=headers) as reply:
        problem = await reply.json(content_type=None)
    assert (reply.status, problem["errors"][0]["path"]) == (400, "Last-Event-ID")


async def test_an_unavailable_engine(tmp_path: Path) -> None:
    """Without an engine the stream gets 503."""
    async with serve_rest(sqlite_url(tmp_path)) as rest:
        assert (await rest.request("GET", EVENTS))[0] == 503


async def test_readers_have_a_limit(rest: Served) -> None:
    """Each account has a maximum number of readers; one that disconnects frees a place."""
    async with AsyncExitStack() as stack:
        for _ in range(MAX_READERS):
            await stack.enter_async_context(reading(rest))
        assert (await rest.request("GET", EVENTS))[0] == 429
        async with reading(rest, "other"):
            pass

    async def has_room() -> bool:
        async with rest.http.get(f"{rest.url}{EVENTS}", headers=rest.headers("acme")) as reply:
            return reply.status == 200

    await until(has_room, what="room")


async def test_a_slow_reader_delays_no_other(rest: Served, scene: RpcScene) -> None:
    """Backpressure reaches the store; other readers are not delayed, and nothing is lost."""
    calls = [record(n, custom_data={"filler": "x" * 4_000}) for n in range(500)]
    bodies = [msgspec.json.encode(event) for each in calls for event in events_of(each)]
    async with reading(rest) as slow:
        scene.store.stream.append(at(0), bodies[:1])
        heard = [(await slow.next())["sequenceNumber"]]  # after which it may fall behind
        scene.store.stream.append(at(0), bodies[1:])  # more than all buffers on the way hold
        async with reading(rest) as quick:
            started = await scene.start_call()
            # It may get some that the stream of both has still to read.
            while (await quick.next())["callId"] != started:
                pass
        heard += [(await slow.next())["sequenceNumber"] for _ in bodies[1:]]
    assert heard == [0, 1, 2] * len(calls)
