"""The queues of one shard's calls."""

from typing import Any

import pytest

from engine.callbacks.settlement_writer import SettlementWriter
from engine.callbacks.shard_queues import MAX_BUFFERED_EVENTS, CallQueue, ShardQueues
from tests.harness.callbacks.scene import FakeLease
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD, at

CALL, TARGET = "3-pbx1-aaaaaaaa", "acme https://example.com"


def queues_after(**fields: Any) -> ShardQueues:
    """Return queues that have released a call's queue, all of whose events are delivered, or not.

    Its next event is the third.
    """
    queues = ShardQueues(
        SHARD, FakeLease(1), SettlementWriter(MemoryStore().callback_queue, SHARD, 1)
    )
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


EVENTS = tuple((number, b"%d" % number) for number in range(100))


def test_consecutive_events_are_buffered() -> None:
    """The queue of a call without undelivered events is complete and buffers the next ones."""
    call = CallQueue(at(3), "c", "acme auto-set")
    call.is_complete, call.next_seq = True, 4
    call.add(EVENTS[4:6])
    assert list(call.events) == list(EVENTS[4:6])
    assert call.is_complete


def test_the_first_event_of_a_call_is_buffered() -> None:
    """Whatever its number is: none was delivered before it."""
    call = CallQueue(at(3), "c", "acme auto-set")
    call.is_complete = True
    call.add(EVENTS[7:9])
    assert list(call.events) == list(EVENTS[7:9])
    assert call.is_complete


def test_a_gap_is_read_from_the_store() -> None:
    """An event after a gap stays in the store, and so do all later ones."""
    call = CallQueue(at(3), "c", "acme auto-set")
    call.is_complete, call.next_seq = True, 4
    call.add(EVENTS[5:7])
    assert not call.events
    assert not call.is_complete
    call.has_gap = False
    call.load(EVENTS[4:7])
    call.add((EVENTS[7], EVENTS[9]))
    assert list(call.events) == list(EVENTS[4:8])


def test_events_emitted_during_a_read() -> None:
    """They may or may not have been read: the store is read once more."""
    call = CallQueue(at(3), "c", "acme auto-set")
    call.has_gap = False
    call.add(EVENTS[2:3])
    call.load(EVENTS[:2])
    assert not call.is_complete
    assert [seq for seq, _ in call.events] == [0, 1]


@pytest.mark.parametrize(
    ("count", "is_complete"),
    [(0, True), (MAX_BUFFERED_EVENTS - 1, True), (MAX_BUFFERED_EVENTS, False)],
)
def test_events_are_read_from_the_store(count: int, is_complete: bool) -> None:
    """If the store has no more of them, the next one is buffered; the one after a gap is not."""
    call = CallQueue(at(3), "c", "acme auto-set")
    call.load(EVENTS[:count])
    assert (call.is_complete, call.head) == (is_complete, EVENTS[0] if count else None)
    call.add(EVENTS[count : count + 1])
    call.add(EVENTS[count + 2 : count + 3])
    assert list(call.events) == list(EVENTS[: count + is_complete])
    assert not call.is_complete


def test_the_buffer_is_limited() -> None:
    """Further events stay in the store."""
    call = CallQueue(at(3), "c", "acme auto-set")
    call.is_complete, call.next_seq = True, 0
    call.add(EVENTS)
    assert len(call.events) == MAX_BUFFERED_EVENTS
    assert not call.is_complete
    call.load(EVENTS[:MAX_BUFFERED_EVENTS])
    assert not call.is_complete


def test_the_last_event() -> None:
    """No event follows the one emitted when the call ends."""
    call = CallQueue(at(3), "c", "acme auto-set")
    call.add(EVENTS[:1], no_more_events=True)
    call.add(EVENTS[1:2])
    assert call.no_more_events
