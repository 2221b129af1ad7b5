"""Checks of a call record: times of the call and of its legs, and the listed legs and streams."""

from collections.abc import Iterator, Sequence

from engine.calls.reporting.ended_legs import MAX_HISTORY
from wire.events.call_events import CallEvent
from wire.events.record import CallRecord, LegRecord


def record_faults(events: Sequence[CallEvent]) -> Iterator[str]:
    """Yield the faults in the record of an ended call, given all events of that call.

    Sums may differ where the call ran on engines with different clocks.
    """
    records = [event.record for event in events if event.record is not None]
    if len(records) != 1:
        yield f"{len(records)} records of one call"
        return
    record, last = records[0], events[-1]
    if last.record is not record or last.event != "completed":
        yield "the record does not come with the last event"
    if (record.call_id, record.status) != (last.call_id, last.call_status):
        yield "the record is of another call"
    yield from _of_call(record)
    for leg in record.legs:
        yield from _of_leg(record, leg)
    yield from _legs(record, events)
    yield from _streams(record, events)


def _of_call(record: CallRecord) -> Iterator[str]:
    parts = record.ring_ms, record.talk_ms, record.hold_ms, record.wait_ms
    if min(parts) < 0 or sum(parts) != record.ended_ms - record.created_ms:
        yield f"rang, talked, held, waited {parts} of {record.ended_ms - record.created_ms}"
    if not record.answered_ms and any(parts[1:]):
        yield "talked without an answer"
    if record.talk_ms and sum(leg.talk_ms > 0 for leg in record.legs) < 2 - record.legs_omitted:
        yield "talked without two legs that did"


def _of_leg(record: CallRecord, leg: LegRecord) -> Iterator[str]:
    parts = leg.ring_ms, leg.talk_ms, leg.hold_ms, leg.wait_ms
    if min(parts) < 0 or sum(parts) != leg.ended_ms - leg.requested_ms:
        yield f"leg {leg.channel_id}: {parts} of {leg.ended_ms - leg.requested_ms}"
    if not record.created_ms <= leg.requested_ms <= leg.ended_ms <= record.ended_ms:
        yield f"leg {leg.channel_id} outlived its call"
    # Not of a call that still rings, when a called party holds while it is screened.
    was_answered = 0 < record.answered_ms <= leg.answered_ms
    if leg.hold_ms > record.hold_ms and was_answered:
        yield f"leg {leg.channel_id} was on hold for longer than its call"
    if (leg.status == "completed") != bool(leg.answered_ms):
        yield f"leg {leg.channel_id} is {leg.status}, answered at {leg.answered_ms}"
    if not leg.ended_by:
        yield f"leg {leg.channel_id} was ended, and not by a known party"


def _legs(record: CallRecord, events: Sequence[CallEvent]) -> Iterator[str]:
    if record.legs_omitted:
        return
    listed = [leg.channel_id for leg in record.legs]
    ended = [each.channel_id for each in events if each.event == "leg-completed"]
    if len(set(listed)) != len(listed) or not set(ended) <= set(listed):
        yield f"lists {listed}, of {ended}"


def _streams(record: CallRecord, events: Sequence[CallEvent]) -> Iterator[str]:
    for stream in record.streams:
        if not record.created_ms <= stream.started_ms <= stream.ended_ms <= record.ended_ms:
            yield f"stream {stream.stream_id} outlived its call"
    steps = [each for each in events if each.event == "stream"]
    started = [each for each in steps if each.session_state == "started"]
    if len(record.streams) != min(len(started), MAX_HISTORY):
        yield f"lists {len(record.streams)} streams, of {len(started)}"
    ended = {each.session_id for each in steps if each.session_state == "ended"} - {None}
    listed = {stream.stream_id for stream in record.streams}
    if len(started) <= MAX_HISTORY and not ended <= listed:
        yield f"lists the streams {listed}, of {ended}"
