"""Every leg is in the bridge, hears the sound and has the mute that the stored call plans."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.calls.media.plan import UNBRIDGED, LegMedia, desired_media
from engine.calls.model.sessions import HoldMusic
from tests.harness.sim.model import SimChannel, SimSpan
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import Interval, is_long, merge, subtract
from tests.sim.world_view import WorldView

Due = tuple[float, float, LegMedia]
SOUNDS = {"moh": "music", "ring": "ringing"}


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Compare the PBX with the media plan of every call at all times."""
    for history in histories:
        for name, due in _due(history).items():
            channel = world.pbx.past.get(name)
            if channel is None or not _has_lived(channel, due):
                continue
            for interval in merge(_mismatches(channel, due)):
                if any(
                    is_long(world, left) for left in subtract([interval], _late(world, channel))
                ):
                    yield name, _describe(channel, due, interval)


def _late(world: WorldView, channel: SimChannel) -> list[Interval]:
    """Return the prompts that were requested during faults: they can play late."""
    return [
        (span.begin_ms, span.end_ms or world.clock.at_ms)
        for span in channel.spans
        if span.kind == "play" and world.faults.is_disturbed(span.begin_ms, span.begin_ms)
    ]


def _due(history: CallHistory) -> dict[str, list[Due]]:
    found: dict[str, list[Due]] = {}
    for begin_ms, end_ms, call in history.intervals:
        for name, leg_media in desired_media(call).items():
            before = found.setdefault(name, [])
            if before and before[-1][1] == begin_ms and before[-1][2] == leg_media:
                before[-1] = before[-1][0], end_ms, leg_media
            else:
                before.append((begin_ms, end_ms, leg_media))
    return found


def _has_lived(channel: SimChannel, due: list[Due]) -> bool:
    if channel.up_ms is None:
        return False
    return bool(channel.spans) or any(leg_media != UNBRIDGED for _, _, leg_media in due)


def _mismatches(channel: SimChannel, due: list[Due]) -> Iterator[Interval]:
    edges = sorted({e for span in channel.spans for e in (span.begin_ms, span.end_ms) if e})
    for begin_ms, end_ms, leg_media in due:
        for begin, end in _pieces(channel, edges, begin_ms, end_ms):
            if not _matches(leg_media, _spans_at(channel, begin)):
                yield begin, end


def _pieces(
    channel: SimChannel, edges: Sequence[float], begin_ms: float, end_ms: float
) -> Iterator[Interval]:
    """Split an interval of the channel's life at those of the edges that lie in it."""
    begin_ms = max(begin_ms, channel.up_ms or 0)
    end_ms = min(end_ms, end_ms if channel.ended_ms is None else channel.ended_ms)
    if begin_ms >= end_ms:
        return
    cuts = [begin_ms, *(each for each in edges if begin_ms < each < end_ms), end_ms]
    yield from pairwise(cuts)


def _spans_at(channel: SimChannel, at_ms: float) -> list[SimSpan]:
    return [
        s for s in channel.spans if s.begin_ms <= at_ms and (s.end_ms is None or at_ms < s.end_ms)
    ]


def _matches(leg_media: LegMedia, spans: Sequence[SimSpan]) -> bool:
    bridge = next((span.what for span in spans if span.kind == "bridge"), "")
    muted = {span.kind.removeprefix("mute ") for span in spans if span.kind.startswith("mute ")}
    wanted = {"": set(), "both": {"in", "out"}}.get(leg_media.muted, {leg_media.muted})
    return bridge == leg_media.bridge and muted == wanted and _is_heard(leg_media, spans)


def _is_heard(leg_media: LegMedia, spans: Sequence[SimSpan]) -> bool:
    sounds = {SOUNDS[span.kind] for span in spans if span.kind in SOUNDS}
    played = {span.what for span in spans if span.kind == "play"}
    match leg_media.sound:
        case HoldMusic(playback=playback):
            return not sounds and played == {playback}
        case "":
            return not sounds  # prompts of the tree are not in the media plan
        case sound:
            return sounds == {sound} and not played


def _describe(channel: SimChannel, due: list[Due], interval: Interval) -> str:
    begin_ms, end_ms = interval
    leg_media = next(leg_media for begin, end, leg_media in due if begin <= begin_ms < end)
    present = ", ".join(map(repr, _spans_at(channel, begin_ms))) or "nowhere, in silence"
    found_ms = f"{end_ms - begin_ms:.0f} ms"
    return f"expected {leg_media} at {begin_ms:.0f}, but found for {found_ms}: {present}"
