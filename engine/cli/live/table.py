"""The live calls as a board that events keep up to date: filled once, then told; no clock."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import Struct
from rich.console import Group
from rich.table import Table

from engine.cli.timeline import wording
from wire.events import CallEvent
from wire.views import CallView

_STAGES = ("queued", "initiated", "ringing", "in-progress")  # of a live call, in their order
_OF_CALL = {"initiated", "ringing", "answered"}


class CallLine(Struct, frozen=True):
    """One live call."""

    call_id: str
    from_: str
    to: str
    status: str
    last_event: str
    since_ms: int


@dataclass(slots=True)
class CallTable:
    """The live calls by id, and how those ended that were seen to end."""

    calls: dict[str, CallLine] = field(default_factory=dict)
    ended: Counter[str] = field(default_factory=Counter)
    note: str = ""  # why nothing moves

    def fill(self, views: Iterable[CallView]) -> None:
        """Begin anew with the calls that an engine lists."""
        self.calls = {
            each.call_id: CallLine(
                each.call_id, each.from_, each.to, each.status, each.state, each.created_ms
            )
            for each in views
        }

    def apply(self, event: CallEvent) -> None:
        """Follow an event; one that an engine's list was ahead of takes nothing back."""
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


def render(board: CallTable, now_ms: float) -> Group:
    """Draw it: how many calls are in which state, then each, the oldest first."""
    table = Table("call", "from", "to", "status", "last event", "age", box=None, pad_edge=False)
    table.columns[0].no_wrap = True  # to be copied
    for line in sorted(board.calls.values(), key=lambda each: each.since_ms):
        age = wording.seconds(now_ms - line.since_ms)
        table.add_row(line.call_id, line.from_, line.to, line.status, line.last_event, age)
    return Group(summary(board), *([board.note] if board.note else []), table)


def summary(board: CallTable) -> str:
    """Tell how many calls are in which state."""
    live = Counter(line.status for line in board.calls.values())
    now = ", ".join(f"{live[each]} {each}" for each in _STAGES if live[each])
    ended = ", ".join(f"{count} {status}" for status, count in board.ended.most_common())
    told = f"{len(board.calls)} live" + (f": {now}" if now else "")
    return f"{told}; ended meanwhile: {ended}" if ended else told
