"""Streams that wait for a gateway: it takes them as soon as it connects."""

import asyncio

from msgspec.structs import replace

from engine.calls.media.stream_losses import GATEWAY_WAIT_MS
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream
from engine.calls.model.stream_events import StreamEnded
from tests.contract.runtime.streams.scene import EXTERNAL_MEDIA, StreamScene
from tests.harness.until import until
from wire.streams import reports
from wire.streams.setup import DigitMessage


def waiting(scene: StreamScene) -> StartStream:
    """Return the start of a stream that waits for a gateway."""
    return replace(scene.command, wait_ms=GATEWAY_WAIT_MS)


async def drain(scene: StreamScene) -> None:
    """Let both gateways shut down; one that reports again has restarted."""
    for each in scene.gateways:
        await each.report(reports.DrainStarted())
    await until(
        lambda: not any(each.is_available for each in scene.streams.gateways),
        what="the gateways to be gone",
    )


async def test_a_stream_starts_with_the_first_gateway(scene: StreamScene) -> None:
    """What the bot is sent meanwhile waits with it; no channel is created before."""
    await drain(scene)
    stream = scene.stream
    starting = asyncio.create_task(
        scene.run(waiting(scene), SendToStream(stream, "m1", DigitMessage("7")))
    )
    for _ in range(3):
        await scene.gateways[0].report(reports.DrainStarted())  # news: all gateways are looked at
    assert not [each for each in scene.requests if each.path == EXTERNAL_MEDIA]
    gateway = scene.gateways[1]
    await gateway.disconnect()
    await starting
    assert stream in gateway.setups
    assert gateway.messages == [(stream, "m1", {"type": "digit", "digit": "7"})]
    assert scene.results == [None, None]


async def test_a_stream_that_is_stopped_waits_no_longer(scene: StreamScene) -> None:
    """No gateway gets it afterwards."""
    await drain(scene)
    await scene.run(waiting(scene), StopStream(scene.stream))
    assert scene.results == [None, None]
    await scene.gateways[0].disconnect()
    await until(lambda: scene.streams.gateways[0].is_available, what="the gateway")
    assert scene.gateways[0].setups == {}


async def test_a_first_start_waits_for_no_gateway(scene: StreamScene) -> None:
    """Its call plays music before it tries again."""
    await drain(scene)
    await scene.run(scene.command)
    (ended,) = scene.results
    assert isinstance(ended, StreamEnded)
    assert ended.reason == "no-gateway"
