"""Recorded calls are recorded throughout; each recording is archived once and leaves the PBX."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from engine.calls.model.call import Call
from engine.calls.model.events import RecordingsArchived
from engine.calls.model.recording import parse_recording_name
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import Interval, heard, intersect, is_long, merge, subtract
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every recording file, and every recorded call."""
    yield from ((name, "is left on the PBX") for name in world.pbx.files)
    archived = Counter(name for names in world.archive.values() for name in names)
    for name in world.pbx.all_files:
        if archived[name] != 1:
            yield name, f"was archived {archived[name]} times"
    stored: defaultdict[str, set[str]] = defaultdict(set)  # addresses by call
    for path, names in world.archive.items():
        named = parse_recording_name(names[0])
        stored[named.call if named else ""].add(path)
    for history in histories:
        announced = _announced(world, history, stored[history.record.call.id])
        for message in (*announced, *_coverage(world, history)):
            yield history.id, message


def _announced(world: WorldView, history: CallHistory, stored: set[str]) -> Iterator[str]:
    call = history.record.call
    urls = {each.recording_url for each in history.events if each.event == "completed"} - {None}
    paths = {url.partition("//")[2] for url in urls if url}
    if stored and not paths:
        yield "was recorded, but its completed event has no URL"
    last_ms = history.steps[-1].at_ms if history.steps else call.ended_ms
    # At the end it is unknown whether an unavailable archive will get it.
    faults = [m.event.fault for m in history.steps if isinstance(m.event, RecordingsArchived)]
    is_in_doubt = any(faults) or world.faults.is_disturbed(call.created_ms, last_ms)
    if paths - stored and not is_in_doubt:
        yield f"announces {paths - stored}, which is not archived"


def _coverage(world: WorldView, history: CallHistory) -> Iterator[str]:
    if not world.pbx.all_files and not any(
        call.recording_enabled for *_, call in history.intervals
    ):
        return
    legs = {call.main for _, _, call in history.intervals}
    for leg in sorted(legs):
        channel = world.pbx.past.get(leg)
        if channel is None:
            continue
        lifetimes = [
            (channel.up_ms or channel.ended_ms or 0, channel.ended_ms or world.clock.at_ms)
        ]
        wanted = list(intersect(merge(_spans(history, leg, is_paused=False)), lifetimes))
        silent = list(intersect(merge(_spans(history, leg, is_paused=True)), lifetimes))
        runs, mutes = (
            heard(world, channel, ["recording"]),
            heard(world, channel, ["recording mute"]),
        )
        yield from _long(world, subtract(wanted, runs), f"{leg} is not recorded")
        yield from _long(world, subtract(runs, wanted + silent), f"{leg} is recorded")
        yield from _long(world, intersect(wanted, mutes), f"{leg} is recorded in silence")
        yield from _long(
            world, subtract(intersect(silent, runs), mutes), f"{leg} is recorded while paused"
        )


def _spans(history: CallHistory, leg: str, *, is_paused: bool) -> Iterator[Interval]:
    for begin_ms, end_ms, call in history.intervals:
        if _is_wanted(call, leg) and call.recording_paused == is_paused:
            yield begin_ms, end_ms


def _is_wanted(call: Call, leg: str) -> bool:
    return call.recording_enabled and call.main == leg and call.is_up(leg)


def _long(world: WorldView, intervals: Iterator[Interval], message: str) -> Iterator[str]:
    for begin_ms, end_ms in intervals:
        if is_long(world, (begin_ms, end_ms)):
            yield f"{message} for {end_ms - begin_ms:.0f} ms"
