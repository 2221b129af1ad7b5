"""What the lease manager and its parts share."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field

from engine.observe.metrics import Metrics
from engine.runtime.base.node_report import AccountUse, NodeReport
from engine.runtime.cluster.lease import Lease, LeaseTimings
from engine.runtime.cluster.membership import Membership
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.store import Store
from wire.shard import ShardId


class ShardOwner(Protocol):
    """Runs the calls of the shards that this engine holds; see `ownership.ShardLifecycle`."""

    async def take(self, shard: ShardId, lease: Lease) -> None:
        """Load a shard's calls and continue them; raises StoreDown."""

    async def restore(self, shard: ShardId, lease: Lease) -> None:
        """Store a shard's calls again from memory after the store has lost the shard."""

    def required_format(self, shard: ShardId) -> int:
        """Return the format that an engine must know to read all calls of a held shard."""

    def last_commit(self, shard: ShardId) -> int:
        """Return the number of the last batch of changes that the store has acknowledged."""

    def rewrite_lost(self, shard: ShardId) -> None:
        """Store again what the store has lost of a shard's calls; they continue."""

    async def drain(self, shard: ShardId) -> None:
        """Wait, for a limited time, until all changes are stored."""

    def pause(self, shard: ShardId) -> None:
        """Pause a shard whose lease is over, until its owner is known."""

    def resume(self, shard: ShardId) -> None:
        """Continue after a pause."""

    def drop(self, shard: ShardId) -> None:
        """Leave a shard's calls to its next owner."""

    def calls(self, shard: ShardId) -> int:
        """Count a shard's live calls."""

    def calls_by_node(self) -> dict[str, int]:
        """Count the live calls of each node."""

    def account_uses(self) -> dict[str, AccountUse]:
        """Return what the calls of each account use."""

    def node_reports(self) -> dict[str, NodeReport]:
        """Return the health of the nodes whose manager interface this engine watches."""

    def heard_s(self) -> dict[str, int]:
        """Return the nodes whose digits this engine hears, and for how long."""

    def phones_revision(self) -> int:
        """Return the revision of what this engine knows of phones; 0: it knows nothing."""


class ClusterContext(Struct, frozen=True):
    """One engine's view of the shards, which the members share."""

    store: Store
    members: Membership
    host: ShardOwner
    shards: ShardMap
    timings: LeaseTimings
    monotonic: Callable[[], float]
    metrics: Metrics = field(default_factory=Metrics)
    capacity: int = 5_000  # live calls
