"""The audit of a call: differences are found with their position, and nothing else."""

from collections.abc import Sequence

from msgspec.structs import replace

from engine.calls.model.events import CallOpened, LegEnded
from engine.calls.model.storage_format import StoredCall, decode_log_entry, encode
from engine.calls.replay_audit import (
    ReplayStep,
    compare_decisions,
    compare_events,
    compare_result,
    find_gap,
    replay,
)
from tests.harness.calls.builders import NOW, bridged_call, outbound, say
from tests.harness.recorded_call import RecordedCall, record_call, replace_line
from wire.events.call_events import CallEvent

DIAL = {"type": "dial", "data": {"number": ["+4712345678"]}, "action": say()}


def recorded_dial() -> RecordedCall:
    """Record a complete call with a conversation."""
    story = bridged_call("+4712345678", action=say())
    story.hang_up()
    for leg in story.call.legs:
        story.take(LegEnded(leg.id, 16), 10)
    return record_call(outbound(DIAL), story.events)


def steps(log: Sequence[bytes]) -> list[ReplayStep]:
    """Return the steps of a replayed log."""
    return list(replay(log))


def test_a_call_replays_the_same() -> None:
    """Commands, stored call and events are the same."""
    complete = recorded_dial()
    assert complete.call.is_ended
    found = steps(complete.log)
    assert all(each.digest is not None for each in found)
    assert list(compare_decisions(found)) == []
    assert list(compare_result(found[-1], len(found), complete.record)) == []
    events = compare_events(enumerate(found), complete.emitted)
    assert (events.mismatches, events.trimmed) == ((), 0)


def test_different_commands_are_found_at_their_event() -> None:
    """The line whose commands differ from the original ones is reported."""
    complete = recorded_dial()
    entry = decode_log_entry(complete.log[3])
    forged = replace_line(complete, 3, encode(replace(entry, digest=entry.digest ^ 1)))
    assert [each.step for each in compare_decisions(steps(forged))] == [2]


def test_digests_of_another_form_are_not_compared() -> None:
    """Logs with them can still be read."""
    complete = recorded_dial()
    entry = decode_log_entry(complete.log[1])
    found = steps(replace_line(complete, 1, encode(replace(entry, digest=1, form=99))))
    assert found[0].digest is None
    assert list(compare_decisions(found)) == []


def test_a_different_result_is_found() -> None:
    """The differing fields of the stored call are reported."""
    complete = recorded_dial()
    stored = StoredCall(replace(complete.call, status="failed", cause=41), (), len(complete.log))
    found = steps(complete.log)
    (mismatch,) = compare_result(found[-1], len(found), stored)
    assert mismatch.detail == "the result differs from the stored call: status, cause"
    (missing,) = compare_result(None, 0, stored)
    assert missing.detail == "the call is stored, but its log is missing"


def test_events_are_compared() -> None:
    """A missing, duplicate, differing or unexpected event is reported with its number."""
    complete = recorded_dial()
    found, events = steps(complete.log), list(complete.emitted)
    missing = f"event 2, {events[2].event}, is not on the stream"
    assert _mismatches(found, [*events[:2], *events[3:]]) == [missing]
    assert _mismatches(found, [*events, events[1]]) == ["event 1 is on the stream twice"]
    other = [replace(events[0], to="+4700000000"), *events[1:]]
    assert _mismatches(found, other) == ["event 0 differs from the stream: to"]
    extra = replace(events[-1], sequence_number=len(events))
    unexpected = f"event {len(events)} is on the stream, but not in the log"
    assert _mismatches(found, [*events, extra]) == [unexpected]


def _mismatches(found: list[ReplayStep], events: list[CallEvent]) -> list[str]:
    return [each.detail for each in compare_events(enumerate(found), events).mismatches]


def test_trimmed_events_are_counted() -> None:
    """Events trimmed from the start of the stream are no difference."""
    complete = recorded_dial()
    found = steps(complete.log)
    for kept in (0, 1, len(complete.emitted) - 2):
        events = compare_events(enumerate(found), complete.emitted[len(complete.emitted) - kept :])
        assert (events.mismatches, events.trimmed) == ((), len(complete.emitted) - kept)


def test_a_gap_ends_the_comparison() -> None:
    """Lines before the gap are compared; events after it are ignored."""
    complete = recorded_dial()
    log = replace_line(complete, 4, b"")
    found = steps(log)
    assert (find_gap(log), len(found)) == (4, 3)
    assert list(compare_decisions(found)) == []
    assert compare_events(enumerate(found), complete.emitted, is_complete=False).mismatches == ()
    assert find_gap(complete.log) is None


def test_a_call_that_has_only_started() -> None:
    """One line, one event."""
    started = record_call(outbound(), [(NOW, CallOpened())])
    assert compare_events(enumerate(steps(started.log)), started.emitted).mismatches == ()
    (only,) = steps(started.log)
    assert list(compare_result(only, 1, started.record)) == []
