"""A prompt that can be paused: what play, say and gather have in common when a leg is held."""

from typing import TypeVar

from msgspec.structs import replace

from engine.calls.call import Call, numbered
from engine.calls.commands import Command, Play, StopPlayback
from engine.calls.doing import Gathering, Playing
from wire.media import Clip

Prompting = TypeVar("Prompting", Playing, Gathering)


def length_ms(clips: tuple[Clip, ...]) -> int:
    """Tell how long clips last, one after another."""
    return sum(clip.duration_ms for clip in clips)


def paused(
    call: Call, doing: Prompting, now: int
) -> tuple[Call, Prompting, tuple[StopPlayback, ...]]:
    """Stop a prompt where it is; what is heard of it later is another playback."""
    stops = (StopPlayback(doing.request),)
    heard_ms = max(0, length_ms(doing.clips) - max(0, doing.ends_ms - now))
    call, request = numbered(call, "p")
    doing = replace(doing, request=request, paused=True, heard_ms=heard_ms, ends_ms=0)
    return call, replace(doing, deadline_ms=call.latest_ms), stops


def played_on(doing: Prompting, leg: str, now: int) -> tuple[Prompting, Command]:
    """Let a leg hear the rest of a prompt; its deadline is the caller's to set."""
    clips, offset_ms = _rest(doing.clips, doing.heard_ms)
    ends_ms = now + length_ms(clips) - offset_ms
    doing = replace(doing, paused=False, ends_ms=ends_ms)
    return doing, Play(leg, doing.request, clips, offset_ms)


def _rest(clips: tuple[Clip, ...], heard_ms: int) -> tuple[tuple[Clip, ...], int]:
    while len(clips) > 1 and heard_ms >= clips[0].duration_ms:
        heard_ms -= clips[0].duration_ms
        clips = clips[1:]
    return clips, heard_ms
