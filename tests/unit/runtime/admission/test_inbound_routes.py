"""Routes of inbound numbers, and the calls that they start."""

import asyncio
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from base.ttl_cache import MAX_ENTRIES, Cached
from engine.ari.config import DEFAULT_TIMEOUTS
from engine.calls.model.call_states import Starting
from engine.calls.model.leg import Leg
from engine.calls.model.recording import RecordingDestination
from engine.calls.verbs.call_setup import ANSWER_TIMEOUT_MS
from engine.runtime.admission.config import AdmissionConfig, NewCall
from engine.runtime.admission.inbound import inbound_call
from engine.runtime.admission.inbound_routes import TTL_MS, FoundRoute, InboundRoutes
from engine.runtime.agents.account_agents import Caller
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.pbx.incoming_call_arguments import CallerIdentity
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.runtime.pbx_nodes.recovery import RETRY_DELAY_MS, SETTLE_DELAY_MS
from tests.harness.calls.builders import CHANNEL, ID, NOW, say, tree
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.shard_scene import ManualClock, NotingRecorder, ShardScene
from tests.harness.store.documents import put_document, put_route
from wire.callbacks.targets import format_target, parse_call_target
from wire.party import Diversion
from wire.rpc import NumberRoute

ROUTE = NumberRoute("acme", tree(say()), {"queue": "sales"}, labels={"team": "a"})
FOUND = FoundRoute("+4733333333", ROUTE)
NEW = NewCall(ID, NOW, NOW + 1, trunks=3)
CALLER = CallerIdentity("trunk", "+4722222222")
OTHERS = NumberRoute("other", "https://example.com/a")


class CountingStore(MemoryStore):
    """A memory store that counts reads of routes."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    async def route(self, number: str) -> bytes | None:
        self.reads += 1
        return await super().route(number)


async def cache_of(**routes: NumberRoute) -> tuple[InboundRoutes, CountingStore, ManualClock]:
    """Return a cache of stored routes, and a clock moved by the test."""
    store, clock = CountingStore(), ManualClock()
    for number, route in routes.items():
        await put_route(store, number, msgspec.json.encode(route))
    return InboundRoutes(store, clock.now_ms), store, clock


async def test_a_number_is_read_again_after_150_ms() -> None:
    """Calls at once cause one read; then a change is seen."""
    numbers, store, clock = await cache_of(**{"+47": ROUTE})
    assert numbers.cached("+47") is None
    assert await numbers.find("+47") == FoundRoute("+47", ROUTE)
    read_ms = clock.now_ms()
    clock.pass_ms(TTL_MS - 1)
    assert numbers.cached("+47") == Cached(FoundRoute("+47", ROUTE), read_ms)
    await put_document(store, ROUTE.account, "route", "+47", None)
    clock.pass_ms(1)
    assert numbers.cached("+47") is None
    assert await numbers.find("+47") is None
    assert numbers.cached("+47") == Cached(None, read_ms + TTL_MS)


async def test_the_default_route() -> None:
    """A number without a route of its own has the route of `*`."""
    numbers, _, _ = await cache_of(**{"+47": ROUTE, "*": OTHERS})
    assert await numbers.find("+47") == FoundRoute("+47", ROUTE)
    assert await numbers.find("+4800") == FoundRoute("+4800", OTHERS)


@pytest.mark.parametrize("stored", ["+4721930000", "4721930000", "004721930000"])
@pytest.mark.parametrize("dialled", ["+4721930000", "4721930000", "004721930000"])
async def test_a_number_has_one_route_in_every_spelling(stored: str, dialled: str) -> None:
    """Carriers differ; the call's number is the one that the route is stored under."""
    numbers, _, _ = await cache_of(**{stored: ROUTE, "*": OTHERS})
    assert await numbers.find(dialled) == FoundRoute(stored, ROUTE)


@pytest.mark.parametrize(
    "dialled", ["+370861234567", "370861234567", "00370861234567", "+370061234567"]
)
async def test_a_called_number_with_a_trunk_prefix(dialled: str) -> None:
    """It is the number behind the prefix, and so are its route and the call's number."""
    numbers, _, _ = await cache_of(**{"+37061234567": ROUTE})
    assert await numbers.find(dialled) == FoundRoute("+37061234567", ROUTE)
    numbers, _, _ = await cache_of(**{"*": ROUTE})
    assert (await numbers.find("+370861234567")) == FoundRoute("+37061234567", ROUTE)


async def test_the_exact_spelling_comes_first() -> None:
    """Two routes that differ in their spelling only are both reachable."""
    numbers, _, _ = await cache_of(**{"4721930000": ROUTE, "+4721930000": OTHERS})
    assert await numbers.find("4721930000") == FoundRoute("4721930000", ROUTE)
    assert await numbers.find("+4721930000") == FoundRoute("+4721930000", OTHERS)


