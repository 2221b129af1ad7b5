"""Calls with logs of the largest size: a bot sends marks for as long as it may."""

from engine.calls.model.events import LegEnded
from engine.calls.model.storage_format import encode_log_entry
from engine.calls.model.stream_events import StreamMarkReached
from tests.harness.calls.builders import MAIN, outbound
from tests.harness.calls.streams import conversing, current, end, reach_mark, stream_verb
from tests.harness.recorded_call import RecordedCall, record_call

EACH_MARK_MS = 97


def call_with_marks(marks: int) -> RecordedCall:
    """Return an ended call whose log has so many marks; only the last of them is stepped."""
    story = conversing()
    stream, begin_ms, first = current(story), story.now, len(story.events) + 1
    lines = [
        encode_log_entry(at_ms, StreamMarkReached(stream, f"response-{n}", at_ms, n * 90), ())
        for n, at_ms in enumerate(range(begin_ms, begin_ms + marks * EACH_MARK_MS, EACH_MARK_MS))
    ]
    story.now += marks * EACH_MARK_MS
    reach_mark(story, "the last one", marks * 90)
    end(story, "bot-closed", heard_ms=marks * 90, mark="the last one")
    story.take(LegEnded(stream, 16))
    story.take(LegEnded(MAIN, 16), 10)
    assert story.call.is_ended, story.call.state
    whole = record_call(outbound(stream_verb()), story.events)
    log = (*whole.log[:first], *lines[:-1], *whole.log[first:])
    return RecordedCall(whole.call, log, whole.emitted)
