"""The outbox of a slot: events that customers wait for, committed with the state that caused them.

What is due to a call is looked at when its moment has come; whoever takes it in hand has it for
`hold_ms`, after which it is taken again: an engine that dies delivers late, not never.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class OutboxLimits(Struct, frozen=True):
    """How much may wait, of one account and in one slot, and how many dead letters are kept.

    An account may have one part in so many of what is free, so the less the fuller a slot is: n
    accounts that fill one have of_slot / (parts + n) each, and leave `parts` times as much free.
    Alone one has 10,000, beside four that fail as it does 5,500.
    """

    max_per_slot: int = 50_000
    fair_share_divisor: int = 4
    min_per_account: int = 1_000  # of an account, however full the slot is
    claim_ms: int = 10_000
    max_dead_letters: int = 10_000  # of an account in a slot
    dead_letter_ttl_ms: int = 30 * 86_400_000


class DueCall(Struct, frozen=True):
    """A call that has something due, where that goes, and for how long it has had something."""

    call_id: str
    delivery_key: str
    age_ms: int = 0


class ClaimedBatch(Struct, frozen=True):
    """Calls that were taken in hand; how many events wait in the slot, and the longest of these."""

    calls: tuple[DueCall, ...] = ()
    pending: int = 0
    oldest_ms: int = 0


class PendingEvents(Struct, frozen=True):
    """A call's first events that are due, by number, and how often the first was tried."""

    delivery_key: str = ""
    tries: int = 0
    events: tuple[tuple[int, bytes], ...] = ()


class GivenUp(Struct, frozen=True, array_like=True):
    """An event that was given up."""

    seq: int
    reason: str
    tries: int = 0


class Settlement(Struct, frozen=True, array_like=True):
    """What became of a call's events: delivered, given up, or to be tried again after a while.

    -1 leaves `tries` and the moment of the next look as they are; with `rest`, a reason, all other
    events of the call are given up, too.
    """

    call_id: str
    delivered: tuple[int, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    tries: int = -1
    retry_after_ms: int = -1
    give_up_reason: str = ""


class DeadLetter(Struct, frozen=True):
    """A dead letter; its `entry` begins with the wall-clock milliseconds of its end."""

    entry: str
    call_id: str
    delivery_key: str
    seq: int
    event: bytes
    reason: str
    tries: int


class Outbox(Protocol):
    """What every store offers; each method may raise StoreDown, and may then be called again."""

    async def claim_due(self, slot: int, token: int, ahead_ms: int, limit: int) -> ClaimedBatch:
        """Take in hand what is due now or `ahead_ms` from now; raises Fenced."""
        ...

    async def pending_events(self, slot: int, call_id: str, limit: int) -> PendingEvents:
        """Read a call's first events that are due."""
        ...

    async def settle(self, slot: int, token: int, settlements: Sequence[Settlement]) -> None:
        """Note what became of events; raises Fenced."""
        ...

    async def dead_letters(
        self, slot: int, account: str, after: str, limit: int
    ) -> list[DeadLetter]:
        """Read an account's dead letters in a slot after an entry (empty: from the oldest)."""
        ...

    async def resend(self, slot: int, account: str, entries: Sequence[str], limit: int) -> int:
        """Make dead letters due again, without entries the oldest; returns how many."""
        ...

    async def swap_account(self, account: str, before: bytes | None, after: bytes | None) -> bool:
        """Store an account's configuration (JSON; None: none) in place of the one that was read.

        False when another has been stored since.
        """
        ...

    async def account(self, account: str) -> bytes | None:
        """Read an account's configuration."""
        ...
