"""Messages to bots, when the engine ends."""

import asyncio

from base.tasks import cancel_all
from engine.calls.model.stream_commands import SendToStream
from engine.runtime.streams.channels import StreamSlot
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.node_streams import MessageSender
from tests.contract.runtime.streams.scene import Held
from wire.streams.setup import StreamMessage, StreamSetup, TextMessage

STREAM = "0-pbx1-a.w1"


class SlowGateway:
    """Implements `GatewayRequests`; it takes a message when its test says so."""

    def __init__(self) -> None:
        self.has_request = asyncio.Event()
        self.may_reply = asyncio.Event()
        self.taken: list[tuple[str, str, StreamMessage]] = []

    async def set_up(self, stream: str, setup: StreamSetup) -> None: ...

    async def send(self, stream: str, message_id: str, message: StreamMessage) -> None:
        self.has_request.set()
        await self.may_reply.wait()
        self.taken.append((stream, message_id, message))

    async def end(self, stream: str) -> None: ...


async def test_a_message_outlives_one_that_waits_for_it() -> None:
    """Which is cancelled first, nobody knows."""
    requests = SlowGateway()
    gateway = Gateway(requests)
    gateway.tried.set()
    gateway.streams.add(STREAM)
    sender, slot = MessageSender(GatewayPool([gateway])), StreamSlot("switchroom-0", Held(1))
    first, second = (
        asyncio.create_task(sender.send(SendToStream(STREAM, each, TextMessage(each)), slot))
        for each in ("r1", "r2")
    )
    await requests.has_request.wait()
    await cancel_all([second])
    requests.may_reply.set()
    await first
    assert requests.taken == [(STREAM, "r1", TextMessage("r1"))]
