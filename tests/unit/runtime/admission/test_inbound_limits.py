"""Inbound calls that arrive at a full engine."""

from functools import partial
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from engine.ari.request import Reply
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.admission.inbound import (
    INTERVAL_MS,
    MAX_EXTENSION,
    MAX_KNOWN,
    InboundCalls,
    RefusalLines,
)
from engine.runtime.admission.inbound_routes import NO_SUCH_NUMBER, InboundRoutes
from engine.runtime.agents.directory import AgentTemplate, Directory
from engine.runtime.base.context import EngineContext
from engine.runtime.base.interfaces import CallRejection
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.runtime.policy.dial_loops import MAX_ROUNDS, Forwarding
from engine.runtime.shard.shard import CallShard
from engine.store.errors import StoreDown
from tests.harness.calls.builders import CHANNEL, say, tree
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.executor_scene import ManualDialPolicy
from tests.harness.runtime.node_selection_scene import Scene
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import ENDPOINTS
from tests.harness.store.documents import put_agent, put_route
from tests.harness.until import until
from wire.agents import Agent
from wire.rpc import NumberRoute
from wire.shard import ShardId

NUMBER = "+4721930000"
FULL, BUSY = (1000.0, 0), (0.0, 1000)  # live calls; new calls a second
PASSED_ON = f"POST channels/{CHANNEL}/continue"
REJECTED = f"DELETE channels/{CHANNEL}"


class Arrival:
    """An engine that is full, or takes no further call this second, and another engine."""

    def __init__(
        self,
        store: MemoryStore | None = None,
        agents: AgentTemplate | None = None,
        /,
        *,
        rate: tuple[float, int] = FULL,
        **limits: float,
    ) -> None:
        self.scene = Scene(rate=rate)
        if rate == BUSY:
            self.scene.node_selection.rate_limiter.take()
        self.shard: CallShard = self.scene.node("pbx1", **limits)
        self.scene.others.shards = {ShardId("pbx1", 0)}
        config = AdmissionConfig(self.scene.shards, 1)
        store = store or MemoryStore()
        routes = InboundRoutes(store, self.scene.clock.now_ms)
        self.context = EngineContext(store, self.scene.clock)
        directory = Directory(store, self.scene.clock.now_ms, agents, ()) if agents else None
        self.inbound = InboundCalls(
            self.context, self.scene.node_selection, config, routes, directory
        )

    def arrive(self, **changes: Any) -> list[str]:
        """Let a caller arrive; return the requests to the PBX."""
        channel = IncomingChannel(CHANNEL, "+4799", NUMBER, **changes)
        self.inbound.handle(self.shard, channel)
        return self.pbx.lines

    def has_sent(self, requests: int) -> bool:
        return len(self.pbx.lines) == requests

    @property
    def pbx(self) -> RecordingPbx:
        assert isinstance(self.shard.context.pbx, RecordingPbx)
        return self.shard.context.pbx


@pytest.mark.parametrize("rate", [FULL, BUSY])
def test_a_full_engine_passes_a_caller_on(rate: tuple[float, int]) -> None:
    """To another engine's slot at the same node, with the number that was dialled."""
    arrival = Arrival(rate=rate)
    assert arrival.arrive() == [PASSED_ON]
    (sent,) = arrival.pbx.sent
    assert dict(sent.request.query) == {"context": "passed-on", "extension": f"000{NUMBER}"}
    assert arrival.pbx.reply().key == CHANNEL
    assert arrival.pbx.sent == []


def test_a_caller_who_can_not_be_passed_on_is_rejected() -> None:
    """Asterisk does not continue the channel, which is in the app still."""
    arrival = Arrival()
    arrival.arrive()
    arrival.pbx.reply(Reply(409))
    assert arrival.pbx.lines == [PASSED_ON, REJECTED]


@pytest.mark.parametrize("others", [set[ShardId](), {ShardId("pbx2", 0)}])
def test_no_other_engine_has_room_at_the_node(others: set[ShardId]) -> None:
    """The carrier tries elsewhere."""
    arrival = Arrival()
    arrival.scene.others.shards = others
    assert arrival.arrive() == [REJECTED]


def test_a_caller_is_passed_on_once() -> None:
    """Two engines that are full do not pass it to each other for ever."""
    assert Arrival().arrive(is_passed_on=True) == [REJECTED]


def test_a_node_without_room_has_none_for_any_engine() -> None:
    """Whatever the limits of this engine."""
    assert Arrival(rate=(1000, 1000), max_calls=0).arrive() == [REJECTED]
    assert Arrival(max_calls=0).arrive() == [REJECTED]


