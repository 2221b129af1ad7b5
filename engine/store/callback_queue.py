"""The callback queue of a shard: callbacks to deliver, committed with the state that caused them.

An engine claims the calls that are due for `claim_ms`, after which they are due again: the events
of an engine that crashes are delivered late, not lost.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from wire.shard import ShardId


class CallbackQueueLimits(Struct, frozen=True):
    """Limits on pending events, of an account and of a shard, and on dead letters.

    An account may have 1/fair_share_divisor of the free room, so its share shrinks as the shard
    fills: n accounts that fill a shard have max_per_shard / (divisor + n) each, and leave `divisor`
    times as much free. Alone, an account has 10,000; beside four others that fail too, 5,500.
    """

    max_per_shard: int = 50_000
    fair_share_divisor: int = 4
    min_per_account: int = 1_000  # however full the shard is
    claim_ms: int = 10_000
    max_dead_letters: int = 10_000  # of an account in a shard
    dead_letter_ttl_ms: int = 30 * 86_400_000


DEFAULT_CALLBACK_QUEUE_LIMITS = CallbackQueueLimits()


class DueCall(Struct, frozen=True):
    """A call with due events, their delivery key, and the age of the oldest."""

    call_id: str
    delivery_key: str
    age_ms: int = 0


class ClaimedBatch(Struct, frozen=True):
    """Claimed calls; number of events pending in the shard, and the age of the oldest."""

    calls: tuple[DueCall, ...] = ()
    pending: int = 0
    oldest_ms: int = 0


class PendingEvents(Struct, frozen=True):
    """A call's first undelivered events, by number, and the attempts at the first."""

    delivery_key: str = ""
    tries: int = 0
    events: tuple[tuple[int, bytes], ...] = ()


class GivenUp(Struct, frozen=True, array_like=True):
    """An event that was given up."""

    seq: int
    reason: str
    tries: int = 0


class Settlement(Struct, frozen=True, array_like=True):
    """The outcome of a call's events: delivered, given up, or to be retried after a while.

    -1 leaves `tries` and the due time as they are. `give_up_reason` gives up all other events of
    the call, too.
    """

    call_id: str
    delivered: tuple[int, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    tries: int = -1
    retry_after_ms: int = -1
    give_up_reason: str = ""


class DeadLetter(Struct, frozen=True):
    """An event that was given up; `entry` begins with the wall-clock milliseconds of that."""

    entry: str
    call_id: str
    delivery_key: str
    seq: int
    event: bytes
    reason: str
    tries: int


class CallbackQueue(Protocol):
    """Interface of all stores; each method may raise StoreDown, and may then be repeated."""

    async def claim_due(
        self, shard: ShardId, token: int, ahead_ms: int, limit: int
    ) -> ClaimedBatch:
        """Claim calls that are due now or within `ahead_ms`; raises Fenced."""

    async def pending_events(self, shard: ShardId, call_id: str, limit: int) -> PendingEvents:
        """Read a call's first undelivered events."""

    async def pending_calls(
        self, shard: ShardId, account: str, cursor: int
    ) -> tuple[int, list[str]]:
        """Read some of an account's calls with undelivered events, and the next cursor; 0: the end.

        A call may come twice.
        """

    async def remove_pending(self, shard: ShardId, call_id: str, numbers: Sequence[int]) -> int:
        """Remove undelivered events of a call, with any owner of the shard; returns how many."""

    async def settle(self, shard: ShardId, token: int, settlements: Sequence[Settlement]) -> None:
        """Store the outcome of events; raises Fenced."""

    async def dead_letters(
        self, shard: ShardId, account: str, after: str, limit: int
    ) -> list[DeadLetter]:
        """Read an account's dead letters in a shard after an entry (empty: from the oldest)."""

    async def resend(self, shard: ShardId, account: str, entries: Sequence[str], limit: int) -> int:
        """Make dead letters due again, without entries the oldest; returns how many."""

    async def account(self, account: str) -> tuple[bytes | None, int]:
        """Read an account's callback settings, and which were stopped: their `put_ms`; -1: none."""

    async def stop_account(self, account: str, put_ms: int) -> None:
        """Stop the settings of an account that were put at this time."""
