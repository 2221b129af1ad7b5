"""The layout of shards in both stores."""

from engine.runtime.cluster.shard_map import ShardMap
from engine.store.store import Store


async def test_the_first_number_of_slots_stays(store: Store) -> None:
    """Until it is changed; retired slots are remembered."""
    assert await store.add_nodes(["pbx1"], 4) == 4
    assert await store.add_nodes(["pbx2"], 8) == 4
    await store.set_slots(2)
    layout = await store.shard_layout()
    assert (layout.slots, layout.highest, layout.nodes) == (2, 4, ("pbx1", "pbx2"))


async def test_a_layout_that_was_lost_is_stored_again(store: Store) -> None:
    """Another engine may have stored its own view first; the highest number counts."""
    shards = ShardMap(8)
    await store.add_nodes(["pbx1"], 2, 6)
    await shards.refresh(store, ["pbx2"])
    assert (shards.slots, shards.layout.highest) == (2, 6)
    await store.add_nodes([], 2, 4)
    assert (await store.shard_layout()).highest == 6
