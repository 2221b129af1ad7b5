"""A call's events in hand: never one before another, whatever is told while they are read."""

from engine.callbacks.call_queue import MOST_EVENTS, Line

EVENTS = tuple((number, b"%d" % number) for number in range(100))


def test_what_follows_is_here() -> None:
    """A call of which nothing is due is whole, and what is told next stays in memory."""
    line = Line(3, "c", "acme auto-set")
    line.is_whole, line.next = True, 4
    line.add(EVENTS[4:6])
    assert list(line.events) == list(EVENTS[4:6])
    assert line.is_whole


def test_a_gap_is_read() -> None:
    """What does not follow is left to the store, and so is all after it."""
    line = Line(3, "c", "acme auto-set")
    line.is_whole, line.next = True, 4
    line.add(EVENTS[5:7])
    assert not line.events
    assert not line.is_whole


def test_what_is_told_during_a_read() -> None:
    """It may or may not have been read: it is read once more."""
    line = Line(3, "c", "acme auto-set")
    line.missed = False
    line.add(EVENTS[2:3])
    line.loaded(EVENTS[:2])
    assert not line.is_whole
    assert [seq for seq, _ in line.events] == [0, 1]


def test_no_more_than_a_few() -> None:
    """The rest stays in the store."""
    line = Line(3, "c", "acme auto-set")
    line.is_whole, line.next = True, 0
    line.add(EVENTS)
    assert len(line.events) == MOST_EVENTS
    assert not line.is_whole
    line.loaded(EVENTS[:MOST_EVENTS])
    assert not line.is_whole


def test_the_end() -> None:
    """What is told with a call's end is its last."""
    line = Line(3, "c", "acme auto-set")
    line.add(EVENTS[:1], ends=True)
    assert line.ends
