"""Which recordings of an ended call are lost, or shorter than what they should have recorded.

A PBX whose disk is full cuts files without an error (docs/recordings.md).
"""

from collections.abc import Iterator
from typing import Literal

from engine.calls.model.call import Call

RecordingFailure = Literal["lost", "cut"]
MIN_MISSING_MS = 5_000  # a shorter time may be missing when a call begins or ends
MIN_SHARE = 0.5  # the time in which neither side sends is missing, too


def failed_recordings(call: Call) -> Iterator[RecordingFailure]:
    """Yield how each recording of an ended call failed."""
    for _ in {each.archive_request for each in call.recordings if each.state == "lost"}:
        yield "lost"
    if _is_cut(call):
        yield "cut"


def _is_cut(call: Call) -> bool:
    """Return whether the call's recording lacks most of its time.

    Of one that was stopped or paused, it is not known how long it should be.
    """
    parts = [each for each in call.recordings if each.purpose == "call"]
    if not parts or not call.recording_enabled or call.recording_paused:
        return False
    first, last = parts[0], parts[-1]
    ends_ms = [each.ended_ms for each in call.ended_legs if each.leg.id == last.leg]
    if last.state != "archived" or last.muted or not ends_ms:
        return False
    expected_ms = ends_ms[-1] - first.started_ms
    is_shorter = expected_ms - last.duration_ms >= MIN_MISSING_MS
    return is_shorter and last.duration_ms < expected_ms * MIN_SHARE
