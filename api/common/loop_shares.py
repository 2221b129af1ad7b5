"""Shares of the event loops, by account: the time that the account's requests cost them.

A request takes up to 100 ms of the loop that serves all accounts, and of an engine's. So an account
that has used up its share waits before its next requests, in their order; others do not wait. While
no other account sends requests, one has the whole loop. What a request will cost is not known
before, so it reserves what the account's requests have cost lately: a hundred that arrive at once
do not begin at once.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from math import ceil, inf
from typing import Annotated

from starlette.types import ASGIApp, Receive, Scope, Send

from api.common.bounded_dict import BoundedDict
from api.common.errors import TooManyRequests
from base.limit import Limit
from base.loop_cost import CHARGE, metered

BURST_S: Annotated[
    float,
    Limit("account", "wait", "Seconds of the event loops that its requests may take at once."),
] = 0.5
MAX_WAIT_S: Annotated[
    float,
    Limit("account", "429 `too_many`", "Seconds for which a request waits for its share."),
] = 10.0
MAX_RETRY_AFTER_S = 60
ALONE_AFTER_S = 10.0  # without a request of another account
FIRST_EXPECTED_S = 0.02  # of the first requests
MAX_EXPECTED_S = 0.1
_MEMORY = 0.99  # one costly request is remembered for about a hundred
_MARGIN_S = 0.001  # timers may be early


class AccountShare:
    """The balance of one account, which grows by its share of each second, as it is now."""

    def __init__(self, share: Callable[[], float]) -> None:
        self.step = asyncio.Lock()
        self._share = share
        self._balance_s = BURST_S
        self._at_s = asyncio.get_running_loop().time()
        self._expected_s = FIRST_EXPECTED_S
        self._waiting = deque[asyncio.Future[float]]()
        self._timer: asyncio.TimerHandle | None = None

    def spend(self, seconds: float) -> None:
        self._refill()
        self._balance_s -= seconds

    def settle(self, cost_s: float, reserved_s: float) -> None:
        """End a request that has cost so much, and has not used so much of what it reserved."""
        mean_s = _MEMORY * self._expected_s + (1 - _MEMORY) * cost_s
        self._expected_s = min(MAX_EXPECTED_S, max(cost_s, mean_s))
        self.give_back(reserved_s)

    def covers(self, reserved_s: float) -> bool:
        """Return whether a request that has reserved so much may go on."""
        self._refill()
        return self._balance_s + reserved_s > 0

    def give_back(self, reserved_s: float) -> None:
        self._refill()
        self._balance_s = min(BURST_S, self._balance_s + reserved_s)
        self._grant()

    async def reserve(self) -> float:
        """Wait for a turn; return how many seconds are reserved. Raises TooManyRequests."""
        is_free = self._is_free()
        if is_free and not self._waiting:
            return self._take()
        debt_s = -self._balance_s / self._share()
        if debt_s > MAX_WAIT_S:
            raise _refusal(debt_s)
        turn: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._grant()
        try:
            async with asyncio.timeout(MAX_WAIT_S):
                return await turn
        except TimeoutError:
            raise _refusal(debt_s) from None
        finally:
            if turn in self._waiting:
                self._waiting.remove(turn)

    def _refill(self) -> None:
        now_s = asyncio.get_running_loop().time()
        grown_s = self._balance_s + (now_s - self._at_s) * self._share()
        self._balance_s, self._at_s = min(BURST_S, grown_s), now_s

    def _is_free(self) -> bool:
        self._refill()
        return self._balance_s > 0

    def _take(self) -> float:
        self._balance_s -= self._expected_s
        return self._expected_s

    def _grant(self) -> None:
        """Give turns while the account has a share left, and look again when it has one."""
        while self._waiting and self._is_free():
            turn = self._waiting.popleft()
            if not turn.done():  # cancelled
                turn.set_result(self._take())
        if self._waiting and self._timer is None:
            wait_s = -self._balance_s / self._share() + _MARGIN_S
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._look_again)

    def _look_again(self) -> None:
        self._timer = None
        self._grant()


def _refusal(debt_s: float) -> TooManyRequests:
    text = "this account's requests take more than its share (SWITCHROOM_API_LOOP_SHARE)"
    return TooManyRequests(text, retry_after_s=max(1, min(MAX_RETRY_AFTER_S, ceil(debt_s))))


class RequestCost:
    """What one request costs; charged to its account as soon as that is known."""

    def __init__(self) -> None:
        self.spent_s = 0.0
        self._reserved_s = 0.0
        self._share: AccountShare | None = None
        self._had_turn = False

    def add(self, seconds: float) -> None:
        self.spent_s += seconds
        self._reserved_s -= seconds
        if self._reserved_s < 0:
            if self._share is not None:
                self._share.spend(-self._reserved_s)
            self._reserved_s = 0.0

    def charge_to(self, share: AccountShare) -> None:
        """Charge what has been spent, and what will be."""
        self._share = share
        share.spend(self.spent_s)

    async def wait_for_turn(self) -> None:
        """Wait until the account has a share left; raises TooManyRequests."""
        if self._share is not None:
            self._reserved_s += await self._share.reserve()
            self._had_turn = True

    @asynccontextmanager
    async def costly_step(self) -> AsyncIterator[None]:
        """Wait before a costly step, if others of the account have used up its share meanwhile.

        They may use its reservation until then. The account has one such step in each turn of the
        loop, so that other accounts wait for one only. Raises TooManyRequests.
        """
        if (share := self._share) is None:
            yield
            return
        await share.step.acquire()
        if not share.covers(self._reserved_s):
            share.step.release()
            share.give_back(self._reserved_s)
            self._reserved_s = 0.0
            await self.wait_for_turn()
            await share.step.acquire()
        try:
            yield
        finally:
            asyncio.get_running_loop().call_soon(share.step.release)

    def end(self) -> None:
        """End the request; a task that it has left behind costs the account nothing."""
        if self._share is not None and self._had_turn:
            self._share.settle(self.spent_s, self._reserved_s)
        self._share = None


class LoopShares:
    """The shares of all accounts; `share` is that of one, of each second of a loop."""

    def __init__(self, share: float, alone_after_s: float = ALONE_AFTER_S) -> None:
        self._share = share
        self._alone_after_s = alone_after_s
        self._accounts = BoundedDict[str, AccountShare]()
        self._latest, self._latest_s = "", -inf
        self._before_s = -inf  # when an account other than the latest sent its latest request

    def of_account(self, account_id: str) -> AccountShare:
        """Return the share of an account that has sent a request."""
        if account_id != self._latest:
            self._before_s, self._latest = self._latest_s, account_id
        self._latest_s = asyncio.get_running_loop().time()
        found = self._accounts.get(account_id)
        return found or self._accounts.put(account_id, AccountShare(partial(self._of, account_id)))

    def _of(self, account_id: str) -> float:
        other_s = self._before_s if account_id == self._latest else self._latest_s
        is_alone = asyncio.get_running_loop().time() - other_s >= self._alone_after_s
        return max(1.0, self._share) if is_alone else self._share


class RequestCosts:
    """ASGI middleware, around all that is to be measured."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cost = RequestCost()
        scope.setdefault("state", {})["cost"] = cost
        CHARGE.set(cost.add)
        try:
            await metered(_run(self._app, scope, receive, send), cost.add)
        finally:
            cost.end()


async def _run(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Turn what an application returns into a coroutine."""
    await app(scope, receive, send)