async def test_the_default_routes_number_is_international() -> None:
    """Its calls have numbers without a route."""
    numbers, _, _ = await cache_of(**{"*": OTHERS})
    assert await numbers.find("004721930000") == FoundRoute("+4721930000", OTHERS)


async def test_the_cache_is_bounded() -> None:
    """Callers choose what they dial, so the cache is limited."""
    numbers, _, _ = await cache_of()
    await asyncio.gather(*(numbers.find(str(number)) for number in range(10_050)))
    assert sum(numbers.cached(str(number)) is not None for number in range(10_050)) <= MAX_ENTRIES


def test_a_channel_becomes_a_call() -> None:
    """It belongs to the route's account; its channel is the main leg, not yet answered."""
    call = inbound_call(NEW, IncomingChannel(CHANNEL, "+4722222222", "+4733333333"), CALLER, FOUND)
    assert (call.account, call.direction, call.main) == ("acme", "inbound", CHANNEL)
    assert (call.from_, call.to, call.caller_id) == ("+4722222222", "+4733333333", "+4722222222")
    assert call.state == Starting(ROUTE.action, NOW + ANSWER_TIMEOUT_MS)
    assert call.custom_data == {"queue": "sales"}
    assert (call.id, call.created_ms, call.must_end_ms, call.trunks) == (ID, NOW, NOW + 1, 3)
    assert (call.labels, call.callback_target, call.recording_enabled) == (
        ROUTE.labels,
        None,
        False,
    )
    assert call.legs == (Leg(CHANNEL, "+4722222222", "created", NOW),)
    assert call.caller_kind == "trunk"


@pytest.mark.parametrize(
    ("recorder", "url", "destination"),
    [
        (NotingRecorder(), "file:///a", RecordingDestination("file:///a", "acme/2023-11-14")),
        (NotingRecorder(), "", None),
        (None, "file:///a", None),
    ],
)
def test_what_each_call_gets(
    recorder: NotingRecorder | None, url: str, destination: RecordingDestination | None
) -> None:
    """An id in its shard, its longest time, and where it is recorded, if that can be."""
    config = AdmissionConfig(ShardMap(1), 5_000, recordings_url=url)
    context = replace(ShardScene().shard.context, recorder=recorder)
    new = config.new_call(context, "acme", "abcdefgh", NOW)
    assert new == NewCall(ID, NOW, NOW + 5_000, destination, 1)


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_route_whose_calls_are_recorded(*, is_recorded: bool) -> None:
    """From the beginning, where there is an archive."""
    archive = RecordingDestination("file:///a", "acme/2023-11-14")
    channel = IncomingChannel(CHANNEL, "+47", "+4733333333")
    route = FoundRoute("+4733333333", replace(ROUTE, record_call=is_recorded))
    call = inbound_call(replace(NEW, recording_destination=archive), channel, CALLER, route)
    assert (call.recording_destination, call.recording_enabled) == (archive, is_recorded)


@pytest.mark.parametrize(
    "number", ["", "anonymous", '"Eve" <1001>', "1001\r\nX-Evil: 1", "47\n", "+", "٣٣٣٣"]
)
def test_only_a_number_is_a_caller_id(number: str) -> None:
    """Callers choose what they send; other text is reported, but never dialled or shown."""
    identity = CallerIdentity("trunk", number)
    call = inbound_call(NEW, IncomingChannel(CHANNEL, number, "+47"), identity, FOUND)
    assert call.from_ == number.replace("\r", "").replace("\n", "")
    assert call.caller_id == ""


def test_an_agents_call() -> None:
    """Its leg has the agent's id, and its caller is the caller id in the directory."""
    channel = IncomingChannel(CHANNEL, "", "+4733333333", agent=Caller("sales7"))
    call = inbound_call(NEW, channel, CallerIdentity("agent", "+4721930000"), FOUND)
    assert (call.legs[0].party, call.legs[0].agent) == ("+4721930000", "sales7")
    assert (call.from_, call.caller_id) == ("+4721930000", "+4721930000")
    assert call.caller_kind == "agent"


def test_control_characters_are_removed() -> None:
    """They never reach a terminal or a log."""
    channel, identity = (
        IncomingChannel(CHANNEL, "", ""),
        CallerIdentity("trunk", "\x1b[2J\r\n+4799"),
    )
    call = inbound_call(NEW, channel, identity, FoundRoute("15\x07", ROUTE))
    assert (call.from_, call.to, call.caller_id) == ("[2J+4799", "15", "")