@pytest.mark.parametrize(
    ("length", "request_line"), [(MAX_EXTENSION, PASSED_ON), (MAX_EXTENSION + 1, REJECTED)]
)
def test_a_long_number_is_not_passed_on(length: int, request_line: str) -> None:
    """Asterisk would cut the extension off."""
    arrival = Arrival()
    arrival.inbound.handle(arrival.shard, IncomingChannel(CHANNEL, "+4799", "9" * length))
    assert arrival.pbx.lines == [request_line]


@pytest.mark.parametrize("limits", [{}, {"max_calls_per_s": 2}])
async def test_calls_to_no_number_use_up_no_rate(limits: dict[str, float]) -> None:
    """Else a flood of them, which costs its sender nothing, would reject those of customers."""
    arrival = Arrival(rate=(2, 1_000), **limits)
    for number in range(10):
        channel = IncomingChannel(f"{CHANNEL}{number}", "+4799", f"+4700{number}")
        arrival.inbound.handle(arrival.shard, channel)
        await until(partial(arrival.has_sent, number + 1), every_s=0.001)
    causes = {dict(each.request.query)["reason_code"] for each in arrival.pbx.sent}
    assert causes == {str(NO_SUCH_NUMBER)}
    assert arrival.scene.node_selection.rate_limiter.available == 2


class StoppedPolicy(ManualDialPolicy):
    """A policy of accounts that are stopped."""

    def is_stopped(self, _account: str) -> bool:
        """Return True."""
        return True


class DownStore(MemoryStore):
    """A store that is down."""

    async def route(self, number: str) -> bytes | None:
        """Fail."""
        raise StoreDown(number)


@pytest.mark.parametrize(
    ("route", "code", "cause"),
    [
        (None, "no_route", 1),
        (b"{", "bad_route", 34),
        (b"down", "store_down", 34),
        (msgspec.json.encode(NumberRoute("acme", tree(say()))), "account_stopped", 21),
    ],
)
async def test_a_caller_whose_route_can_not_be_used(
    route: bytes | None, code: str, cause: int
) -> None:
    """The rejection is counted by its reason, and leaves room for others."""
    store = DownStore() if route == b"down" else MemoryStore()
    if route is not None:
        await put_route(store, NUMBER, route)
    arrival = Arrival(store, rate=(2, 1_000))
    endpoints = replace(ENDPOINTS, policy=StoppedPolicy())
    arrival.shard.context = replace(arrival.shard.context, endpoints=endpoints)
    for count in (1, 2):  # the second time the route may be cached
        arrival.arrive()
        await until(partial(arrival.has_sent, count), every_s=0.001)
    rejected = {key: count for key, count in arrival.context.metrics.calls.rejected if count}
    assert rejected == {("inbound", code): 2}
    assert [dict(each.request.query) for each in arrival.pbx.sent] == [
        {"reason_code": str(cause)}
    ] * 2
    assert arrival.scene.node_selection.rate_limiter.available == 2
    assert arrival.shard.callers == set()


class UnreadArguments(list[str]):
    """The arguments of a channel, which must not be read."""

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError(key)


class FullPolicy(ManualDialPolicy):
    """A policy of accounts that have all the calls that they may have."""

    def admit_inbound(self, _account: str) -> CallRejection:
        """Return the limit."""
        return "live_calls"


@pytest.mark.parametrize("policy", [None, StoppedPolicy(), FullPolicy()])
async def test_no_header_is_read_of_a_call_that_is_refused(policy: ManualDialPolicy | None) -> None:
    """Whoever sends them may send many."""
    store = MemoryStore()
    if policy is not None:
        await put_route(store, NUMBER, msgspec.json.encode(NumberRoute("acme", tree(say()))))
    arrival = Arrival(store, rate=(2, 1_000))
    endpoints = replace(ENDPOINTS, policy=policy or ManualDialPolicy())
    arrival.shard.context = replace(arrival.shard.context, endpoints=endpoints)
    arrival.arrive(arguments=UnreadArguments())
    await until(partial(arrival.has_sent, 1), every_s=0.001)
    assert arrival.pbx.lines == [REJECTED]


