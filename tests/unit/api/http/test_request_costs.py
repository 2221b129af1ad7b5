"""What a request costs is charged to its account: here, at an engine, and before it is known."""

import asyncio
import time
from math import inf
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from api.common.errors import TooManyRequests
from api.common.loop_shares import BURST_S, MAX_WAIT_S, LoopShares, RequestCost
from api.http.request_costs import RequestCosts
from base.loop_cost import CHARGE
from tests.harness.virtual_time import virtual_time

SHARE = 0.2


class Served:
    """An application that authenticates each request, and asks an engine."""

    def __init__(self) -> None:
        self.shares = LoopShares(SHARE, inf)
        self.shares.of_account("another")  # so that none is alone
        self.engine_s = 0.0
        self.loop_s = 0.0
        self.last = RequestCost()
        self._costs = RequestCosts(self._answer)

    async def request(self, account: str, *, engine_s: float = 0, loop_s: float = 0) -> float:
        """Send a request; return for how long it waited before its body was read."""
        self.engine_s, self.loop_s = engine_s, loop_s
        loop = asyncio.get_running_loop()
        began_s = self.read_s = loop.time()
        await self._costs({"type": "http", "account": account}, self._receive, self._send)
        return self.read_s - began_s

    async def _answer(self, scope: Scope, receive: Receive, _send: Send) -> None:
        self.last = scope["state"]["cost"]
        self.last.charge_to(self.shares.of_account(scope["account"]))
        await self.last.wait_for_turn()
        await receive()
        began_s = time.thread_time()
        while time.thread_time() < began_s + self.loop_s:
            pass
        CHARGE.get()(self.engine_s)

    async def _receive(self) -> Any:
        self.read_s = asyncio.get_running_loop().time()
        return {"type": "http.request"}

    async def _send(self, _message: Any) -> None:
        pass


@virtual_time
async def test_what_an_engine_says_is_charged() -> None:
    """The next request of the account waits before its body is read; another account's does not."""
    served = Served()
    assert await served.request("a", engine_s=BURST_S + 1) == 0
    assert await served.request("b") == 0
    assert await served.request("a") == pytest.approx(1 / SHARE, rel=0.1)


@virtual_time
async def test_the_steps_of_a_request_are_charged() -> None:
    served = Served()
    await served.request("a", loop_s=0.01)
    assert served.last.spent_s >= 0.01


@virtual_time
async def test_a_debt_that_is_too_long_is_refused_at_once() -> None:
    """With the time after which the account has a share again."""
    served = Served()
    await served.request("a", engine_s=BURST_S + 2 * MAX_WAIT_S * SHARE)
    with pytest.raises(TooManyRequests) as refused:
        await served.request("a")
    assert refused.value.retry_after_s == pytest.approx(2 * MAX_WAIT_S, abs=1)


@virtual_time
async def test_what_a_request_leaves_behind_is_not_charged() -> None:
    """A task that it has started, and that goes on for itself."""
    served = Served()
    await served.request("a")
    served.last.add(100)
    assert await served.request("a") == 0


async def test_other_scopes_pass() -> None:
    """Websockets and the lifespan have no cost."""
    seen: list[Scope] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope)

    async def nothing(*_arguments: Any) -> Any:
        return None

    await RequestCosts(app)({"type": "websocket"}, nothing, nothing)
    assert seen == [{"type": "websocket"}]
