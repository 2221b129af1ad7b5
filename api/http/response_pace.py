"""Paces responses that say no: to strangers, and to accounts that send too many requests.

A refusal costs little, and so does a page that needs no key; but whoever asks as fast as is
answered takes the whole process. So beyond a rate these responses wait for their turn: those to
requests that no account has authenticated by network, and those with 429 by account. Others do not
wait, also to customers at the same address. A wait costs a timer, and a client gets no other
response meanwhile.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Annotated

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.common.bounded_dict import BoundedDict
from wire.programs.limit import Limit

BURST_S = 2.0  # so many seconds of the rate at once
MAX_WAIT_S = 10.0
REFUSALS_PER_S: Annotated[
    float, Limit("account", "wait", "Responses 429 of one process per second.")
] = 20.0
_TOO_MANY = 429


class ResponsePace:
    """ASGI middleware."""

    def __init__(
        self,
        app: ASGIApp,
        strangers_per_s: float,
        network_of: Callable[[str], str],
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._app = app
        self._strangers_s = 1 / strangers_per_s
        self._network_of = network_of
        self._now_s = now_s
        self._sleep = sleep
        self._next_s: BoundedDict[str, float] = BoundedDict()  # when the next turn would be

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def paced(message: Message) -> None:
            if message["type"] == "http.response.start":
                wait_s = self._wait_s(scope, message["status"])
                if wait_s > 0:
                    await self._sleep(wait_s)
            await send(message)

        await self._app(scope, receive, paced)

    def _wait_s(self, scope: Scope, status: int) -> float:
        state = scope.get("state", {})
        account = state.get("caller") or state.get("account_id")
        if account is None:
            network = self._network_of((scope.get("client") or ("",))[0])
            return self._turn(f"network {network}", self._strangers_s)
        return self._turn(f"account {account}", 1 / REFUSALS_PER_S) if status == _TOO_MANY else 0.0

    def _turn(self, name: str, interval_s: float) -> float:
        """Return how long a response waits; those that wait longest take no turn."""
        now_s = self._now_s()
        turn_s = max(self._next_s.get(name) or 0.0, now_s - BURST_S)
        if turn_s - now_s > MAX_WAIT_S:
            return MAX_WAIT_S
        self._next_s.put(name, turn_s + interval_s)
        return turn_s - now_s
