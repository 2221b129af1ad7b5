"""Sends messages to bots: those of a stream in order, and again while its gateway is silent.

Without that a bot would wait for ever for the end of its action that came while its gateway, or
the engine, stood still.
"""

import asyncio
from itertools import chain, repeat

import structlog

from engine.calls.model.stream_commands import SendToStream
from engine.runtime.streams.gateway_pool import GatewayPool
from engine.runtime.streams.slot import StreamSlot
from engine.streams.errors import GatewayUnavailable, StreamRejected

log = structlog.get_logger()
RETRIES_S = (0.1, 0.3, 1.0)
LAST_RETRY_S = 2.0  # from then on, until the stream has ended


class MessageSender:
    """The messages of a node's streams; ids make a repeated one harmless."""

    def __init__(self, pool: GatewayPool) -> None:
        self._pool = pool
        self._last: dict[str, asyncio.Event] = {}  # of each stream: its last message is sent

    async def send(self, command: SendToStream, slot: StreamSlot) -> None:
        """Send a message after those before it; raises LeaseLost."""
        previous, sent = self._last.get(command.stream), asyncio.Event()
        self._last[command.stream] = sent
        try:
            if previous is not None:
                await previous.wait()
            await self._send(command, slot)
        finally:
            sent.set()
            if self._last.get(command.stream) is sent:  # none: a later one was cancelled
                del self._last[command.stream]

    async def _send(self, command: SendToStream, slot: StreamSlot) -> None:
        await self._pool.wait_until_tried()
        for delay_s in chain(RETRIES_S, repeat(LAST_RETRY_S)):
            gateway = self._pool.with_stream(command.stream)
            if gateway is None:
                return  # it has ended
            slot.check()
            try:
                await gateway.client.send(command.stream, command.id, command.message)
            except StreamRejected as error:
                log.warning("message to a stream lost", stream=command.stream, error=str(error))
                return
            except GatewayUnavailable as error:
                log.info("message to a stream waits", stream=command.stream, error=str(error))
            else:
                return
            await asyncio.sleep(delay_s)
