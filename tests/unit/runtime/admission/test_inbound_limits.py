"""Inbound calls that arrive at a full engine."""

from functools import partial
from typing import Any

import pytest

from engine.ari.request import Reply
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.admission.inbound import MAX_EXTENSION, InboundCalls
from engine.runtime.admission.inbound_routes import NO_SUCH_NUMBER, InboundRoutes
from engine.runtime.base.context import EngineContext
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.runtime.shard.shard import CallShard
from tests.harness.calls.builders import CHANNEL
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.node_selection_scene import Scene
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.until import until
from wire.shard import ShardId

NUMBER = "+4721930000"
FULL, BUSY = (1000.0, 0), (0.0, 1000)  # live calls; new calls a second
PASSED_ON = f"POST channels/{CHANNEL}/continue"
REJECTED = f"DELETE channels/{CHANNEL}"


class Arrival:
    """An engine that is full, or takes no further call this second, and another engine."""

    def __init__(self, *, rate: tuple[float, int] = FULL, **limits: float) -> None:
        self.scene = Scene(rate=rate)
        if rate == BUSY:
            self.scene.node_selection.rate_limiter.take()
        self.shard: CallShard = self.scene.node("pbx1", **limits)
        self.scene.others.shards = {ShardId("pbx1", 0)}
        config = AdmissionConfig(self.scene.shards, 1)
        store = MemoryStore()
        routes = InboundRoutes(store, self.scene.clock.now_ms)
        context = EngineContext(store, self.scene.clock)
        self.inbound = InboundCalls(context, self.scene.node_selection, config, routes)

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
