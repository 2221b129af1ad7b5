"""Places for costly work, in turn by account.

An account has few places at a time, by default one, so the work of one account never waits for the
queue of another: at most for what other accounts have begun.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from api.common.errors import TooManyRequests
from wire.programs.limit import Limit

MAX_SEARCHES: Annotated[
    int,
    Limit("process", "wait", "Searches by several filters at once, one of each account."),
] = 8
MAX_SEARCHES_OF_ACCOUNT: Annotated[
    int, Limit("account", "429 `too_many`", "Searches by several filters that run, or wait for it.")
] = 50


class FairTurns:
    """Work waits for a place, however much of its account waits."""

    def __init__(self, slots: int, of_account: int = 1) -> None:
        self._free = slots
        self._of_account = of_account
        self._running = Counter[str]()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # the next account first

    @asynccontextmanager
    async def hold(self, account: str) -> AsyncIterator[None]:
        """Wait for a place, and hold it for as long as the context lasts."""
        await self._wait(account)
        try:
            yield
        finally:
            self._release(account)

    async def _wait(self, account: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account, deque()).append(turn)
        self._grant()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._remove(account, turn)
            else:
                self._release(account)
            raise

    def _grant(self) -> None:
        """Give free places to accounts that wait and may have one more."""
        while self._free:
            account = next((each for each in self._waiting if self._has_room(each)), None)
            if account is None:
                return
            turn = self._waiting[account][0]
            self._remove(account, turn)
            if turn.cancelled():  # its task has not run since
                continue
            if account in self._waiting:  # its next one comes after those of others
                self._waiting[account] = self._waiting.pop(account)
            self._running[account] += 1
            self._free -= 1
            turn.set_result(None)

    def _has_room(self, account: str) -> bool:
        return self._running[account] < self._of_account

    def _remove(self, account: str, turn: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(account, deque())
        if turn in waiting:
            waiting.remove(turn)
        if account in self._waiting and not waiting:
            del self._waiting[account]

    def _release(self, account: str) -> None:
        self._running[account] -= 1
        if not self._running[account]:
            del self._running[account]
        self._free += 1
        self._grant()


class FairSlots:
    """`code` and `noun` name the work when an account has too much of it."""

    def __init__(
        self, code: str, noun: str, *, slots: int, most_of_account: int, of_account: int = 1
    ) -> None:
        self._code = code
        self._noun = noun
        self._turns = FairTurns(slots, of_account)
        self._most_of_account = most_of_account
        self._accounts = Counter[str]()  # running and waiting

    @asynccontextmanager
    async def hold(self, account: str) -> AsyncIterator[None]:
        """Wait for a place, and hold it for as long as the context lasts.

        Raises TooManyRequests if too much of the account's work runs and waits.
        """
        if self._accounts[account] >= self._most_of_account:
            text = f"at most {self._most_of_account} {self._noun} of an account at once"
            raise TooManyRequests(text, self._code, retry_after_s=1)
        self._accounts[account] += 1
        try:
            async with self._turns.hold(account):
                yield
        finally:
            self._accounts[account] -= 1
            if not self._accounts[account]:
                del self._accounts[account]


def search_slots() -> FairSlots:
    """Return the places of searches by several filters of contacts and of call records.

    If each filter has many matches, and all together have few, the whole index of one is read
    (decision 0018).
    """
    return FairSlots(
        "too_many", "searches", slots=MAX_SEARCHES, most_of_account=MAX_SEARCHES_OF_ACCOUNT
    )
