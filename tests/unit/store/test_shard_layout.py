"""Which shards there are, which get new calls, and which of them are empty."""

import pytest

from engine.store.shard_layout import ShardLayout, Workload
from wire.shard import ShardId


def test_the_shards_of_a_layout() -> None:
    """Every node has each slot up to the highest; the retired ones get no new calls."""
    layout = ShardLayout(slots=1, highest=2, nodes=("a", "b"))
    shards = [ShardId(node, slot) for node in ("a", "b") for slot in range(2)]
    assert [*layout.shards] == shards
    others = [ShardId("a", 2), ShardId("c", 0)]
    assert [each for each in (*shards, *others) if layout.has(each)] == shards
    assert [layout.is_retired(shard) for shard in shards] == [False, True, False, True]


@pytest.mark.parametrize(
    ("calls", "callbacks", "is_empty"),
    [(0, 0, True), (1, 0, False), (0, 1, False), (1, 1, False)],
)
def test_an_empty_shard(calls: int, callbacks: int, is_empty: bool) -> None:
    """It has neither calls nor events to deliver."""
    assert Workload(calls, callbacks).is_empty == is_empty
