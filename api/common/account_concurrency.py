"""How much an account has, or does, at once in this process, and how much all accounts do.

For costly work there are slots, in turn by account. An account has few at a time, by default one,
so the work of one account never waits for the queue of another: at most for what other accounts
have begun.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated

from api.common.errors import ServiceUnavailable, TooManyRequests
from base.fair_slots import FairSlots
from base.limit import Limit

MAX_SEARCHES: Annotated[
    int,
    Limit("process", "wait", "Searches by several filters at once, one of each account."),
] = 8
MAX_SEARCHES_OF_ACCOUNT: Annotated[
    int, Limit("account", "429 `too_many`", "Searches by several filters that run, or wait for it.")
] = 50


class AccountConcurrency:
    """Counts what an account has at once; `code` and `noun` name it when there is too much."""

    def __init__(
        self,
        code: str,
        noun: str,
        *,
        of_account: int,
        in_all: int | None = None,
        retry_after_s: int = 1,
    ) -> None:
        self._code = code
        self._noun = noun
        self._of_account = of_account
        self._in_all = in_all
        self._retry_after_s = retry_after_s
        self._accounts = Counter[str]()

    @property
    def total(self) -> int:
        """What all accounts have."""
        return self._accounts.total()

    def begin(self, account: str) -> None:
        """Count one more until `end`.

        Raises TooManyRequests for more than an account may have, ServiceUnavailable for more than
        the process has room for.
        """
        if self._accounts[account] >= self._of_account:
            text = f"at most {self._of_account} {self._noun} of an account at once"
            raise TooManyRequests(text, self._code, retry_after_s=self._retry_after_s)
        if self._in_all is not None and self.total >= self._in_all:
            text = f"this server has too many {self._noun} at the moment"
            raise ServiceUnavailable(text, retry_after_s=self._retry_after_s)
        self._accounts[account] += 1

    def end(self, account: str) -> None:
        self._accounts[account] -= 1
        if not self._accounts[account]:
            del self._accounts[account]

    @contextmanager
    def hold(self, account: str) -> Iterator[None]:
        """Count one for as long as the context lasts; raises as `begin` does."""
        self.begin(account)
        try:
            yield
        finally:
            self.end(account)


class LimitedSlots:
    """Slots for costly work; so much of an account's work runs or waits."""

    def __init__(
        self, code: str, noun: str, *, slots: int, most_of_account: int, of_account: int = 1
    ) -> None:
        self._slots = FairSlots(slots, of_account)
        self._held = AccountConcurrency(code, noun, of_account=most_of_account)

    @asynccontextmanager
    async def slot(self, account: str) -> AsyncIterator[None]:
        """Wait for a slot, and use it for as long as the context lasts; raises TooManyRequests."""
        with self._held.hold(account):
            async with self._slots.slot(account):
                yield


def search_slots() -> LimitedSlots:
    """Return the slots of searches by several filters of contacts and of call records.

    If each filter has many matches, and all together have few, the whole index of one is read
    (decision 0018).
    """
    return LimitedSlots(
        "too_many", "searches", slots=MAX_SEARCHES, most_of_account=MAX_SEARCHES_OF_ACCOUNT
    )