@pytest.mark.parametrize(
    ("sent", "region", "number"),
    [
        ("004790000001", "", "+4790000001"),
        ("90000001", "NO", "+4790000001"),
        ("+47 90 00 00 01", "", "+4790000001"),
        ("90000001", "", "90000001"),
        ("+4790000001;phone-context=x", "", "+4790000001"),
        ("+370861234567", "", "+37061234567"),
        ("00370861234567", "NO", "+37061234567"),
        ("011 15 2345-6789", "AR", "+5491123456789"),
    ],
)
def test_a_callers_number_is_international(sent: str, region: str, number: str) -> None:
    """So records, history and do-not-call lists know it in one form, where its country is known."""
    identity = CallerIdentity("trunk", sent)
    call = inbound_call(NEW, IncomingChannel(CHANNEL, sent, "+47"), identity, FOUND, region)
    assert (call.from_, call.legs[0].party, call.caller_id) == (number, number, number)


def test_privacy_and_diversion_belong_to_the_call() -> None:
    """The text of a diversion is printable, as all that callers send."""
    diversion = (Diversion("+47\x1b11", "no-answer"),)
    identity = replace(CALLER, is_withheld=True, diversion=diversion)
    call = inbound_call(NEW, IncomingChannel(CHANNEL, "+4799", "+47"), identity, FOUND)
    assert (call.privacy, call.diversion) == (True, (Diversion("+4711", "no-answer"),))


async def test_the_callback_target_of_the_account() -> None:
    """A number without a target of its own has the account's."""
    store = CountingStore()
    await put_route(store, "+47", msgspec.json.encode(ROUTE))
    own = replace(ROUTE, status_callback_url="a" * 24)
    await put_route(store, "+48", msgspec.json.encode(own))

    async def default_target(account: str) -> str:
        return "b" * 24 if account == "acme" else ""

    routes = InboundRoutes(store, ManualClock().now_ms, default_target=default_target)
    channel = IncomingChannel(CHANNEL, "+4722222222", "+4733333333")
    for number, target in (("+47", "b" * 24), ("+48", "a" * 24)):
        route = await routes.find(number)
        assert route is not None
        call = inbound_call(NEW, channel, CALLER, route)
        assert call.delivery_key == f"acme {format_target(parse_call_target(target, ''))}"


def test_a_route_with_a_fallback() -> None:
    """The call has it from its start."""
    channel = IncomingChannel(CHANNEL, "+4722222222", "+4733333333")
    route = replace(OTHERS, fallback=tree(say()))
    state = inbound_call(NEW, channel, CALLER, FoundRoute("+4733333333", route)).state
    assert isinstance(state, Starting)
    assert (state.action, state.fallback) == (OTHERS.action, tree(say()))


def test_a_lost_answer_is_repeated_in_time() -> None:
    """The PBX is asked again when the request counts as lost, before the call is given up."""
    lost_after_ms = DEFAULT_TIMEOUTS.request_s * 1000
    assert lost_after_ms + SETTLE_DELAY_MS + RETRY_DELAY_MS < ANSWER_TIMEOUT_MS


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"name": "Anna Berg"}, "Anna Berg"),
        ({"name": "Anna\x1b[2J\r\n Berg" + "x" * 80}, ("Anna [2J  Berg" + "x" * 80)[:80]),
        ({"name": "Anna", "is_withheld": True}, ""),
        ({"name": "+4790000001"}, ""),
        ({"name": " "}, ""),
        ({"name": "90 00 00 01"}, ""),
        ({"name": "株式会社"}, "株式会社"),
        ({"name": "山田\u3000太郎 \u200f"}, "山田\u3000太郎"),
        ({}, ""),
    ],
)
def test_the_name_of_a_caller(fields: dict[str, Any], name: str) -> None:
    """The network's or the directory's, without control characters; a number is none."""
    incoming, identity = IncomingChannel(CHANNEL, "", "+47"), replace(CALLER, **fields)
    assert inbound_call(NEW, incoming, identity, FOUND).caller_name == name


@pytest.mark.parametrize(
    ("answers", "is_up", "deferred"),
    [(True, False, False), (False, False, True), (False, True, False)],
)
def test_a_call_rings_until_it_needs_media(answers: bool, is_up: bool, deferred: bool) -> None:
    """If its route says so, and no earlier engine has answered it."""
    route = replace(ROUTE, answer=answers)
    incoming = IncomingChannel(CHANNEL, "+4790000001", "+47", is_up=is_up)
    call = inbound_call(NEW, incoming, CALLER, FoundRoute("+4733333333", route))
    assert call.answer_deferred is deferred
