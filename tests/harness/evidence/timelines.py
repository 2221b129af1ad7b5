"""The timelines of a test's calls, drawn as `switchroom call timeline` does."""

import asyncio
import json
import sys

import aiohttp
import msgspec

from cli.timeline.ladder import draw
from cli.timeline.screen import MAX_WIDTH, title
from tests.harness.evidence.collector import CollectedEngine, Trust, collector_of_session
from wire.views import Timeline

TIMEOUT_S = 5.0  # an engine may be suspended
MAX_CALLS = 20


async def read_timelines(engine: CollectedEngine, since_ms: float) -> dict[str, str]:
    """Return the timelines of the calls with events since a time; none if it does not answer."""
    found: dict[str, str] = {}
    headers = {"Authorization": f"Bearer {engine.token}"}
    base = f"{engine.url}/rpc/v1/"
    try:
        async with asyncio.timeout(TIMEOUT_S), aiohttp.ClientSession(base, headers=headers) as http:
            calls = await _calls(http, engine.trust, since_ms)
            for call in calls[-MAX_CALLS:]:
                async with http.get(f"calls/{call}/timeline", ssl=engine.trust) as reply:
                    found[call] = _drawn(await reply.read())
    except (aiohttp.ClientError, TimeoutError):
        pass  # the test may have stopped or suspended it
    return found


async def keep_timelines(engine: CollectedEngine) -> None:
    """Keep the timelines of an engine that stops because a test fails."""
    collector = collector_of_session()
    if collector is not None and sys.exc_info()[0] is not None and engine.running():
        collector.timelines |= await read_timelines(engine, collector.began_ms)


async def _calls(http: aiohttp.ClientSession, trust: Trust, since_ms: float) -> list[str]:
    """Return the ids of the calls with events since a time, in their order."""
    calls: dict[str, None] = {}
    async with http.get("events", headers={"Last-Event-ID": "[0,{}]"}, ssl=trust) as reply:
        async for line in reply.content:
            if line.startswith(b":"):  # no more events
                break
            event = json.loads(line[6:]) if line.startswith(b"data: {") else None
            if event and event["timestamp"] >= since_ms:
                calls[event["callId"]] = None
    return list(calls)


def _drawn(body: bytes) -> str:
    """Draw a timeline; a refusal of the engine is shown as it is."""
    try:
        timeline = msgspec.json.decode(body, type=Timeline)
    except msgspec.DecodeError:
        return body.decode()
    lines = [*title(timeline), *draw(timeline, MAX_WIDTH)]
    return "\n".join(line.plain.rstrip() for line in lines)
