"""The queues of one shard's calls."""

from typing import Any

import pytest

from engine.callbacks.settlement_writer import SettlementWriter
from engine.callbacks.shard_delivery_queues import ShardQueues
from tests.harness.callbacks.scene import FakeLease
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD

CALL, TARGET = "3-pbx1-aaaaaaaa", "acme https://example.com"


def queues_after(**fields: Any) -> ShardQueues:
    """Return queues that have released a call's queue, all of whose events are delivered, or not.

    Its next event is the third.
    """
    queues = ShardQueues(SHARD, FakeLease(1), SettlementWriter(MemoryStore().outbox, SHARD, 1))
    earlier = queues.create_queue(CALL, TARGET, 0)
    queues.add(earlier)
    earlier.next_seq = 2
    for name, value in fields.items():
        setattr(earlier, name, value)
    queues.release(earlier)
    assert not queues.contains(earlier)
    return queues


@pytest.mark.parametrize(
    ("first_seq", "is_complete"), [(0, True), (1, False), (2, True), (3, False)]
)
async def test_a_queue_is_complete_without_older_events(first_seq: int, is_complete: bool) -> None:
    """Then its events need not be read from the store; all before the third are delivered."""
    assert queues_after().create_queue(CALL, TARGET, first_seq).is_complete == is_complete


@pytest.mark.parametrize(
    "fields", [{"is_complete": False}, {"events": [(1, b"")]}, {"no_more_events": True}]
)
async def test_what_is_not_known_of_a_released_call(fields: dict[str, Any]) -> None:
    """Others' events may be older than the third; an ended call has none, and is forgotten."""
    assert not queues_after(**fields).create_queue(CALL, TARGET, 2).is_complete


async def test_a_call_that_is_left_to_the_store() -> None:
    """Nothing is known of its next event; another queue than the present one changes nothing."""
    queues = queues_after()
    queues.discard(CALL)
    present, other = (queues.create_queue(CALL, TARGET, 2) for _ in range(2))
    assert not present.is_complete
    queues.add(present)
    queues.discard_queue(other)
    queues.release(other)
    assert queues.contains(present)
    queues.discard_queue(present)
    assert not queues.contains(present)
