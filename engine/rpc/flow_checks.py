"""Runs checks of flows beside the event loop, which serves live calls; also of what flows use.

A large flow, or an API request, takes tens of milliseconds, and a route may name hundreds of flows.
Checks run in one thread, one at a time, and one account has at most one; the others wait in a
bounded queue.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

from base.limit import Limit
from base.loop_cost import CHARGE
from engine.rpc.account_queue import AccountQueue

T = TypeVar("T")
_WHAT = "Checks of flows, running and waiting, in one engine."
MAX_CHECKS: Annotated[int, Limit("process", "429 `too_many_checks`", _WHAT)] = 40
MAX_ACCOUNT_CHECKS: Annotated[int, Limit("account", "429 `too_many_checks`", _WHAT)] = 10


class FlowChecks:
    """Whose turn it is to check a flow, an API request, or a route that names flows."""

    def __init__(
        self, max_checks: int = MAX_CHECKS, max_account_checks: int = MAX_ACCOUNT_CHECKS
    ) -> None:
        self._queue = AccountQueue(
            "too_many_checks",
            "checks of flows",
            most=max_checks,
            most_of_account=max_account_checks,
        )
        self._turns = defaultdict[str, asyncio.Lock](asyncio.Lock)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="flow-check")

    @asynccontextmanager
    async def turn(self, account: str) -> AsyncIterator[None]:
        """Wait until no other check of the account is in progress; raises LimitReached."""
        try:
            with self._queue.place(account):
                async with self._turns[account]:
                    yield
        finally:
            if not self._queue.count(account):
                self._turns.pop(account, None)

    async def run(self, check: Callable[..., T], *arguments: Any) -> T:
        """Run a part of a check in the thread, and return or raise what it does.

        It counts as a cost of the request: the interpreter runs either the thread or the loop.
        """
        loop = asyncio.get_running_loop()
        spent_s = list[float]()

        def measured() -> T:
            began_s = time.thread_time()
            try:
                return check(*arguments)
            finally:
                spent_s.append(time.thread_time() - began_s)

        try:
            return await loop.run_in_executor(self._thread, measured)
        finally:
            CHARGE.get()(sum(spent_s))
