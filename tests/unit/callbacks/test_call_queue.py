"""The queue of a call: events stay in order, also when some are emitted during a read."""

import pytest

from engine.callbacks.call_queue import MAX_BUFFERED_EVENTS, CallQueue
from tests.harness.shards import at

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
