"""`GET /srmain/voice/events`: an account's events as they happen, before an engine's real RPC."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from api.auth.store import parse_key_id
from api.cdrs.live.stream import MAX_READERS
from tests.contract.api.cdrs.records import events_of, record
from tests.contract.api.databases import sqlite_url
from tests.contract.api.serving import Served, serving
from tests.contract.rpc.harness.bench import Bench, end
from tests.harness.until import until

EVENTS = "/srmain/voice/events"


@pytest.fixture
async def rest(bench: Bench, tmp_path: Path) -> AsyncIterator[Served]:
    """Serve before an engine."""
    async with serving(sqlite_url(tmp_path), bench.url) as found:
        yield found


class Reader:
    """Somebody who follows events."""

    def __init__(self, reply: aiohttp.ClientResponse) -> None:
        self.reply = reply
        self.last = ""

    async def next(self) -> dict[str, Any]:
        """Give the next event, and remember its id."""
        async with asyncio.timeout(10):
            while line := (await self.reply.content.readline()).decode().rstrip("\n"):
                name, _, value = line.partition(": ")
                if name == "id":
                    self.last = value
                if name == "data":
                    await self.reply.content.readline()
                    return dict(msgspec.json.decode(value))
            return await self.next()

    async def ended(self) -> None:
        """Wait for the end."""
        async with asyncio.timeout(10):
            while await self.reply.content.readany():
                pass


@asynccontextmanager
async def reading(rest: Served, who: str = "acme", last: str = "") -> AsyncIterator[Reader]:
    """Follow an account's events."""
    headers = rest.headers(who) | ({"Last-Event-ID": last} if last else {})
    async with rest.http.get(f"{rest.url}{EVENTS}", headers=headers) as reply:
        assert (reply.status, reply.content_type) == (200, "text/event-stream")
        yield Reader(reply)


async def test_a_stream_ends_with_its_key(rest: Served) -> None:
    """Revoked, it opens nothing, and closes what it has opened; another's stream goes on."""
    await rest.add("acme", name="spare")
    async with reading(rest) as ours, reading(rest, "spare") as spare:
        known = parse_key_id(rest.keys["acme"])
        assert known is not None
        await rest.parts.keys.expire("acme", known, rest.parts.now_ms())
        await ours.ended()
        async with asyncio.timeout(5):
            assert await spare.reply.content.readany()
            assert not spare.reply.content.at_eof()


async def test_an_account_hears_its_own_events(rest: Served, bench: Bench) -> None:
    """As they happen, with a call's record at its end; another account hears its own."""
    async with reading(rest) as ours, reading(rest, "other") as theirs:
        call = await bench.start_call()
        other = await bench.start_call(account="other")
        end(bench, call)
        first, last = await ours.next(), await ours.next()
        assert [(each["event"], each["callId"]) for each in (first, last)] == [
            ("initiated", call),
            ("completed", call),
        ]
        assert last["record"]["callId"] == call
        assert (await theirs.next())["callId"] == other


async def test_a_reader_comes_back(rest: Served, bench: Bench) -> None:
    """By Last-Event-ID, to what was told meanwhile; also after its engine was away."""
    async with reading(rest) as reader:
        first = await bench.start_call()
        assert (await reader.next())["callId"] == first
        last = reader.last
    second = await bench.start_call()
    async with reading(rest, last=last) as reader:
        assert (await reader.next())["callId"] == second
        bench.store.down = True
        await reader.ended()
        bench.store.down = False


async def test_ids_tell_nothing_of_others(rest: Served, bench: Bench) -> None:
    """However much happens to them: an id is no shorter or longer, and only we can read it."""
    async with reading(rest) as reader:
        await bench.start_call()
        await reader.next()
        quiet = reader.last
        calls = [record(n, account_id="other") for n in range(50)]
        bodies = [msgspec.json.encode(event) for each in calls for event in events_of(each)]
        for slot in (0, 1):
            bench.store.stream.append(slot, bodies)
        await bench.start_call()
        await reader.next()
    assert len(reader.last) == len(quiet)
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(reader.last)


async def test_a_place_that_is_none(rest: Served) -> None:
    """It is refused by its name."""
    headers = rest.headers("acme") | {"Last-Event-ID": "never"}
    async with rest.http.get(f"{rest.url}{EVENTS}", headers=headers) as reply:
        problem = await reply.json(content_type=None)
    assert (reply.status, problem["errors"][0]["path"]) == (400, "Last-Event-ID")


async def test_an_engine_that_is_away(tmp_path: Path) -> None:
    """It is told as 503."""
    async with serving(sqlite_url(tmp_path)) as rest:
        assert (await rest.ask("GET", EVENTS))[0] == 503


async def test_readers_have_a_limit(rest: Served) -> None:
    """Of each account; who leaves makes room."""
    async with AsyncExitStack() as stack:
        for _ in range(MAX_READERS):
            await stack.enter_async_context(reading(rest))
        assert (await rest.ask("GET", EVENTS))[0] == 429
        async with reading(rest, "other"):
            pass

    async def has_room() -> bool:
        async with rest.http.get(f"{rest.url}{EVENTS}", headers=rest.headers("acme")) as reply:
            return reply.status == 200

    await until(has_room, what="room")


async def test_a_slow_reader_holds_up_nobody(rest: Served, bench: Bench) -> None:
    """It is waited for, all the way to the store; others hear at once, and it misses nothing."""
    calls = [record(n, custom_data={"filler": "x" * 4_000}) for n in range(500)]
    bodies = [msgspec.json.encode(event) for each in calls for event in events_of(each)]
    async with reading(rest) as slow:
        bench.store.stream.append(0, bodies)  # more than all buffers on the way hold
        async with reading(rest) as quick:
            started = await bench.start_call()
            assert (await quick.next())["callId"] == started
        heard = [(await slow.next())["sequenceNumber"] for _ in bodies]
    assert heard == [0, 1, 2] * len(calls)
