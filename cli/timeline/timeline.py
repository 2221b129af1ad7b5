"""Builds the ladder diagram of a timeline: rows between lifelines (engine, legs, web); pure."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from cli.timeline import wording
from cli.timeline.commands import command_row
from cli.timeline.events import event_row
from cli.timeline.row import ENGINE, WEB, Kind, Row, TimelineState, mark
from cli.timeline.timers import timer_name
from wire.views import CallView, Timeline, TimelineEntry
from wire.webhook_log import AttemptSummary


class Lifeline(Struct, frozen=True):
    """One column with its heading and the label of its party."""

    id: str
    heading: str
    label: str = ""


class Diagram(Struct, frozen=True):
    lifelines: tuple[Lifeline, ...]
    rows: tuple[Row, ...]


def build_diagram(timeline: Timeline) -> Diagram:
    state = TimelineState(caller=timeline.call.from_)
    for each in timeline.attempts:
        if each.retry_of is None:
            state.attempts.setdefault(each.request_id, []).append(f"{each.id}{_receiver(each)}")
            if each.to_listener:
                state.of_listeners.add(each.request_id)
    rows = tuple(_in_order(_rows(timeline, state), _attempt_rows(timeline)))
    return Diagram(_lifelines(timeline, rows, state.leg_names), rows)


def _rows(timeline: Timeline, state: TimelineState) -> Iterator[Row]:
    call, entries = timeline.call, timeline.moments
    ends = (index for index, each in enumerate(entries) if 0 < call.ended_ms < each.at_ms)
    end = next(ends, len(entries))  # recordings are archived after the end
    for entry in entries[:end]:
        yield from _with_time(entry, state, call)
    if call.ended_ms:
        kind: Kind = "success" if call.status == "completed" else "failure"
        at_ms = call.ended_ms - call.created_ms
        yield Row(f"call ended: {call.status}", shape="mark", kind=kind, at_ms=at_ms)
    for entry in entries[end:]:
        yield from _with_time(entry, state, call)


def _in_order(rows: Iterator[Row], attempts: Iterator[Row]) -> Iterator[Row]:
    """Merge the attempts that have no row of the call into the rows, by time."""
    waiting = next(attempts, None)
    bridged: tuple[str, ...] = ()
    for row in rows:
        while waiting is not None and waiting.at_ms < row.at_ms:
            yield replace(waiting, bridged=bridged)
            waiting = next(attempts, None)
        bridged = row.bridged
        yield row
    while waiting is not None:
        yield waiting
        waiting = next(attempts, None)


def _attempt_rows(timeline: Timeline) -> Iterator[Row]:
    """Yield rows of status callbacks, and of requests that were repeated by hand."""
    for each in sorted(timeline.attempts, key=lambda attempt: attempt.at_ms):
        if each.kind != "callback" and each.retry_of is None:
            continue  # the call has a row of its response
        name = f"callback {each.request_id.rpartition('.')[2]}"
        what = f"retry of {each.retry_of}" if each.retry_of else name
        result = f"{each.reason or each.status or 'delivered'}, {each.took_ms} ms"
        kind: Kind = "failure" if each.reason else "faint"
        at_ms = each.at_ms - timeline.call.created_ms
        yield Row(
            f"{what}: {result} [{each.id}{_receiver(each)}]", shape="mark", kind=kind, at_ms=at_ms
        )


def _receiver(attempt: AttemptSummary) -> str:
    """Return the note on a request that did not reach its address."""
    return " (listener)" if attempt.to_listener else ""


def _with_time(entry: TimelineEntry, state: TimelineState, call: CallView) -> Iterator[Row]:
    for each in _entry_rows(entry, state):
        row = _placed(each, state)
        for lifeline in {row.source, row.target} - {ENGINE, WEB}:
            state.name(lifeline)
        bridged = tuple(map(state.lifeline, state.bridged))
        yield replace(row, at_ms=entry.at_ms - call.created_ms, bridged=bridged)
    state.call_state = entry.state


def _placed(row: Row, state: TimelineState) -> Row:
    """Return the row on the lifelines of its legs."""
    return replace(
        row,
        source=state.lifeline(row.source),
        target=state.lifeline(row.target),
        opens=state.lifeline(row.opens),
        closes=state.lifeline(row.closes),
        joined=tuple(map(state.lifeline, row.joined)),
    )


def _entry_rows(entry: TimelineEntry, state: TimelineState) -> Iterator[Row]:
    state.gather_reason = _gather_reason(entry)
    state.timer = timer_name(entry, state)
    if (row := event_row(entry.event, state)) is not None:
        yield row
    for command in entry.commands:
        if (row := command_row(command, entry.state, state)) is not None:
            yield row
    if _starts_to_gather(entry, state):
        yield mark(f"gather: waiting for {_awaited(entry)}", kind="digit")
    if (entry.started or {}).get("type") == "pause":
        yield mark(wording.action(entry.started), kind="faint")


def _gather_reason(entry: TimelineEntry) -> str:
    """Return the reason of a gather that ended at this entry; empty: none did."""
    events = (each["event"] for each in entry.commands if each["type"] == "emit-event")
    return next((each["reason"] for each in events if each["event"] == "gathered"), "")


def _starts_to_gather(entry: TimelineEntry, state: TimelineState) -> bool:
    """Return whether a gather without a prompt starts here: it has no command."""
    starts = entry.state == "gathering" and state.call_state != "gathering"
    return starts and not any(each["type"] == "fetch-media" for each in entry.commands)


def _awaited(entry: TimelineEntry) -> str:
    """Return what a gather that starts here collects."""
    data = (entry.started or {}).get("data", {})
    return " or ".join(data.get("input", ["digits"]))


def _lifelines(
    timeline: Timeline, rows: tuple[Row, ...], short_names: dict[str, str]
) -> tuple[Lifeline, ...]:
    labels = {row.opens: row.label for row in rows if row.opens not in {"", WEB}}
    webs: dict[str, None] = {row.label: None for row in rows if row.opens == WEB}
    lifelines = [Lifeline(ENGINE, ENGINE, timeline.call.node)]
    lifelines += [
        Lifeline(leg, short_name, labels.get(leg, "")) for leg, short_name in short_names.items()
    ]
    return (*lifelines, *([Lifeline(WEB, WEB, ", ".join(webs))] if webs else []))
