"""The gateways beside one PBX: which are up, and which stream is at which."""

import asyncio
from collections.abc import Iterable
from typing import Literal, Protocol

from base.tasks import wait_for_event
from wire.streams.setup import StreamMessage, StreamSetup

READY_TIMEOUT_S = 2.0
GatewayState = Literal["available", "draining", "disconnected"]


class GatewayRequests(Protocol):
    """The requests to one gateway; `engine.runtime.streams.gateway_client` implements it."""

    async def set_up(self, stream: str, setup: StreamSetup) -> None:
        """Set a stream up, or change nothing; raises GatewayUnavailable and StreamRejected."""

    async def send(self, stream: str, message_id: str, message: StreamMessage) -> None:
        """Send a message to a bot; raises GatewayUnavailable and StreamRejected."""

    async def end(self, stream: str) -> None:
        """End a stream, and forget it; raises GatewayUnavailable and StreamRejected."""


class Gateway:
    """What an engine knows of one gateway."""

    def __init__(self, client: GatewayRequests) -> None:
        self.client = client
        self.is_connected = False
        self.is_draining = False
        self.is_known = False  # which streams it has: it has sent them since it was connected
        self.tried = asyncio.Event()  # to connect, once at least
        self.streams: set[str] = set()  # that it has, as far as is known

    @property
    def is_available(self) -> bool:
        return self.state == "available"

    @property
    def state(self) -> GatewayState:
        """Whether it takes streams; one that is draining continues those that it has."""
        if not self.is_connected:
            return "disconnected"
        return "draining" if self.is_draining else "available"


class GatewayPool:
    """The gateways of a node."""

    def __init__(self, gateways: Iterable[Gateway]) -> None:
        self.gateways = tuple(gateways)
        self._news = asyncio.Event()

    def announce(self) -> None:
        """Wake what waits for news."""
        self._news.set()
        self._news = asyncio.Event()

    async def wait_for_news(self, wait_s: float) -> None:
        """Wait until a gateway may take a stream that none took, or for so long."""
        await wait_for_event(self._news, wait_s)

    async def wait_until_tried(self) -> None:
        """Wait until it is known which gateways are up: an engine may just have started."""
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                await asyncio.gather(*(each.tried.wait() for each in self.gateways))
        except TimeoutError:
            return

    def with_stream(self, stream: str) -> Gateway | None:
        """Return the gateway that has a stream."""
        return next((each for each in self.gateways if stream in each.streams), None)

    def is_of_another(self, stream: str, gateway: Gateway) -> bool:
        """Return whether a stream is at another gateway than this one."""
        return self.with_stream(stream) not in {None, gateway}

    def candidates(self, stream: str) -> list[Gateway]:
        """Return the gateways for a stream: the one that has it, then those with the least."""
        available = [each for each in self.gateways if each.is_available]
        return sorted(available, key=lambda each: (stream not in each.streams, len(each.streams)))

    def has_other(self, gateway: Gateway) -> bool:
        """Return whether another gateway takes streams."""
        return any(each.is_available for each in self.gateways if each is not gateway)

    def knows_others(self, gateway: Gateway) -> bool:
        """Return whether it is known which streams all other gateways have."""
        return all(each.is_known for each in self.gateways if each is not gateway)

    def assign(self, stream: str, gateway: Gateway) -> None:
        self.forget(stream)
        gateway.streams.add(stream)

    def forget(self, stream: str) -> None:
        for each in self.gateways:
            each.streams.discard(stream)
