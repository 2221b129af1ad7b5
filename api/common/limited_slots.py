"""Slots for costly work, in turn by account, with a limit of what may wait.

An account has few slots at a time, by default one, so the work of one account never waits for the
queue of another: at most for what other accounts have begun.
"""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from api.common.errors import TooManyRequests
from base.fair_slots import FairSlots
from base.limit import Limit

MAX_SEARCHES: Annotated[
    int,
    Limit("process", "wait", "Searches by several filters at once, one of each account."),
] = 8
MAX_SEARCHES_OF_ACCOUNT: Annotated[
    int, Limit("account", "429 `too_many`", "Searches by several filters that run, or wait for it.")
] = 50


class LimitedSlots:
    """`code` and `noun` name the work when an account has too much of it."""

    def __init__(
        self, code: str, noun: str, *, slots: int, most_of_account: int, of_account: int = 1
    ) -> None:
        self._code = code
        self._noun = noun
        self._slots = FairSlots(slots, of_account)
        self._most_of_account = most_of_account
        self._accounts = Counter[str]()  # running and waiting

    @asynccontextmanager
    async def slot(self, account: str) -> AsyncIterator[None]:
        """Wait for a slot, and use it for as long as the context lasts.

        Raises TooManyRequests if too much of the account's work runs and waits.
        """
        if self._accounts[account] >= self._most_of_account:
            text = f"at most {self._most_of_account} {self._noun} of an account at once"
            raise TooManyRequests(text, self._code, retry_after_s=1)
        self._accounts[account] += 1
        try:
            async with self._slots.slot(account):
                yield
        finally:
            self._accounts[account] -= 1
            if not self._accounts[account]:
                del self._accounts[account]


def search_slots() -> LimitedSlots:
    """Return the slots of searches by several filters of contacts and of call records.

    If each filter has many matches, and all together have few, the whole index of one is read
    (decision 0018).
    """
    return LimitedSlots(
        "too_many", "searches", slots=MAX_SEARCHES, most_of_account=MAX_SEARCHES_OF_ACCOUNT
    )
