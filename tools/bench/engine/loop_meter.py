"""The longest step of an event loop: the CPU time from one turn to the next.

CPU time, because on a busy machine a loop also waits for other programs.
"""

import asyncio
import time
from collections.abc import Awaitable

START, STOP = b"start", b"stop"
TIMEOUT_S = 10.0


class LoopMeter(asyncio.DatagramProtocol):
    """Measures the loop that it runs on, between a START and a STOP, which it answers in ms."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._is_running = False
        self._last_s = self._longest_s = 0.0

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]  # of a datagram endpoint
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Start, or stop and send the result."""
        if data == START:
            self._is_running, self._last_s, self._longest_s = True, time.thread_time(), 0.0
            self._loop.call_soon(self._turn)
        else:
            self._is_running = False
            self._transport.sendto(repr(self._longest_s * 1000).encode(), addr)

    def _turn(self) -> None:
        now_s = time.thread_time()
        self._longest_s = max(self._longest_s, now_s - self._last_s)
        self._last_s = now_s
        if self._is_running:
            self._loop.call_soon(self._turn)


class _Answer(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.longest_ms: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        del addr
        self.longest_ms.set_result(float(data))


async def longest_step_ms(port: int, work: Awaitable[object]) -> float:
    """Return the longest step of the loop behind a port while some work is done."""
    loop = asyncio.get_running_loop()
    transport, answer = await loop.create_datagram_endpoint(
        _Answer, remote_addr=("127.0.0.1", port)
    )
    try:
        transport.sendto(START)
        await work
        transport.sendto(STOP)
        async with asyncio.timeout(TIMEOUT_S):
            return await answer.longest_ms
    finally:
        transport.close()
