"""A prompt that can be paused: what play, say and gather have in common when a leg is held."""

from typing import TypeVar

from msgspec.structs import replace

from engine.calls.model.call import Call, allocate_id
from engine.calls.model.commands import Command, Play, StopPlayback, StopVoicemail
from engine.calls.model.state import CallState, Gathering, Playing, RecordingVoicemail
from wire.media import Clip

PromptState = TypeVar("PromptState", Playing, Gathering)


def length_ms(clips: tuple[Clip, ...]) -> int:
    """Tell how long clips last, one after another."""
    return sum(clip.duration_ms for clip in clips)


def suspend_prompt(
    call: Call, state: PromptState, now: int
) -> tuple[Call, PromptState, tuple[StopPlayback, ...]]:
    """Stop a prompt where it is; what is heard of it later is another playback."""
    stops = (StopPlayback(state.request),)
    heard_ms = max(0, length_ms(state.clips) - max(0, state.ends_ms - now))
    call, request = allocate_id(call, "p")
    state = replace(state, request=request, suspended=True, played_ms=heard_ms, ends_ms=0)
    return call, replace(state, deadline_ms=call.must_end_ms), stops


def resume_prompt(state: PromptState, leg: str, now: int) -> tuple[PromptState, Command]:
    """Let a leg hear the rest of a prompt; its deadline is the caller's to set."""
    clips, offset_ms = _remaining(state.clips, state.played_ms)
    ends_ms = now + length_ms(clips) - offset_ms
    state = replace(state, suspended=False, ends_ms=ends_ms)
    return state, Play(leg, state.request, clips, offset_ms)


def stop_sound(state: CallState) -> tuple[StopPlayback | StopVoicemail, ...]:
    """End the prompt that is heard, or the message that is being left, if one is."""
    match state:
        case Playing(request=request, ends_ms=ends_ms) if ends_ms:
            return (StopPlayback(request),)
        case Gathering(phase="prompt", request=request, suspended=False):
            return (StopPlayback(request),)
        case RecordingVoicemail(recording=tape, request=""):
            return (StopVoicemail(tape),)
        case _:
            return ()


def _remaining(clips: tuple[Clip, ...], heard_ms: int) -> tuple[tuple[Clip, ...], int]:
    while len(clips) > 1 and heard_ms >= clips[0].duration_ms:
        heard_ms -= clips[0].duration_ms
        clips = clips[1:]
    return clips, heard_ms
