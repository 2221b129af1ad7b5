"""The meter of an engine's event loop."""

import asyncio
import time

from tools.bench.engine.loop_meter import START, STOP, LoopMeter

ADDRESS = ("127.0.0.1", 1)
BLOCKED_S = 0.02


class Transport(asyncio.DatagramTransport):
    """Keeps what is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []

    def sendto(self, data: bytes | bytearray | memoryview, addr: object = None) -> None:
        """Keep a datagram."""
        del addr
        self.sent.append(bytes(data))


async def test_the_longest_step_is_measured() -> None:
    """A step that blocks the loop is reported, but not by the next measurement."""
    transport, meter = Transport(), LoopMeter()
    meter.connection_made(transport)
    meter.datagram_received(START, ADDRESS)
    await asyncio.sleep(0)
    until_s = time.thread_time() + BLOCKED_S
    while time.thread_time() < until_s:
        pass
    await asyncio.sleep(0)
    meter.datagram_received(STOP, ADDRESS)
    meter.datagram_received(START, ADDRESS)
    await asyncio.sleep(0)
    meter.datagram_received(STOP, ADDRESS)

    blocked_ms, quiet_ms = map(float, transport.sent)
    assert blocked_ms >= BLOCKED_S * 1000
    assert quiet_ms < BLOCKED_S * 1000
