"""Playbacks that a hold suspends and resumes, for play, say and gather."""

from typing import TypeVar

from msgspec.structs import replace

from engine.calls.model.call import Call, allocate_id
from engine.calls.model.commands import Command, Play, StopPlayback, StopVoicemail
from engine.calls.model.state import CallState, Gathering, Playing
from engine.calls.model.state_table import active_prompt, active_voicemail
from wire.media import Clip

PromptState = TypeVar("PromptState", Playing, Gathering)


def length_ms(clips: tuple[Clip, ...]) -> int:
    """Return the total length of clips."""
    return sum(clip.duration_ms for clip in clips)


def suspend_prompt(
    call: Call, state: PromptState, now: int
) -> tuple[Call, PromptState, tuple[StopPlayback, ...]]:
    """Stop a prompt and keep its position; resuming it is a new playback."""
    stops = (StopPlayback(state.request),)
    played_ms = max(0, length_ms(state.clips) - max(0, state.ends_ms - now))
    call, request = allocate_id(call, "p")
    state = replace(state, request=request, suspended=True, played_ms=played_ms, ends_ms=0)
    return call, replace(state, deadline_ms=call.must_end_ms), stops


def resume_prompt(state: PromptState, leg: str, now: int) -> tuple[PromptState, Command]:
    """Play the rest of a prompt to a leg; the caller sets the deadline."""
    clips, offset_ms = _remaining(state.clips, state.played_ms)
    ends_ms = now + length_ms(clips) - offset_ms
    state = replace(state, suspended=False, ends_ms=ends_ms)
    return state, Play(leg, state.request, clips, offset_ms)


def stop_sound(state: CallState) -> tuple[StopPlayback | StopVoicemail, ...]:
    """Return the commands that stop a state's prompt or voicemail, if one is running."""
    voicemail, prompt = active_voicemail(state), active_prompt(state)
    if voicemail is not None:
        return (StopVoicemail(voicemail),)
    playback, ends_ms = prompt or ("", 0)
    return (StopPlayback(playback),) if ends_ms else ()


def _remaining(clips: tuple[Clip, ...], played_ms: int) -> tuple[tuple[Clip, ...], int]:
    """Return the clips that are left, and the offset into the first."""
    while len(clips) > 1 and played_ms >= clips[0].duration_ms:
        played_ms -= clips[0].duration_ms
        clips = clips[1:]
    return clips, played_ms
