"""Interface of the webhook log: attempts of each account in order, and those of each call.

Attempts are bytes here; their ids grow with the time at which they were stored.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

NEWEST = "+"  # after every attempt
OLDEST = "0-0"  # before every attempt
MAX_OF_CALL = 1_000  # latest attempts that are found by their call: they are read at once


class WebhookLogLimits(Struct, frozen=True, array_like=True):
    """How long attempts are kept, and about how many of an account."""

    kept_ms: int = 86_400_000
    max_attempts: int = 10_000


DEFAULT_WEBHOOK_LOG_LIMITS = WebhookLogLimits()


class NewAttempt(Struct, frozen=True, array_like=True):
    """An attempt to store, and its call (empty: none)."""

    call_id: str
    body: bytes


class StoredAttempt(Struct, frozen=True):
    """A stored attempt and its id."""

    id: str
    body: bytes


class WebhookLogStore(Protocol):
    """Every method may raise StoreDown."""

    async def append(self, account: str, attempts: Sequence[NewAttempt]) -> None:
        """Store attempts of an account; remove those that are too old or too many."""

    async def read_before(self, account: str, before: str, limit: int) -> list[StoredAttempt]:
        """Read attempts before an id (NEWEST: all), the latest first."""

    async def read_after(self, account: str, after: str, limit: int) -> list[StoredAttempt]:
        """Read attempts after an id, the earliest first."""

    async def read(self, account: str, entry_id: str) -> StoredAttempt | None:
        """Read an attempt; None if there is none, or none any more."""

    async def of_call(self, account: str, call_id: str, after: str = OLDEST) -> list[StoredAttempt]:
        """Read the latest MAX_OF_CALL attempts of a call after an id, the earliest first."""

    async def remove(self, account: str, entries: Sequence[str]) -> int:
        """Remove attempts; returns how many there were."""