@pytest.mark.parametrize(
    ("policy", "code"), [(StoppedPolicy(), "account_stopped"), (FullPolicy(), "live_calls")]
)
async def test_a_flood_of_refused_calls_fills_no_log(policy: ManualDialPolicy, code: str) -> None:
    """One line a second for an account and reason; the metric counts each call."""
    store = MemoryStore()
    await put_route(store, NUMBER, msgspec.json.encode(NumberRoute("acme", tree(say()))))
    arrival = Arrival(store, rate=(1_000, 1_000))
    endpoints = replace(ENDPOINTS, policy=policy)
    arrival.shard.context = replace(arrival.shard.context, endpoints=endpoints)
    with capture_logs() as logged:
        for count in range(1, 21):
            arrival.arrive()
            await until(partial(arrival.has_sent, count), every_s=0.001)
        assert [each["count"] for each in logged] == [1]
        arrival.scene.clock.now += 1_000
        arrival.arrive()
        await until(partial(arrival.has_sent, 21), every_s=0.001)
        assert [each["count"] for each in logged] == [1, 20]
    assert dict(arrival.context.metrics.calls.rejected)["inbound", code] == 21


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [("PJSIP/mule", ("agent", "+4721930001")), ("PJSIP/acme-spare", ("phone", ""))],
)
async def test_a_phone_shows_what_its_account_may_show(
    endpoint: str, shown: tuple[str, str]
) -> None:
    """Whatever the document of its agent says; nothing if no agent has it."""

    class OwnNumber(ManualDialPolicy):
        def agent_caller_id(self, account: str, caller_id: str) -> str:
            """Return the account's own number."""
            return {("acme", "+12025550123"): "+4721930001", ("acme", ""): ""}[account, caller_id]

    store = MemoryStore()
    await put_route(store, NUMBER, msgspec.json.encode(NumberRoute("acme", tree(say()))))
    agent = Agent("PJSIP/mule", caller_id="+12025550123")
    await put_agent(store, "acme", "mule", msgspec.json.encode(agent))
    arrival = Arrival(store, AgentTemplate("", ""), rate=(2, 1_000))
    endpoints = replace(ENDPOINTS, policy=OwnNumber())
    arrival.shard.context = replace(arrival.shard.context, endpoints=endpoints)
    arrival.arrive(endpoint=endpoint, arguments=UnreadArguments())
    await until(lambda: bool(arrival.shard.calls), every_s=0.001)
    (live_call,) = arrival.shard.calls.values()
    assert (live_call.call.caller_kind, live_call.call.from_) == shown


async def test_a_number_whose_route_dials_it_is_cut() -> None:
    """The call is rejected (403), so that the one that has dialled it goes on without it."""
    store = MemoryStore()
    await put_route(store, NUMBER, msgspec.json.encode(NumberRoute("acme", tree(say()))))
    arrival = Arrival(store, rate=(20, 1_000))
    loops = arrival.scene.node_selection.legs.loops
    number = NUMBER.lstrip("+")
    for _ in range(MAX_ROUNDS):
        loops.add(Forwarding("4799", number, frozenset({(number, number)})), 1)
    arrival.arrive()
    await until(partial(arrival.has_sent, 1), every_s=0.001)
    rejected = {key: count for key, count in arrival.context.metrics.calls.rejected if count}
    assert rejected == {("inbound", "dial_loop"): 1}
    assert [dict(each.request.query) for each in arrival.pbx.sent] == [{"reason_code": "21"}]


class Clock:
    def __init__(self) -> None:
        self.ms = 1_000_000

    def now_ms(self) -> int:
        return self.ms


def test_one_line_a_second() -> None:
    """The first at once; the next one says how many there were since then."""
    clock = Clock()
    lines = RefusalLines(clock.now_ms)
    assert [lines.take("acme", "live_calls") for _ in range(5)] == [1, 0, 0, 0, 0]
    clock.ms += INTERVAL_MS - 1
    assert lines.take("acme", "live_calls") == 0
    clock.ms += 1
    assert [lines.take("acme", "live_calls") for _ in range(2)] == [6, 0]
    clock.ms += INTERVAL_MS
    assert lines.take("acme", "live_calls") == 2


def test_each_account_and_reason_has_its_line() -> None:
    """A flood of one hides no other."""
    lines = RefusalLines(Clock().now_ms)
    for _ in range(3):
        lines.take("acme", "live_calls")
    assert lines.take("acme", "call_rate") == lines.take("other", "live_calls") == 1


def test_a_clock_that_is_set_back() -> None:
    """It stops no line."""
    clock = Clock()
    lines = RefusalLines(clock.now_ms)
    lines.take("acme", "live_calls")
    clock.ms -= 3_600_000
    assert lines.take("acme", "live_calls") == 1


def test_few_accounts_are_known() -> None:
    """Of more, those whose calls were refused longest ago are forgotten."""
    lines = RefusalLines(Clock().now_ms)
    for number in range(MAX_KNOWN + 1):
        lines.take(str(number), "live_calls")
    assert [lines.take(str(each), "live_calls") for each in (MAX_KNOWN, 1, 0)] == [0, 0, 1]
