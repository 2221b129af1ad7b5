"""Routes of inbound numbers, and the calls that they start (design section 7)."""

import asyncio

import msgspec
import pytest

from engine.calls.model.call_states import Starting
from engine.common.ttl_cache import MAX_ENTRIES, Cached
from engine.runtime.admission.inbound import ANSWER_TIMEOUT_MS, inbound_call
from engine.runtime.admission.new_call import NewCall
from engine.runtime.admission.routes import RouteCache
from engine.runtime.agents.directory import Caller
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.store.memory.store import MemoryStore
from tests.unit.calls.harness.builders import CHANNEL, ID, NOW, say, tree
from tests.unit.runtime.harness.shard_bench import ManualClock
from wire.rpc import NumberRoute

ROUTE = NumberRoute("acme", tree(say()), {"queue": "sales"})
NEW = NewCall(ID, NOW, NOW + 1)
OTHERS = NumberRoute("other", "https://example.com/a")


class CountingStore(MemoryStore):
    """A memory store that counts reads of routes."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    async def route(self, number: str) -> bytes | None:
        self.reads += 1
        return await super().route(number)


async def cache_of(**routes: NumberRoute) -> tuple[RouteCache, CountingStore, ManualClock]:
    """Return a cache of stored routes, and a clock moved by the test."""
    store, clock = CountingStore(), ManualClock()
    for number, route in routes.items():
        await store.put_route(number, msgspec.json.encode(route))
    return RouteCache(store, clock.now_ms), store, clock


async def test_a_number_is_read_once_a_second() -> None:
    """A busy number causes one read a second; then a change is seen."""
    numbers, store, clock = await cache_of(**{"+47": ROUTE})
    assert numbers.cached("+47") is None
    assert await numbers.find("+47") == ROUTE
    read_ms = clock.now_ms()
    clock.pass_ms(999)
    assert numbers.cached("+47") == Cached(ROUTE, read_ms)
    await store.put_route("+47", None)
    clock.pass_ms(1)
    assert numbers.cached("+47") is None
    assert await numbers.find("+47") is None
    assert numbers.cached("+47") == Cached(None, read_ms + 1_000)


async def test_the_default_route() -> None:
    """A number without a route of its own has the route of `*`."""
    numbers, _, _ = await cache_of(**{"+47": ROUTE, "*": OTHERS})
    assert await numbers.find("+47") == ROUTE
    assert await numbers.find("+4800") == OTHERS


async def test_the_cache_is_bounded() -> None:
    """Callers choose what they dial, so the cache is limited."""
    numbers, _, _ = await cache_of()
    await asyncio.gather(*(numbers.find(str(number)) for number in range(10_050)))
    assert sum(numbers.cached(str(number)) is not None for number in range(10_050)) <= MAX_ENTRIES


def test_a_channel_becomes_a_call() -> None:
    """It belongs to the route's account; its channel is the main leg, not yet answered."""
    call = inbound_call(NEW, IncomingChannel(CHANNEL, "+4722222222", "+4733333333"), ROUTE)
    assert (call.account, call.direction, call.main) == ("acme", "inbound", CHANNEL)
    assert (call.from_, call.to, call.caller_id) == ("+4722222222", "+4733333333", "+4722222222")
    assert call.state == Starting(ROUTE.action, NOW + ANSWER_TIMEOUT_MS)
    assert call.custom_data == {"queue": "sales"}


@pytest.mark.parametrize(
    "number", ["", "anonymous", '"Eve" <1001>', "1001\r\nX-Evil: 1", "47\n", "+", "٣٣٣٣"]
)
def test_only_a_number_is_a_caller_id(number: str) -> None:
    """Callers choose what they send; other text is reported, but never dialled or shown."""
    call = inbound_call(NEW, IncomingChannel(CHANNEL, number, "+47"), ROUTE)
    assert call.from_ == number.replace("\r", "").replace("\n", "")
    assert call.caller_id == ""


def test_an_agents_call() -> None:
    """Its leg has the agent's id, and its caller id is the one in the directory."""
    agent = Caller("sales7", "+4721930000")
    call = inbound_call(NEW, IncomingChannel(CHANNEL, "1002", "+4733333333", agent=agent), ROUTE)
    assert (call.legs[0].party, call.legs[0].agent, call.from_) == ("1002", "sales7", "1002")
    assert call.caller_id == "+4721930000"


def test_control_characters_are_removed() -> None:
    """They never reach a terminal or a log."""
    call = inbound_call(NEW, IncomingChannel(CHANNEL, "\x1b[2J\r\n+4799", "15\x07"), ROUTE)
    assert (call.from_, call.to, call.caller_id) == ("[2J+4799", "15", "")
