"""Gateways that stand still, and streams that are at another gateway than they were."""

from engine.runtime.streams.gateway_pool import Gateway
from engine.runtime.streams.report_feed import DEAD_S, SILENT_S, GatewayListener
from tests.contract.runtime.streams.scene import StreamScene
from tests.harness.until import until
from wire.streams import reports


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.at_s = 0.0

    def now_s(self) -> float:
        return self.at_s


async def test_streams_of_a_silent_gateway_are_lost(scene: StreamScene) -> None:
    """Two connections that fail are none of the engine's own pauses; another one has the stream."""
    await scene.run(scene.command)
    stream = scene.stream
    silent = next(each for each in scene.streams.gateways if stream in each.streams)
    await until(
        lambda: all(each.is_connected for each in scene.streams.gateways), what="the connections"
    )
    clock = Clock()
    listener = GatewayListener(silent, scene.reports, clock.now_s)
    listener.on_disconnected()
    listener.on_disconnected()
    clock.at_s = SILENT_S
    assert scene.stream == stream
    listener.on_disconnected()
    assert scene.stream != stream
    assert silent.streams == set()


async def test_streams_of_the_only_gateway_may_go_on(scene: StreamScene) -> None:
    """The engine waits for the only gateway, and longer if the PBX is disconnected, too."""
    await scene.run(scene.command)
    stream = scene.stream
    clock = Clock()
    gateways = scene.streams.gateways
    listeners = [GatewayListener(each, scene.reports, clock.now_s) for each in gateways]
    for at_s, is_paused, goes_on in (
        (0.0, False, True),
        (SILENT_S, False, True),
        (DEAD_S, True, True),
        (DEAD_S, False, False),
    ):
        clock.at_s = at_s
        (scene.shards.shard.pause if is_paused else scene.shards.shard.resume)()
        for listener in listeners:
            listener.on_disconnected()
        assert (scene.stream == stream) == goes_on, at_s


async def test_an_engine_that_has_never_heard_of_a_gateway(scene: StreamScene) -> None:
    """It has got a call whose stream no other gateway has."""
    stream = scene.stream
    scene.reports.on_report(scene.streams.gateways[1], reports.StreamConnected(stream, 1, 2))
    silent, other = scene.streams.gateways
    other.streams.clear()
    other.is_connected, other.is_known = True, False
    scene.reports.on_gateway_silent(silent)
    assert scene.stream == stream
    scene.reports.on_report(other, reports.Snapshot((), ()))
    scene.reports.on_gateway_silent(silent)
    assert scene.stream != stream


async def test_a_gateway_goes_on_with_a_stream_that_it_has_lost(scene: StreamScene) -> None:
    """Another has its place: the first one is ended, and its bot with it."""
    await scene.run(scene.command)
    stream, gateway = scene.stream, scene.gateway_with(scene.stream)
    known = next(each for each in scene.streams.gateways if stream in each.streams)
    await until(lambda: scene.streams.gateways[1].is_connected, what="the other gateway")
    scene.reports.on_gateway_silent(known)
    assert scene.stream != stream
    gateway.live = (reports.LiveStream(stream, is_connected=True, heard_ms=0),)
    await gateway.disconnect()
    await until(lambda: stream in gateway.deleted, what="the end of the first stream")
    assert stream not in known.streams


async def test_streams_of_other_engines_are_theirs(scene: StreamScene) -> None:
    """Their gateway may be silent for this engine only, which may get their calls later."""
    gateway = scene.streams.gateways[0]
    await until(lambda: scene.streams.gateways[1].is_connected, what="the other gateway")
    gateway.streams.add("0-pbx1-unknown00.w1")
    scene.reports.on_gateway_silent(gateway)
    assert gateway.streams == {"0-pbx1-unknown00.w1"}


async def test_what_another_gateway_says_of_a_stream(scene: StreamScene) -> None:
    """A gateway that answers its setup too late has it no more: what it reports is ignored."""
    first = scene.gateways[0]
    first.refusal = 503
    await scene.run(scene.command)
    stream = scene.stream
    assert stream in scene.gateways[1].setups
    await first.report(reports.StreamEnded(stream, "pbx-unreachable", 5, 4, 3))
    await scene.gateways[1].report(reports.StreamConnected(stream, 1, 2))
    await until(
        lambda: scene.live_call.call.streams[0].connected_ms > 0, what="the report to arrive"
    )
    assert scene.stream == stream


def owners(gateways: tuple[Gateway, ...], stream: str) -> int:
    """Return how many gateways are known to have a stream."""
    return sum(stream in each.streams for each in gateways)


async def test_streams_that_another_engine_has_started(scene: StreamScene) -> None:
    """Their gateway is learnt from its reports, until they end."""
    stream = "0-pbx1-unknown00.w1"
    for gateway in scene.gateways:
        await gateway.report(reports.MarkHeard(stream, "m", 1, 2))
    await until(lambda: owners(scene.streams.gateways, stream) == 1, what="the stream")
    for gateway in scene.gateways:
        await gateway.report(reports.StreamEnded(stream, "bot-closed", 1, 2, 3))
    await until(lambda: owners(scene.streams.gateways, stream) == 0, what="its end")
