"""A call's events in hand: never one before another, whatever is told while they are read."""

from engine.callbacks.call_queue import MAX_BUFFERED_EVENTS, CallQueue

EVENTS = tuple((number, b"%d" % number) for number in range(100))


def test_what_follows_is_here() -> None:
    """A call of which nothing is due is whole, and what is told next stays in memory."""
    line = CallQueue(3, "c", "acme auto-set")
    line.is_complete, line.next_seq = True, 4
    line.add(EVENTS[4:6])
    assert list(line.events) == list(EVENTS[4:6])
    assert line.is_complete


def test_a_gap_is_read() -> None:
    """What does not follow is left to the store, and so is all after it."""
    line = CallQueue(3, "c", "acme auto-set")
    line.is_complete, line.next_seq = True, 4
    line.add(EVENTS[5:7])
    assert not line.events
    assert not line.is_complete


def test_what_is_told_during_a_read() -> None:
    """It may or may not have been read: it is read once more."""
    line = CallQueue(3, "c", "acme auto-set")
    line.has_gap = False
    line.add(EVENTS[2:3])
    line.load(EVENTS[:2])
    assert not line.is_complete
    assert [seq for seq, _ in line.events] == [0, 1]


def test_no_more_than_a_few() -> None:
    """The rest stays in the store."""
    line = CallQueue(3, "c", "acme auto-set")
    line.is_complete, line.next_seq = True, 0
    line.add(EVENTS)
    assert len(line.events) == MAX_BUFFERED_EVENTS
    assert not line.is_complete
    line.load(EVENTS[:MAX_BUFFERED_EVENTS])
    assert not line.is_complete


def test_the_end() -> None:
    """What is told with a call's end is its last."""
    line = CallQueue(3, "c", "acme auto-set")
    line.add(EVENTS[:1], ends=True)
    assert line.no_more_events
