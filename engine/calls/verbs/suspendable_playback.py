"""Playbacks that a hold suspends and resumes, for play, say and gather."""

from operator import attrgetter
from typing import TypeVar

from msgspec.structs import replace

from engine.calls.model.call import Call, allocate_id
from engine.calls.model.call_states import CallState, Gathering, Playing
from engine.calls.model.commands import Command, Play, StopPlayback, StopVoicemail
from engine.calls.model.events import Recovered
from wire import verbs
from wire.media import Clip

MAX_CLIPS = 20  # per playback: a short sound repeats without a gap
_duration_ms = attrgetter("duration_ms")
PromptState = TypeVar("PromptState", Playing, Gathering)


def length_ms(clips: tuple[Clip, ...]) -> int:
    """Return the total length of clips."""
    return sum(map(_duration_ms, clips))


def playback_end_ms(state: PromptState) -> int:
    """Return the position at which the state's playback ends, counted over all rounds."""
    clips, offset_ms = _remaining(state)
    return state.played_ms + length_ms(clips) - offset_ms


def rounds(state: PromptState) -> int:
    """Return how often the clips are played."""
    return state.verb.data.loop if isinstance(state.verb, verbs.Play) else 1


def suspend_prompt(
    call: Call, state: PromptState, now: int
) -> tuple[Call, PromptState, tuple[StopPlayback, ...]]:
    """Stop a prompt and keep its position; resuming it is a new playback."""
    stops = (StopPlayback(state.request),)
    played_ms = max(0, playback_end_ms(state) - max(0, state.ends_ms - now))
    call, request = allocate_id(call, "p")
    state = replace(state, request=request, suspended=True, played_ms=played_ms, ends_ms=0)
    return call, replace(state, deadline_ms=call.must_end_ms), stops


def resume_prompt(state: PromptState, leg: str, now: int) -> tuple[PromptState, Command]:
    """Play the rest of a prompt to a leg; the caller sets the deadline."""
    clips, offset_ms = _remaining(state)
    ends_ms = now + length_ms(clips) - offset_ms
    state = replace(state, suspended=False, ends_ms=ends_ms)
    return state, Play(leg, state.request, clips, offset_ms, _may_pause(state.verb))


def _may_pause(verb: verbs.Verb) -> bool:
    """Return whether a sound of the caller pauses the verb's prompt."""
    if not isinstance(verb, verbs.Gather):
        return False
    return verb.data.hears_speech and verb.data.barge_in == "pause"


def begin_prompt(state: PromptState, now: int) -> PromptState:
    """Set the end of a prompt whose rest begins now; the caller sets the deadline."""
    clips, offset_ms = _remaining(state)
    return replace(state, ends_ms=now + length_ms(clips) - offset_ms)


def latest_end_ms(state: PromptState, now: int) -> int:
    """Return when a prompt that plays ends at the latest, after an outage.

    The PBX may have stood still since the prompt began.
    """
    return max(state.ends_ms, begin_prompt(state, now).ends_ms)


def is_restarted(state: PromptState, event: Recovered) -> bool:
    """Return whether a recovery plays the state's prompt, which had not begun, only now."""
    return bool(state.ends_ms) and state.request in event.restarted


def stop_sound(state: CallState) -> tuple[StopPlayback | StopVoicemail, ...]:
    """Return the commands that stop a state's prompt or voicemail, if one is running."""
    voicemail, prompt = state.active_voicemail, state.active_prompt
    if voicemail is not None:
        return (StopVoicemail(voicemail),)
    playback, ends_ms = prompt or ("", 0)
    return (StopPlayback(playback),) if ends_ms else ()


def _remaining(state: PromptState) -> tuple[tuple[Clip, ...], int]:
    """Return the clips of the next playback, and the offset into the first.

    One playback has the rest of the current round, and as many further rounds as MAX_CLIPS allows.
    """
    clips, total_ms = state.clips, length_ms(state.clips)
    if not total_ms:
        return clips, 0
    done, played_ms = divmod(state.played_ms, total_ms)
    while len(clips) > 1 and played_ms >= clips[0].duration_ms:
        played_ms -= clips[0].duration_ms
        clips = clips[1:]
    more = min(rounds(state) - done - 1, (MAX_CLIPS - len(clips)) // len(state.clips))
    return clips + state.clips * max(0, more), played_ms
