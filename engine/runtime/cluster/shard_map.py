"""Which shards exist, as the store says: read at the start and with every heartbeat."""

from collections.abc import Collection

from engine.store.shard_layout import ShardLayout, SlotsMismatch
from engine.store.store import Store
from wire.shard import ShardId


class ShardMap:
    """The layout of shards as last read; `slots` per node is stored if the store has no number."""

    def __init__(self, slots: int, nodes: Collection[str] = ()) -> None:
        self.layout = ShardLayout(slots, slots, tuple(sorted(nodes)))  # until it is read
        self._stored = ShardLayout()  # as last read
        self._slots = slots

    @property
    def slots(self) -> int:
        """The number of slots of each node that get new calls."""
        return self.layout.slots

    @property
    def all(self) -> tuple[ShardId, ...]:
        """All shards that may have data, in order."""
        return self.layout.shards

    def has(self, shard: ShardId) -> bool:
        return self.layout.has(shard)

    async def check(self, store: Store) -> None:
        """Raise SlotsMismatch when the store has another number, StoreDown."""
        await self.refresh(store, ())
        if self.layout.slots != self._slots:
            raise SlotsMismatch(self._slots, self.layout.slots)

    async def refresh(self, store: Store, nodes: Collection[str]) -> None:
        """Read the layout again, and add nodes that it lacks; raises StoreDown.

        Nodes and retired slots that it had before are added, too: a store that has lost data would
        hide the shards of live calls.
        """
        layout, before = await store.shard_layout(), self._stored
        missing = sorted({*nodes, *before.nodes}.difference(layout.nodes))
        if missing or not layout.slots or layout.highest < before.highest:
            await store.add_nodes(missing, self.slots, before.highest)
            layout = await store.shard_layout()
        self.layout = self._stored = layout
