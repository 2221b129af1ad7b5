"""The table of live calls: filled from a list, then updated by events; no clock."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import Struct
from rich.console import Group
from rich.table import Table

from cli.timeline import wording
from wire.events.call_events import CallEvent
from wire.views import CallView

_STAGES = ("queued", "initiated", "ringing", "in-progress")  # of a live call, in order
_OF_CALL = {"initiated", "ringing", "answered"}


class CallLine(Struct, frozen=True):
    call_id: str
    from_: str
    to: str
    status: str
    last_event: str
    since_ms: int


@dataclass(slots=True)
class CallTable:
    """The live calls by id, and the count of ended calls by status."""

    calls: dict[str, CallLine] = field(default_factory=dict)
    ended: Counter[str] = field(default_factory=Counter)
    note: str = ""  # why the table is not updated

    def fill(self, views: Iterable[CallView]) -> None:
        """Replace all calls with those that an engine lists."""
        self.calls = {
            each.call_id: CallLine(
                each.call_id, each.from_, each.to, each.status, each.state, each.created_ms
            )
            for each in views
        }

    def apply(self, event: CallEvent) -> None:
        """Apply an event; one older than the list does not set a status back."""
        before = self.calls.get(event.call_id)
        if event.event == "completed":
            self.calls.pop(event.call_id, None)
            self.ended[event.call_status] += 1
        elif before is not None or event.event == "initiated":
            status = event.call_status
            if before is not None and _stage(status) < _stage(before.status):
                status = before.status
            since_ms = before.since_ms if before else event.timestamp
            self.calls[event.call_id] = CallLine(
                event.call_id, event.from_, event.to, status, _last_event(event), since_ms
            )


def _stage(status: str) -> int:
    return _STAGES.index(status) if status in _STAGES else len(_STAGES)


def _last_event(event: CallEvent) -> str:
    if event.event in _OF_CALL:
        return ""
    return " ".join(filter(None, (event.event, event.session_state, event.dtmf)))


def render(calls: CallTable, now_ms: float) -> Group:
    """Render the number of calls by status, then each call, the oldest first."""
    table = Table("call", "from", "to", "status", "last event", "age", box=None, pad_edge=False)
    table.columns[0].no_wrap = True  # so that ids can be copied
    for line in sorted(calls.calls.values(), key=lambda each: each.since_ms):
        age = wording.seconds(now_ms - line.since_ms)
        table.add_row(line.call_id, line.from_, line.to, line.status, line.last_event, age)
    return Group(summary(calls), *([calls.note] if calls.note else []), table)


def summary(calls: CallTable) -> str:
    """Return the number of calls by status."""
    live = Counter(line.status for line in calls.calls.values())
    now = ", ".join(f"{live[each]} {each}" for each in _STAGES if live[each])
    ended = ", ".join(f"{count} {status}" for status, count in calls.ended.most_common())
    text = f"{len(calls.calls)} live" + (f": {now}" if now else "")
    return f"{text}; ended since start: {ended}" if ended else text
