"""The queue of a call: events stay in order, also when some are emitted during a read."""

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


def test_events_emitted_during_a_read() -> None:
    """They may or may not have been read: the store is read once more."""
    call = CallQueue(at(3), "c", "acme auto-set")
    call.has_gap = False
    call.add(EVENTS[2:3])
    call.load(EVENTS[:2])
    assert not call.is_complete
    assert [seq for seq, _ in call.events] == [0, 1]


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
    assert call.no_more_events
