"""Timelines that are made of moments, which a test chooses."""

from collections.abc import Iterable, Sequence
from heapq import merge

from base.timeline.rows import Reader, TimelineRows
from base.timeline.state import TimelineState
from base.timeline.timers import Moment
from wire.views import CallView, Timeline, TimelineRow
from wire.webhook_log import AttemptSummary


def timeline_of(
    call: CallView,
    moments: Iterable[Moment],
    attempts: Sequence[AttemptSummary] = (),
    reader: Reader = "operator",
) -> Timeline:
    """Return the timeline of a call; one that has ended has the row of its end."""
    rows = TimelineRows(TimelineState(call.from_, call.main_channel_id), reader)
    found, is_ended = list[TimelineRow](), False
    for each in moments:
        if 0 < call.ended_ms < each.at_ms and not is_ended:
            found += rows.of_end(call.status, call.reason, call.ended_ms)
            is_ended = True
        found += rows.of_moment(each)
    if call.ended_ms and not is_ended:
        found += rows.of_end(call.status, call.reason, call.ended_ms)
    shown = tuple(merge(found, rows.of_attempts(attempts), key=lambda row: row.at_ms))
    return Timeline(call, rows.lifelines(), shown, tuple(attempts))
