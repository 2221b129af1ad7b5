"""What was told, as a store keeps it: one stream a slot, read on from an id or by a named group.

A group is everybody who does one thing with events, whatever processes it has. Each event goes to
one consumer of a group, and again to another until one of them has acknowledged it. The stream is
not shortened beyond what a group has yet to acknowledge, until it has reached its ceiling.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

START = "0-0"  # before the oldest entry
EntryIds = Mapping[int, Sequence[str]]  # of entries, by slot


class StreamEntry(Struct, frozen=True):
    """One event on the stream of a slot; `again`: it was delivered before, and not acknowledged."""

    slot: int
    id: str
    event: bytes
    redelivered: bool = False


class Gap(Struct, frozen=True):
    """What a group has lost, since the stream had reached its ceiling.

    Entries from `first` on, up to and without `end`; `most`: no more than so many were lost.
    """

    slot: int
    first: str
    end: str
    max_lost: int


class Batch(Struct, frozen=True):
    """What a consumer gets, to be acknowledged."""

    entries: tuple[StreamEntry, ...] = ()
    gaps: tuple[Gap, ...] = ()


class GroupState(Struct, frozen=True):
    """How a group stands in one slot: entries not delivered yet, delivered and not acknowledged."""

    group: str
    slot: int
    lag: int
    pending: int
    lost: int  # at most, and not acknowledged


class StreamLimits(Struct, frozen=True, array_like=True):
    """How long a slot's stream is: about `length` entries, but no more than about `ceiling`."""

    target_length: int = 100_000
    max_length: int = 400_000


class Consumer(Struct, frozen=True):
    """Who reads for a group; what another has kept for `idle_ms` without a word goes to it, too."""

    group: str
    consumer: str
    idle_ms: int = 30_000


class Stream(Protocol):
    """The streams of all slots; every method may raise StoreDown."""

    async def read_after(
        self, after: Mapping[int, str], wait_ms: int = 0, limit: int = 1000
    ) -> list[tuple[int, str, bytes]]:
        """Read what was told after an entry of each slot (START: from the oldest kept).

        Waits up to `wait_ms` for the first; returns slot, entry id and event, in order within a
        slot. Go on from the last id of each slot.
        """
        ...

    async def newest_ids(self, slots: Sequence[int]) -> dict[int, str]:
        """Find the entry ids after which `after` reads only what is told from now on."""
        ...

    async def oldest_ids(self, slots: Sequence[int]) -> dict[int, str]:
        """Find the oldest entry that each slot has; a slot without any is left out."""
        ...

    async def read_before(self, slot: int, before: str, limit: int) -> list[tuple[str, bytes]]:
        """Read what was told before an entry of a slot, the latest first; `+`: from the end."""
        ...

    async def read_group(
        self, reader: Consumer, slots: Sequence[int], wait_ms: int, limit: int
    ) -> Batch:
        """Read for a group, which begins at the oldest entry kept when it is not known yet.

        First what is due to be delivered again, and gaps; else waits up to `wait_ms` for the first.
        """
        ...

    async def acknowledge(self, group: str, entries: EntryIds, gaps: Mapping[int, str]) -> int:
        """Note what a group is done with: entries, and gaps by their `end`. Returns how many."""
        ...

    async def group_states(self, slots: Sequence[int]) -> list[GroupState]:
        """Tell how every group stands in each slot."""
        ...

    async def drop_group(self, group: str, slots: Sequence[int]) -> bool:
        """Forget a group; False when it was not known."""
        ...


def entry_order(entry: str) -> tuple[int, int]:
    """Give an entry id as it is ordered."""
    at_ms, _, number = entry.partition("-")
    return int(at_ms), int(number or 0)
