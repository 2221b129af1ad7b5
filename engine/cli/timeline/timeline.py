"""A call's story as rows between lanes (engine, legs, web), made from its timeline; pure."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from engine.cli.timeline.commands import command_row
from engine.cli.timeline.events import event_row
from engine.cli.timeline.row import ENGINE, WEB, Kind, Row, TimelineState
from wire.views import CallView, Timeline, TimelineEntry


class Lane(Struct, frozen=True):
    """One column: the word that heads it, and who that is."""

    id: str
    heading: str
    label: str = ""


class Diagram(Struct, frozen=True):
    """All of it, in order."""

    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]


def build_diagram(timeline: Timeline) -> Diagram:
    """Make the story of a timeline."""
    seen = TimelineState(caller=timeline.call.from_)
    rows = tuple(_rows(timeline, seen))
    return Diagram(_lanes(timeline, rows, seen.leg_letters), rows)


def _rows(timeline: Timeline, seen: TimelineState) -> Iterator[Row]:
    call, moments = timeline.call, timeline.moments
    ends = (place for place, each in enumerate(moments) if 0 < call.ended_ms < each.at_ms)
    end = next(ends, len(moments))  # recordings are filed after it
    for moment in moments[:end]:
        yield from _timed(moment, seen, call)
    if call.ended_ms:
        kind: Kind = "good" if call.status == "completed" else "bad"
        at_ms = call.ended_ms - call.created_ms
        yield Row(f"the call is over: {call.status}", shape="mark", kind=kind, at_ms=at_ms)
    for moment in moments[end:]:
        yield from _timed(moment, seen, call)


def _timed(moment: TimelineEntry, seen: TimelineState, call: CallView) -> Iterator[Row]:
    for row in _of(moment, seen):
        for lane in {row.source, row.target} - {ENGINE, WEB}:
            seen.name(lane)
        yield replace(row, at_ms=moment.at_ms - call.created_ms, bridged=seen.bridged)
    seen.state = moment.state


def _of(moment: TimelineEntry, seen: TimelineState) -> Iterator[Row]:
    if (row := event_row(moment.event, seen)) is not None:
        yield row
    for command in moment.commands:
        if (row := command_row(command, moment.state, seen)) is not None:
            yield row
    if _listens(moment, seen):
        yield Row("gather: listens for digits", shape="mark", kind="digit")


def _listens(moment: TimelineEntry, seen: TimelineState) -> bool:
    """Tell whether a gather without a prompt begins here: no command says so."""
    begins = moment.state == "gathering" and seen.state != "gathering"
    return begins and not any(each["type"] == "fetch-media" for each in moment.commands)


def _lanes(timeline: Timeline, rows: tuple[Row, ...], letters: dict[str, str]) -> tuple[Lane, ...]:
    who = {row.opens: row.label for row in rows if row.opens not in {"", WEB}}
    webs: dict[str, None] = {row.label: None for row in rows if row.opens == WEB}
    lanes = [Lane(ENGINE, ENGINE, timeline.call.node)]
    lanes += [Lane(leg, letter, who.get(leg, "")) for leg, letter in letters.items()]
    return (*lanes, *([Lane(WEB, WEB, ", ".join(webs))] if webs else []))
