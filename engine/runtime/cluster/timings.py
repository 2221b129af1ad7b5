"""What a keeper of slots works with: its rhythm, and what is done with slots that come and go."""

from typing import Protocol

from msgspec import Struct

from engine.runtime.cluster.lease import Lease


class Rhythm(Struct, frozen=True):
    """Seconds: how long a lease lasts, how early it counts as over, how often it is renewed."""

    lease_s: float = 2.0
    early_s: float = 0.25
    beat_s: float = 0.5

    @property
    def lease_ms(self) -> int:
        """How long a lease lasts."""
        return int(self.lease_s * 1000)

    @property
    def ours_s(self) -> float:
        """How long a lease counts as ours."""
        return self.lease_s - self.early_s


class Slots(Protocol):
    """What is done with slots that come and go; `slots.OwnSlots` is the real one."""

    async def take(self, slot: int, lease: Lease) -> None:
        """Go on with a slot's calls; raises StoreDown."""

    async def store_again(self, slot: int, lease: Lease) -> None:
        """Store a slot's calls, which the store has lost, from memory."""

    def number(self, slot: int) -> int:
        """Give the number of the last batch of a slot's changes that the store has answered."""

    def write_again(self, slot: int) -> None:
        """Store anew what the store has lost of a slot's calls; they go on."""

    async def settled(self, slot: int) -> None:
        """Wait, not for long, until what was decided is stored."""

    def pause(self, slot: int) -> None:
        """Stand still: the lease has run out, and it is not known yet whose the slot is."""

    def go_on(self, slot: int) -> None:
        """Go on after a pause."""

    def drop(self, slot: int) -> None:
        """Leave a slot's calls to its next owner."""

    def calls(self, slot: int) -> int:
        """Count a slot's live calls."""

    def calls_by_node(self) -> dict[str, int]:
        """Count the live calls of each node."""
