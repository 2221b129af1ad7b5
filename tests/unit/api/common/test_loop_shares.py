"""An account whose requests have taken its share of the loop waits; others do not."""

import asyncio
import math
import time
from math import inf
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from api.common.errors import TooManyRequests
from api.common.loop_shares import (
    BURST_S,
    FIRST_EXPECTED_S,
    MAX_EXPECTED_S,
    MAX_WAIT_S,
    LoopShares,
    RequestCost,
    RequestCosts,
)
from base.loop_cost import CHARGE
from tests.harness.virtual_time import virtual_time

SHARE = 0.2
MANY = 100


def shared() -> LoopShares:
    """Return the shares of accounts that are never alone."""
    found = LoopShares(SHARE, math.inf)
    found.of_account("another")
    return found


class Customers:
    """Accounts whose requests take so many seconds of the loop, some of them after a wait."""

    def __init__(self) -> None:
        self.shares = shared()
        self.refused = 0
        self.served: list[int] = []
        self.spent_s = 0.0

    async def request(
        self, account: str, cost_s: float, number: int = 0, wait_s: float = 0
    ) -> float:
        """Send a request; return for how long it waited."""
        loop, cost = asyncio.get_running_loop(), RequestCost()
        began_s = loop.time()
        cost.charge_to(self.shares.of_account(account))
        try:
            await cost.wait_for_turn()
        except TooManyRequests:
            self.refused += 1
            return loop.time() - began_s
        else:
            waited_s = loop.time() - began_s
            self.served.append(number)
            await asyncio.sleep(wait_s)
            cost.add(cost_s)
            self.spent_s += cost_s
            return waited_s
        finally:
            cost.end()


@virtual_time
async def test_a_cheap_request_does_not_wait() -> None:
    """Hundreds a second, one after the other, that stay below the share."""
    customers = Customers()
    for _ in range(1_000):
        assert await customers.request("a", 0.000_9) == 0
        await asyncio.sleep(0.005)


@virtual_time
async def test_costly_requests_get_their_share() -> None:
    """However many wait: in their order, and beyond the burst the share of each second."""
    customers = Customers()
    sent = [customers.request("a", 0.05, number) for number in range(MANY)]
    waits_s = await asyncio.gather(*sent)
    assert customers.served == sorted(customers.served)
    assert customers.spent_s <= BURST_S + MAX_WAIT_S * SHARE + 2 * MAX_EXPECTED_S
    assert customers.spent_s >= MAX_WAIT_S * SHARE
    assert customers.refused == MANY - len(customers.served) > 0
    assert max(waits_s) == pytest.approx(MAX_WAIT_S)


@virtual_time
async def test_another_account_does_not_wait() -> None:
    customers = Customers()
    flood = [asyncio.create_task(customers.request("a", 0.05)) for _ in range(MANY)]
    await asyncio.sleep(1)
    assert await customers.request("b", 0.05) == 0
    await asyncio.gather(*flood)


@virtual_time
async def test_requests_that_cost_later_do_not_begin_at_once() -> None:
    """Those that wait for an engine or the database reserve what they are expected to cost."""
    customers = Customers()
    sent = [asyncio.create_task(customers.request("a", 0.05, wait_s=1)) for _ in range(MANY)]
    await asyncio.sleep(0.5)
    assert len(customers.served) <= (BURST_S + 0.5 * SHARE) / FIRST_EXPECTED_S + 1
    await asyncio.gather(*sent)
    await asyncio.sleep(60)
    before = len(customers.served)
    sent = [asyncio.create_task(customers.request("a", 0.05, wait_s=1)) for _ in range(MANY)]
    await asyncio.sleep(0.5)
    assert len(customers.served) - before <= (BURST_S + 0.5 * SHARE) / 0.04
    await asyncio.gather(*sent)


@virtual_time
async def test_a_costly_step_waits_for_those_before_it() -> None:
    """Bodies that arrive at once are not all decoded at once, whatever was expected of them."""
    shares, decoded = shared(), 0

    async def request() -> None:
        nonlocal decoded
        cost = RequestCost()
        cost.charge_to(shares.of_account("a"))
        try:
            await cost.wait_for_turn()
            await asyncio.sleep(0.01)
            async with cost.costly_step():
                cost.add(0.1)
                decoded += 1
        finally:
            cost.end()

    sent = [asyncio.create_task(request()) for _ in range(int(BURST_S / FIRST_EXPECTED_S))]
    await asyncio.sleep(0.02)
    assert decoded <= BURST_S / 0.1 + 1
    await asyncio.gather(*sent)


@virtual_time
async def test_others_have_their_turn_between_costly_steps() -> None:
    """However many bodies of an account have arrived at once."""
    share, steps, seen = shared().of_account("a"), 0, list[int]()

    async def request() -> None:
        nonlocal steps
        cost = RequestCost()
        cost.charge_to(share)
        async with cost.costly_step():
            steps += 1

    sent = [asyncio.create_task(request()) for _ in range(5)]
    while steps < len(sent):
        await asyncio.sleep(0)
        seen.append(steps)
    assert sorted(set(seen)) == [1, 2, 3, 4, 5]
    await asyncio.gather(*sent)


@virtual_time
async def test_what_is_reserved_and_not_used_is_returned() -> None:
    """A hundred requests that cost little go on as soon as the first ones have ended."""
    customers = Customers()
    sent = [customers.request("a", 0.000_1, wait_s=0.01) for _ in range(MANY)]
    assert max(await asyncio.gather(*sent)) < 0.1
    assert customers.refused == 0


@virtual_time
async def test_a_stream_does_not_reserve_for_ever() -> None:
    """Requests that last for hours take a place only until the share has grown again."""
    customers = Customers()
    streams = [
        asyncio.create_task(customers.request("a", 0, wait_s=3_600)) for _ in range(MANY // 2)
    ]
    await asyncio.sleep(60)
    assert await customers.request("a", 0.001) == 0
    for each in streams:
        each.cancel()


@virtual_time
async def test_a_cancelled_request_leaves_the_queue() -> None:
    customers = Customers()
    await customers.request("a", 1)
    first = asyncio.create_task(customers.request("a", 0, 1))
    second = asyncio.create_task(customers.request("a", 0, 2))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert customers.served == [0, 2]


@virtual_time
async def test_what_is_spent_before_the_account_is_known() -> None:
    """It is charged as soon as a key has authenticated the request."""
    shares, cost = shared(), RequestCost()
    cost.add(BURST_S + 1)
    cost.charge_to(shares.of_account("a"))
    cost.end()
    late = RequestCost()
    late.charge_to(shares.of_account("a"))
    began_s = asyncio.get_running_loop().time()
    await late.wait_for_turn()
    waited_s = asyncio.get_running_loop().time() - began_s
    assert waited_s == pytest.approx(1 / SHARE, rel=0.1)


@virtual_time
async def test_an_account_that_is_alone_has_the_loop() -> None:
    """Until another one sends a request, and again some time after that."""
    customers = Customers()
    customers.shares = LoopShares(SHARE, 10)
    waits = [await customers.request("a", 0.1) for _ in range(10)]
    assert sum(waits) < 10 * 0.1
    await customers.request("b", 0.001)
    began_s = customers.spent_s
    shared_s = sum([await customers.request("a", 0.1) for _ in range(10)])
    assert shared_s > (customers.spent_s - began_s) / SHARE / 2
    await asyncio.sleep(10)
    assert sum([await customers.request("a", 0.1) for _ in range(10)]) < 10 * 0.1


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
