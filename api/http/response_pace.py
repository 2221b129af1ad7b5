"""Paces requests of strangers, and responses to accounts that send too many requests.

A refusal costs little, and so does a page that needs no key; but whoever asks as fast as is
answered takes the whole process. So beyond a rate these wait for their turn: requests that no
account has authenticated by network, and responses 429 by account. Others do not wait, also those
of customers at the same address. A stranger's body is not read before its turn: to decode it is
what costs most. But a small one is, so that a valid pair in it gets a token without a wait. A wait
costs a timer, and a client gets no other response meanwhile.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Annotated

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.common.bounded_dict import BoundedDict
from base.limit import Limit

BURST_S = 2.0  # so many seconds of the rate at once
MAX_WAIT_S = 10.0
REFUSALS_PER_S: Annotated[
    float, Limit("account", "wait", "Responses 429 of one process per second.")
] = 20.0
SMALL_BODY_BYTES = 1_024  # a sign-in or a request for a token has a quarter of it
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

        has_had_turn, is_small = False, _has_small_body(scope)

        async def read() -> Message:
            nonlocal has_had_turn
            if not (is_small or has_had_turn) and _account_of(scope) is None:
                has_had_turn = True
                await self._wait(self._stranger_s(scope))
            return await receive()

        async def paced(message: Message) -> None:
            if message["type"] == "http.response.start":
                account = _account_of(scope)
                if account is None and not has_had_turn:
                    await self._wait(self._stranger_s(scope))
                elif account is not None and message["status"] == _TOO_MANY:
                    await self._wait(self._turn(f"account {account}", 1 / REFUSALS_PER_S))
            await send(message)

        await self._app(scope, read, paced)

    async def _wait(self, wait_s: float) -> None:
        if wait_s > 0:
            await self._sleep(wait_s)

    def _stranger_s(self, scope: Scope) -> float:
        network = self._network_of((scope.get("client") or ("",))[0])
        return self._turn(f"network {network}", self._strangers_s)

    def _turn(self, name: str, interval_s: float) -> float:
        """Return how long to wait; who waits longest takes no turn."""
        now_s = self._now_s()
        turn_s = max(self._next_s.get(name) or 0.0, now_s - BURST_S)
        if turn_s - now_s > MAX_WAIT_S:
            return MAX_WAIT_S
        self._next_s.put(name, turn_s + interval_s)
        return turn_s - now_s


def _account_of(scope: Scope) -> str | None:
    state = scope.get("state", {})
    found: str | None = state.get("caller") or state.get("account_id")
    return found


def _has_small_body(scope: Scope) -> bool:
    """Return whether a body has a length that is small; without a length it may be any."""
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return len(lengths) == 1 and lengths[0].isdigit() and int(lengths[0]) <= SMALL_BODY_BYTES
