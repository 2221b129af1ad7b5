"""SimGatewayClient: the requests of one engine to a simulated stream gateway."""

from engine.runtime.streams.gateway_client import GatewayUnavailable
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.streams.gateway import SimGateway
from wire.streams.setup import StreamMessage, StreamSetup


class SimGatewayClient:
    """One engine's requests to a gateway; implements `GatewayRequests`."""

    def __init__(self, gateway: SimGateway, loop: SimLoop) -> None:
        self._gateway = gateway
        self._loop = loop

    async def set_up(self, stream: str, setup: StreamSetup) -> None:
        """Set a stream up."""
        assert setup.media_url
        await self._reach()
        self._gateway.set_up(stream, setup)

    async def send(self, stream: str, message_id: str, message: StreamMessage) -> None:
        """Send a message to a bot."""
        assert stream
        await self._reach()
        self._gateway.messages.setdefault(message_id, message)

    async def end(self, stream: str) -> None:
        """End a stream."""
        await self._reach()
        self._gateway.end(stream)

    async def _reach(self) -> None:
        await self._loop.sleep(1)
        if not self._gateway.is_up:
            raise GatewayUnavailable("sim")
