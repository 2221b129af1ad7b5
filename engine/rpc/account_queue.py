"""Bounds how much work is in progress and waits: of one account, and of all."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from engine.rpc.problems import LimitReached


class AccountQueue:
    """Places for work of accounts; `code` and `noun` name it when there is no place."""

    def __init__(self, code: str, noun: str, *, most: int, most_of_account: int) -> None:
        self._code = code
        self._noun = noun
        self._most = most
        self._most_of_account = most_of_account
        self._accounts = Counter[str]()

    def count(self, account: str) -> int:
        """Return how many places an account has taken."""
        return self._accounts[account]

    @contextmanager
    def place(self, account: str) -> Iterator[None]:
        """Take a place for as long as the context lasts; raises LimitReached."""
        if self._accounts[account] >= self._most_of_account:
            text = f"{self._most_of_account} {self._noun} of account {account}"
            raise LimitReached(self._code, f"{text} are in progress")
        if self._accounts.total() >= self._most:
            raise LimitReached(self._code, f"{self._most} {self._noun} are in progress")
        self._accounts[account] += 1
        try:
            yield
        finally:
            self._accounts[account] -= 1
            if not self._accounts[account]:
                del self._accounts[account]
