"""Changes of calls: their cause, and several that become one."""

import pytest

from engine.store.change import Change, coalesce


def test_a_change_needs_a_cause() -> None:
    """Without a log entry a repetition could not be detected."""
    with pytest.raises(ValueError, match="without a log entry"):
        Change("c1", "pbx1", b"", 0, ())


def test_coalescing_keeps_the_first_number_and_the_last_state() -> None:
    """The merged change has the last state; a single change stays as it is."""
    first, last = (
        Change("c1", "n", b"a", 4, (b"4",)),
        Change("c1", "n", b"b", 5, (b"5",), live=False),
    )
    other = Change("c2", "n", b"x", 0, (b"0",))
    merged = coalesce([first, other, last])
    assert merged == [Change("c1", "n", b"b", 4, (b"4", b"5"), live=False), other]
    assert merged[1] is other


def test_coalescing_keeps_all_callbacks() -> None:
    """The customer gets the events of every merged change, numbered from the first one."""
    to = "acme auto-set"
    changes = [
        Change("c1", "n", b"a", 0, (b"0",), delivery_key=to),
        Change("c1", "n", b"b", 1, (b"1",), delivery_key=to, callbacks=(b"e5",), first_seq=5),
        Change("c1", "n", b"c", 2, (b"2",), delivery_key=to),
        Change("c1", "n", b"d", 3, (b"3",), delivery_key=to, callbacks=(b"e6", b"e7"), first_seq=6),
        Change("c1", "n", b"e", 4, (b"4",), delivery_key=to),
    ]
    (merged,) = coalesce(changes)
    assert merged.callbacks == (b"e5", b"e6", b"e7")
    assert (merged.first_seq, merged.delivery_key) == (5, to)
