"""Paces the responses to strangers: to requests that no account has authenticated.

A page that needs no key costs little, but whoever asks for it as fast as it is answered takes the
whole process. So beyond a rate the responses to one network wait for their turn; those to customers
at the same address do not. A wait costs a timer, and a client gets no further response meanwhile.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth.throttle import network_of
from api.common.bounded_dict import BoundedDict

BURST_S = 2.0  # so many seconds of the rate at once
MAX_WAIT_S = 10.0


class StrangerPace:
    """ASGI middleware."""

    def __init__(
        self,
        app: ASGIApp,
        per_s: float,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._app = app
        self._interval_s = 1 / per_s
        self._now_s = now_s
        self._sleep = sleep
        self._next_s: BoundedDict[str, float] = BoundedDict()  # by network: when its turn would be

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def paced(message: Message) -> None:
            is_start = message["type"] == "http.response.start"
            if is_start and "account_id" not in scope.get("state", {}):
                wait_s = self._turn((scope.get("client") or ("",))[0])
                if wait_s > 0:
                    await self._sleep(wait_s)
            await send(message)

        await self._app(scope, receive, paced)

    def _turn(self, address: str) -> float:
        """Return how long a response waits; those that wait longest take no turn."""
        network, now_s = network_of(address), self._now_s()
        turn_s = max(self._next_s.get(network) or 0.0, now_s - BURST_S)
        if turn_s - now_s > MAX_WAIT_S:
            return MAX_WAIT_S
        self._next_s.put(network, turn_s + self._interval_s)
        return turn_s - now_s
