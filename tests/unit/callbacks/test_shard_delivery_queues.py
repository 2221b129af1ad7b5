"""The queues of one shard's calls."""

import pytest

from engine.callbacks.settlement_writer import SettlementWriter
from engine.callbacks.shard_delivery_queues import ShardQueues
from tests.harness.callbacks.scene import FakeLease
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD

CALL, TARGET = "3-pbx1-aaaaaaaa", "acme https://example.com"


@pytest.mark.parametrize(
    ("first_seq", "is_complete"), [(0, True), (1, False), (2, True), (3, False)]
)
async def test_a_queue_is_complete_without_older_events(first_seq: int, is_complete: bool) -> None:
    """Then its events need not be read from the store; all before the third are delivered."""
    queues = ShardQueues(SHARD, FakeLease(1), SettlementWriter(MemoryStore().outbox, SHARD, 1))
    earlier = queues.create_queue(CALL, TARGET, 0)
    queues.add(earlier)
    earlier.next_seq = 2
    queues.release(earlier)
    queue = queues.create_queue(CALL, TARGET, first_seq)
    assert queue.is_complete == is_complete
