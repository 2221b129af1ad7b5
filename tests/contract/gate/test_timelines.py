"""Timelines of an engine that ends because a test fails: they are read before."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack

import pytest
from aiohttp import web

from tests.harness.evidence.collector import Trust, collector_of_session
from tests.harness.evidence.timelines import keep_timelines
from tests.harness.servers.web_server import WebServer

LATER_MS = 4_000_000_000_000  # than this test; the first event is of an earlier one
EVENTS = "".join(
    f'data: {{"callId": "0-pbx1-{name}", "timestamp": {at_ms}}}\n\n'
    for name, at_ms in (("earlier", 1), ("a", LATER_MS), ("b", LATER_MS))
)


class TwoCalls(WebServer):
    """Answers as an engine with two calls, whose timelines it does not have any more."""

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        events = web.get("/rpc/v1/events", self._events)
        return [events, web.get("/rpc/v1/calls/{call}/timeline", self._timeline)]

    async def _events(self, _request: web.Request) -> web.Response:
        return web.Response(text=f"{EVENTS}:\n\n")

    async def _timeline(self, request: web.Request) -> web.Response:
        return web.Response(status=404, text=f"no timeline of {request.match_info['call']}")


class RunningEngine:
    """An engine at an address."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.token = "secret"  # noqa: S105 - of no server
        self.trust: Trust = True

    def running(self) -> bool:
        return True


@pytest.fixture
async def engine() -> AsyncIterator[RunningEngine]:
    async with TwoCalls() as server:
        yield RunningEngine(server.url())


async def test_a_failure_keeps_them(engine: RunningEngine) -> None:
    """What the engine answers instead of a timeline is kept as it is."""
    collector = collector_of_session()
    assert collector is not None
    with pytest.raises(LookupError):
        await fail_with(engine)
    calls = ("0-pbx1-a", "0-pbx1-b")
    assert collector.timelines == {call: f"no timeline of {call}" for call in calls}


async def fail_with(engine: RunningEngine) -> None:
    """Fail as a test whose engine stops with its context."""
    async with AsyncExitStack() as stack:
        stack.push_async_callback(keep_timelines, engine)
        raise LookupError


async def test_a_success_keeps_none(engine: RunningEngine) -> None:
    """Nobody reads them."""
    collector = collector_of_session()
    assert collector is not None
    await keep_timelines(engine)
    assert collector.timelines == {}
