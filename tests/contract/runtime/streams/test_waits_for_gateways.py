"""Streams that wait for a gateway: it takes them as soon as it connects."""

import asyncio

from msgspec.structs import replace

from engine.calls.media.stream_losses import GATEWAY_WAIT_MS
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream
from engine.calls.model.stream_events import StreamEnded
from tests.contract.runtime.streams.bench import EXTERNAL_MEDIA, StreamBench
from tests.harness.until import until
from wire.streams import reports
from wire.streams.setup import DigitMessage


def waiting(bench: StreamBench) -> StartStream:
    """Return the start of a stream that waits for a gateway."""
    return replace(bench.command, wait_ms=GATEWAY_WAIT_MS)


async def drain(bench: StreamBench) -> None:
    """Let both gateways shut down; one that reports again has restarted."""
    for each in bench.gateways:
        await each.report(reports.DrainStarted())
    await until(
        lambda: not any(each.is_available for each in bench.streams.gateways),
        what="the gateways to be gone",
    )


async def test_a_stream_starts_with_the_first_gateway(bench: StreamBench) -> None:
    """What the bot is sent meanwhile waits with it; no channel is created before."""
    await drain(bench)
    stream = bench.stream
    starting = asyncio.create_task(
        bench.run(waiting(bench), SendToStream(stream, "m1", DigitMessage("7")))
    )
    await asyncio.wait([starting], timeout=1.2)
    assert not [each for each in bench.requests if each.path == EXTERNAL_MEDIA]
    gateway = bench.gateways[1]
    await gateway.disconnect()
    await starting
    assert stream in gateway.setups
    assert gateway.messages == [(stream, "m1", {"type": "digit", "digit": "7"})]
    assert bench.results == [None, None]


async def test_a_stream_that_is_stopped_waits_no_longer(bench: StreamBench) -> None:
    """No gateway gets it afterwards."""
    await drain(bench)
    await bench.run(waiting(bench), StopStream(bench.stream))
    assert bench.results == [None, None]
    await bench.gateways[0].disconnect()
    await until(lambda: bench.streams.gateways[0].is_available, what="the gateway")
    assert bench.gateways[0].setups == {}


async def test_a_first_start_waits_for_no_gateway(bench: StreamBench) -> None:
    """Its call plays music before it tries again."""
    await drain(bench)
    await bench.run(bench.command)
    (ended,) = bench.results
    assert isinstance(ended, StreamEnded)
    assert ended.reason == "no-gateway"
