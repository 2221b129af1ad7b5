"""What the lease manager and its parts share."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field

from engine.observe.metrics import Metrics
from engine.runtime.cluster.lease import Lease, LeaseTimings
from engine.runtime.cluster.membership import Membership
from engine.store.store import Store


class SlotHost(Protocol):
    """Runs the calls of the slots that this engine holds; see `ownership.SlotLifecycle`."""

    async def take(self, slot: int, lease: Lease) -> None:
        """Load a slot's calls and continue them; raises StoreDown."""

    async def restore(self, slot: int, lease: Lease) -> None:
        """Store a slot's calls again from memory after the store has lost the slot."""

    def required_format(self, slot: int) -> int:
        """Return the format that an engine must know to read all calls of a held slot."""

    def last_commit(self, slot: int) -> int:
        """Return the number of the last batch of changes that the store has acknowledged."""

    def rewrite_lost(self, slot: int) -> None:
        """Store again what the store has lost of a slot's calls; they continue."""

    async def drain(self, slot: int) -> None:
        """Wait, for a limited time, until all changes are stored."""

    def pause(self, slot: int) -> None:
        """Pause a slot whose lease is over, until its owner is known."""

    def resume(self, slot: int) -> None:
        """Continue after a pause."""

    def drop(self, slot: int) -> None:
        """Leave a slot's calls to its next owner."""

    def calls(self, slot: int) -> int:
        """Count a slot's live calls."""

    def calls_by_node(self) -> dict[str, int]:
        """Count the live calls of each node."""

    def account_loads(self) -> dict[str, tuple[int, int]]:
        """Return the live dialled legs of each account, and for how many milliseconds."""


class ClusterContext(Struct, frozen=True):
    """One engine's view of the slots: `slots` of them are shared by the members."""

    store: Store
    members: Membership
    host: SlotHost
    slots: int
    timings: LeaseTimings
    monotonic: Callable[[], float]
    metrics: Metrics = field(default_factory=Metrics)
