"""What is to be recorded is; every recording is filed once, told, and leaves the PBX."""

from collections import Counter
from collections.abc import Iterator, Sequence

from engine.calls.model.call import Call
from engine.calls.model.events import RecordingsArchived
from engine.calls.model.recording import parse_recording_name
from tests.sim.call_log import Story
from tests.sim.checks.durations import Span, heard, is_long, joined, within, without
from tests.sim.scene import World


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check every tape, and every call that is recorded."""
    yield from ((name, "is left on the PBX") for name in world.pbx.files)
    filed = Counter(name for names in world.archive.values() for name in names)
    for name in world.pbx.taped:
        if filed[name] != 1:
            yield name, f"was filed {filed[name]} times"
    for story in told:
        for words in (*_promised(world, story), *_taped(world, story)):
            yield story.id, words


def _promised(world: World, story: Story) -> Iterator[str]:
    call = story.record.call
    urls = {each.recording_url for each in story.told if each.event == "completed"} - {None}
    paths = {url.partition("//")[2] for url in urls if url}
    kept = {path for path in world.archive if _call_of(world, path) == call.id}
    if kept and not paths:
        yield "was recorded, and its end does not say so"
    last_ms = story.moments[-1].at_ms if story.moments else call.ended_ms
    # Whether an archive that was away will have it, nobody knows at the end.
    faults = [m.event.fault for m in story.moments if isinstance(m.event, RecordingsArchived)]
    is_in_doubt = any(faults) or world.faults.touched(call.created_ms, last_ms)
    if paths - kept and not is_in_doubt:
        yield f"promises {paths - kept}"


def _call_of(world: World, path: str) -> str:
    named = parse_recording_name(world.archive[path][0])
    return named.call if named else ""


def _taped(world: World, story: Story) -> Iterator[str]:
    legs = {call.main for _, _, call in story.stretches()}
    for leg in legs:
        channel = world.pbx.past.get(leg)
        if channel is None:
            continue
        lives = [(channel.up_ms or channel.ended_ms or 0, channel.ended_ms or world.clock.at_ms)]
        wanted = list(within(joined(_spans(story, leg, is_paused=False)), lives))
        silent = list(within(joined(_spans(story, leg, is_paused=True)), lives))
        runs, mutes = heard(world, channel, ["tape"]), heard(world, channel, ["tape mute"])
        yield from _long(world, without(wanted + silent, runs), f"{leg} is not recorded")
        yield from _long(world, without(runs, wanted + silent), f"{leg} is recorded")
        yield from _long(world, within(wanted, mutes), f"{leg} is recorded in silence")
        yield from _long(world, without(within(silent, runs), mutes), f"{leg} is overheard")


def _spans(story: Story, leg: str, *, is_paused: bool) -> Iterator[Span]:
    for begin_ms, end_ms, call in story.stretches():
        if _is_wanted(call, leg) and call.recording_paused == is_paused:
            yield begin_ms, end_ms


def _is_wanted(call: Call, leg: str) -> bool:
    return call.recording_enabled and call.main == leg and call.is_up(leg)


def _long(world: World, stretches: Iterator[Span], words: str) -> Iterator[str]:
    for begin_ms, end_ms in stretches:
        if is_long(world, (begin_ms, end_ms)):
            yield f"{words} for {end_ms - begin_ms:.0f} ms"
