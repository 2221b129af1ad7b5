"""The gateways beside a PBX: which one takes a stream, and when one counts as silent."""

from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.report_feed import DEAD_S, SILENT_S, GatewayListener, ReportFeed
from wire.streams.setup import StreamMessage, StreamSetup
from wire.tree import DEFAULT_LIMITS


class NoRequests:
    """The client of a gateway that gets no requests."""

    async def set_up(self, stream: str, setup: StreamSetup) -> None:
        raise AssertionError(stream, setup)

    async def send(self, stream: str, message_id: str, message: StreamMessage) -> None:
        raise AssertionError(stream, message_id, message)

    async def end(self, stream: str) -> None:
        raise AssertionError(stream)


def gateway(*streams: str) -> Gateway:
    """Return a gateway that is connected."""
    made = Gateway(NoRequests())
    made.is_connected, made.streams = True, set(streams)
    return made


def test_the_gateways_for_a_stream() -> None:
    """The one that has it, then those with the fewest; none that shuts down or is away."""
    busy, idle, draining, away = gateway("a", "b"), gateway("c"), gateway(), gateway()
    draining.is_draining, away.is_connected = True, False
    pool = GatewayPool([busy, idle, draining, away])
    assert [each.state for each in pool.gateways] == [
        "available", "available", "draining", "disconnected",
    ]  # fmt: skip
    assert [pool.candidates(each) for each in ("a", "c", "new")] == [
        [busy, idle], [idle, busy], [idle, busy],
    ]  # fmt: skip
    assert [pool.has_other(each) for each in (busy, away)] == [True, True]
    assert not GatewayPool([busy, draining, away]).has_other(busy)


def test_where_a_stream_is() -> None:
    """At one gateway at a time."""
    one, two = gateway("a"), gateway()
    pool = GatewayPool([one, two])
    assert [pool.is_of_another("a", each) for each in (one, two)] == [False, True]
    assert not pool.is_of_another("new", one)
    pool.assign("a", two)
    assert (pool.with_stream("a"), pool.with_stream("new"), one.streams) == (two, None, set())
    pool.forget("a")
    assert pool.with_stream("a") is None


def test_what_the_other_gateways_have() -> None:
    """It is known when each of them has said it."""
    one, two, three = gateway(), gateway(), gateway()
    pool = GatewayPool([one, two, three])
    two.is_known = True
    assert [pool.knows_others(each) for each in pool.gateways] == [False] * 3
    three.is_known = True
    assert [pool.knows_others(each) for each in pool.gateways] == [True, False, False]


class NotingFeed(ReportFeed):
    """Notes which gateways are silent."""

    def __init__(self) -> None:
        super().__init__(GatewayPool([]), {}, DEFAULT_LIMITS)
        self.notes: list[str] = []

    def on_gateway_silent(self, gateway: Gateway, *, is_dead: bool = False) -> None:
        assert not gateway.is_connected
        self.notes.append("dead" if is_dead else "silent")


def test_a_gateway_is_silent_after_failures_in_a_row() -> None:
    """Two, and some seconds after the connection was lost; a connection ends the row."""
    at_s, feed, one = [100.0], NotingFeed(), gateway()
    listener = GatewayListener(one, feed, lambda: at_s[0])
    one.is_known = True

    def fail(after_s: float) -> list[str]:
        feed.notes.clear()
        at_s[0] += after_s
        listener.on_disconnected()
        return feed.notes

    assert [*fail(50), *fail(SILENT_S), *fail(-0.5)] == []
    assert (one.is_known, one.tried.is_set()) == (False, True)
    assert fail(0.5) == ["silent"]
    assert fail(DEAD_S - SILENT_S - 0.5) == ["silent"]
    assert fail(0.5) == ["dead"]
    listener.on_connected()
    assert [*fail(0), *fail(DEAD_S)] == []
    assert fail(0) == ["dead"]
