"""Everybody is where the stored call seats them, hears what they are to hear, and is as muted."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.calls.media.plan import UNBRIDGED, LegMedia, desired_media
from engine.calls.model.sessions import HoldMusic
from tests.harness.sim.channel import SimChannel, SimSpan
from tests.sim.call_log import Story
from tests.sim.checks.durations import Span, is_long, joined, without
from tests.sim.scene import World

Due = tuple[float, float, LegMedia]
SOUNDS = {"moh": "music", "ring": "ringing"}


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Compare the PBX with the seats of every call, for every stretch of its story."""
    for story in told:
        for name, due in _due(story).items():
            channel = world.pbx.past.get(name)
            if channel is None or not _has_lived(channel, due):
                continue
            for stretch in joined(_wrong(channel, due)):
                if any(is_long(world, left) for left in without([stretch], _late(world, channel))):
                    yield name, _words(channel, due, stretch)


def _late(world: World, channel: SimChannel) -> list[Span]:
    """List the prompts that were asked for in trouble: they may be heard after their time."""
    return [
        (span.begin_ms, span.end_ms or world.clock.at_ms)
        for span in channel.spans
        if span.kind == "play" and world.faults.touched(span.begin_ms, span.begin_ms)
    ]


def _due(story: Story) -> dict[str, list[Due]]:
    found: dict[str, list[Due]] = {}
    for begin_ms, end_ms, call in story.stretches():
        for name, seat in desired_media(call).items():
            before = found.setdefault(name, [])
            if before and before[-1][1] == begin_ms and before[-1][2] == seat:
                before[-1] = before[-1][0], end_ms, seat
            else:
                before.append((begin_ms, end_ms, seat))
    return found


def _has_lived(channel: SimChannel, due: list[Due]) -> bool:
    if channel.up_ms is None:
        return False
    return bool(channel.spans) or any(seat != UNBRIDGED for _, _, seat in due)


def _wrong(channel: SimChannel, due: list[Due]) -> Iterator[Span]:
    for begin_ms, end_ms, seat in due:
        for begin, end in _pieces(channel, begin_ms, end_ms):
            if not _is_seated(seat, _spans_at(channel, begin)):
                yield begin, end


def _pieces(channel: SimChannel, begin_ms: float, end_ms: float) -> Iterator[Span]:
    """Cut a stretch of a channel's life where something begins or ends on it."""
    begin_ms = max(begin_ms, channel.up_ms or 0)
    end_ms = min(end_ms, end_ms if channel.ended_ms is None else channel.ended_ms)
    if begin_ms >= end_ms:
        return
    edges = {edge for span in channel.spans for edge in (span.begin_ms, span.end_ms) if edge}
    cuts = [begin_ms, *sorted(each for each in edges if begin_ms < each < end_ms), end_ms]
    yield from pairwise(cuts)


def _spans_at(channel: SimChannel, at_ms: float) -> list[SimSpan]:
    return [
        s for s in channel.spans if s.begin_ms <= at_ms and (s.end_ms is None or at_ms < s.end_ms)
    ]


def _is_seated(seat: LegMedia, spans: Sequence[SimSpan]) -> bool:
    bridge = next((span.what for span in spans if span.kind == "bridge"), "")
    muted = {span.kind.removeprefix("mute ") for span in spans if span.kind.startswith("mute ")}
    wanted = {"": set(), "both": {"in", "out"}}.get(seat.muted, {seat.muted})
    return bridge == seat.bridge and muted == wanted and _is_heard(seat, spans)


def _is_heard(seat: LegMedia, spans: Sequence[SimSpan]) -> bool:
    sounds = {SOUNDS[span.kind] for span in spans if span.kind in SOUNDS}
    played = {span.what for span in spans if span.kind == "play"}
    match seat.sound:
        case HoldMusic(playback=playback):
            return not sounds and played == {playback}
        case "":
            return not sounds  # a prompt of the tree's is not a matter of seats
        case sound:
            return sounds == {sound} and not played


def _words(channel: SimChannel, due: list[Due], stretch: Span) -> str:
    begin_ms, end_ms = stretch
    seat = next(seat for begin, end, seat in due if begin <= begin_ms < end)
    there = ", ".join(map(repr, _spans_at(channel, begin_ms))) or "nowhere, in silence"
    return f"was to be in {seat} at {begin_ms:.0f} and was for {end_ms - begin_ms:.0f} ms: {there}"
