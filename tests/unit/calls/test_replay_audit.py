"""The audit of a call: what differs is found, with its place, and nothing else is."""

from collections.abc import Sequence

from msgspec.structs import replace

from engine.calls.model.codec import LogEntry, StoredCall, decode_log_entry, encode
from engine.calls.model.events import CallOpened, LegEnded
from engine.calls.replay import (
    ReplayStep,
    compare_decisions,
    compare_events,
    compare_result,
    find_gap,
    replay,
)
from tests.harness.recorded_call import Recorded, recorded, with_line
from tests.unit.calls.harness.builders import NOW, outbound, say, talking
from wire.events import CallEvent

DIAL = {"type": "dial", "data": {"number": ["+4712345678"]}, "action": say()}


def talked() -> Recorded:
    """Record a conversation from its beginning to its end."""
    story = talking("+4712345678", action=say())
    story.hang_up()
    for leg in story.call.legs:
        story.take(LegEnded(leg.id, 16), 10)
    return recorded(outbound(DIAL), story.events)


def moments(log: Sequence[bytes]) -> list[ReplayStep]:
    """Run a log."""
    return list(replay(log))


def test_a_call_replays_the_same() -> None:
    """Decisions, record and what was told."""
    whole = talked()
    assert whole.call.is_ended
    found = moments(whole.log)
    assert all(moment.digest is not None for moment in found)
    assert list(compare_decisions(found)) == []
    assert list(compare_result(found, whole.record)) == []
    told = compare_events(found, whole.told)
    assert (told.mismatches, told.trimmed) == ((), 0)


def test_another_decision_is_found_at_its_event() -> None:
    """The line whose commands are no longer those that were decided."""
    whole = talked()
    entry = decode_log_entry(whole.log[3])
    forged = with_line(whole, 3, encode(replace(entry, digest=entry.digest ^ 1)))
    assert [fault.step for fault in compare_decisions(moments(forged))] == [2]


def test_lines_without_a_digest_are_not_compared() -> None:
    """Logs that are older than digests, or have them of another form, are read all the same."""
    whole = talked()
    entry = decode_log_entry(whole.log[1])
    old = encode([entry.now, entry.event])
    assert decode_log_entry(old) == LogEntry(entry.now, entry.event)
    for line in (old, encode(replace(entry, digest=1, form=99))):
        found = moments(with_line(whole, 1, line))
        assert found[0].digest is None
        assert list(compare_decisions(found)) == []


def test_another_end_is_found() -> None:
    """It is told in what the stored call is another one."""
    whole = talked()
    stored = StoredCall(replace(whole.call, status="failed", cause=41), (), len(whole.log))
    (fault,) = compare_result(moments(whole.log), stored)
    assert fault.detail == "leads to another call than is stored: status, cause"
    (gone,) = compare_result([], stored)
    assert gone.detail == "the log is gone, and the record is there"


def test_what_was_told_is_compared() -> None:
    """Missing, twice, otherwise, or of no line: each by its number."""
    whole = talked()
    found, told = moments(whole.log), list(whole.told)
    missing = f"event 2, {told[2].event}, is not on the stream"
    assert _faults(found, [*told[:2], *told[3:]]) == [missing]
    assert _faults(found, [*told, told[1]]) == ["event 1 is on the stream twice"]
    other = [replace(told[0], to="+4700000000"), *told[1:]]
    assert _faults(found, other) == ["event 0 was told otherwise: to"]
    more = replace(told[-1], sequence_number=len(told))
    assert _faults(found, [*told, more]) == [f"event {len(told)} was told, and is not in the log"]


def _faults(found: list[ReplayStep], told: list[CallEvent]) -> list[str]:
    return [fault.detail for fault in compare_events(found, told).mismatches]


def test_what_is_no_longer_on_the_stream_is_counted() -> None:
    """The stream is cut off at its old end: that is no difference."""
    whole = talked()
    found = moments(whole.log)
    for kept in (0, 1, len(whole.told) - 2):
        told = compare_events(found, whole.told[len(whole.told) - kept :])
        assert (told.mismatches, told.trimmed) == ((), len(whole.told) - kept)


def test_a_hole_ends_what_can_be_compared() -> None:
    """What came before it is; what was told after it is left alone."""
    whole = talked()
    log = with_line(whole, 4, b"")
    found = moments(log)
    assert (find_gap(log), len(found)) == (4, 3)
    assert list(compare_decisions(found)) == []
    assert compare_events(found, whole.told, is_whole=False).mismatches == ()
    assert find_gap(whole.log) is None


def test_a_call_that_has_only_begun() -> None:
    """One line, one event."""
    begun = recorded(outbound(), [(NOW, CallOpened())])
    assert compare_events(moments(begun.log), begun.told).mismatches == ()
    assert list(compare_result(moments(begun.log), begun.record)) == []
