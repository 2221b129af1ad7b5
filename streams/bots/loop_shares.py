"""Shares of the gateway's event loop, by account: the time that bots and callers' voices cost it.

A message takes up to some milliseconds of the loop that serves all accounts. So when an account has
used up its share, nothing is read from its bots until the debt is paid back, and no voice of its
callers is judged; other accounts do not wait.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Protocol

from base.limit import Limit
from base.loop_cost import TokenBucket

SHARE: Annotated[
    float,
    Limit(
        "account",
        "wait",
        "Part of a gateway's event loop that its bots take while other accounts have streams.",
    ),
] = 0.2
# An ordinary stream takes half of it: 50 messages a second, and some sounds that are judged.
SHARE_OF_STREAM: Annotated[
    float,
    Limit("account", "wait", "Part of a gateway's event loop that each of its streams adds."),
] = 0.001
BURST_S: Annotated[
    float, Limit("account", "wait", "Seconds of a gateway's event loop that its bots take at once.")
] = 0.1
RESUME_S = 0.02  # that are there again before its bots are read: to stop and go on costs, too


class Reader(Protocol):
    """A bot's connection, which can be left unread."""

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class LoopShare:
    """The share of one account, and the bots that wait when it is used up."""

    def __init__(self, bucket: TokenBucket, on_pause: Callable[["LoopShare"], None]) -> None:
        self.streams = 0
        self.is_used_up = False
        self._bucket = bucket
        self._on_pause = on_pause
        self._readers: dict[Reader, None] = {}

    @property
    def is_idle(self) -> bool:
        """Whether it can be forgotten."""
        return not self.streams and self._bucket.is_full

    def add(self, reader: Reader) -> None:
        """Take a bot that has to wait with the others."""
        self._readers[reader] = None
        if self.is_used_up:
            reader.pause_reading()

    def remove(self, reader: Reader) -> None:
        """Forget a bot."""
        self._readers.pop(reader, None)

    @contextmanager
    def charge(self) -> Iterator[None]:
        """Spend the time of this thread that the context takes."""
        began_s = time.thread_time()
        try:
            yield
        finally:
            self.spend(time.thread_time() - began_s)

    def spend(self, seconds: float, reader: Reader | None = None) -> None:
        """Spend time; the bot that spends the last of it is read last of all."""
        if self._bucket.spend(seconds) >= 0 or self.is_used_up:
            return
        if reader in self._readers:
            self._readers[reader] = self._readers.pop(reader)
        self.is_used_up = True
        self._on_pause(self)
        for each in self._readers:
            each.pause_reading()

    def resume(self) -> bool:
        """Read its bots again if its debt is paid; return whether it is."""
        if self._bucket.balance() < RESUME_S:
            return False
        self.is_used_up = False
        for each in self._readers:
            each.resume_reading()
        return True


class LoopShares:
    """The shares of all accounts; `now_s` is of a clock that is never set."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._accounts: dict[str, LoopShare] = {}
        self._used_up: set[LoopShare] = set()
        self._with_streams = 0  # accounts

    def join(self, account: str) -> LoopShare:
        """Return the share of an account, which has another stream."""
        share = self._accounts.get(account)
        if share is None:
            self._forget_idle()
            share = self._accounts[account] = self._new_share()
        self._with_streams += not share.streams
        share.streams += 1
        return share

    def leave(self, share: LoopShare) -> None:
        """Take the end of a stream; what the account owes stays."""
        share.streams -= 1
        self._with_streams -= not share.streams

    def resume(self) -> None:
        """Read the bots of accounts that have paid their debts."""
        self._used_up -= {each for each in self._used_up if each.resume()}

    def _new_share(self) -> LoopShare:
        def rate() -> float:
            own = SHARE + SHARE_OF_STREAM * share.streams
            is_alone = self._with_streams <= bool(share.streams)
            return max(1.0, own) if is_alone else own

        share = LoopShare(TokenBucket(BURST_S, rate, self._now_s), self._used_up.add)
        return share

    def _forget_idle(self) -> None:
        idle = [account for account, share in self._accounts.items() if share.is_idle]
        for account in idle:
            del self._accounts[account]
