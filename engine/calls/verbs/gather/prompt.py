"""The prompt of a gather: fetched, played, played again after a hold, or failed."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import StopPlayback
from engine.calls.model.events import PlaybackEnded
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.verbs.gather.clocks import (
    MAX_PAUSE_MS,
    enter_prompt,
    wait_first_input,
    wait_transcript,
)
from engine.calls.verbs.media_faults import fetch_faults, playback_fault, report, run_instead
from engine.calls.verbs.play import HANGUP_GRACE_MS
from engine.calls.verbs.suspendable_playback import resume_prompt
from wire.media import MediaFault


def start_prompt(call: Call, state: Gathering, now: int) -> Step:
    sources = state.verb.data.sources
    if not sources:
        return wait_first_input(call, state, now), ()
    call, request = allocate_id(call, "p")
    return replace(call, state=replace(state, request=request)), (FetchMedia(request, sources),)


def play_prompt(call: Call, state: Gathering, now: int) -> Step:
    state, play = resume_prompt(state, state.leg, now)
    return replace(call, state=enter_prompt(state)), (play,)


def on_prompt_fetched(call: Call, state: Gathering, event: MediaFetched, now: int) -> Step:
    faults = fetch_faults(event, state.verb)
    if faults:
        return on_prompt_failed(call, state, faults, now)
    state = replace(state, clips=event.clips)
    if state.suspended:
        return replace(call, state=replace(state, phase="prompt")), ()
    if state.utterances:  # a prompt would be heard over the caller
        return replace(call, state=wait_transcript(state, now)), ()
    if state.paused_ms:
        deadline_ms = min(now + MAX_PAUSE_MS, state.limit_ms)
        return replace(call, state=replace(state, deadline_ms=deadline_ms)), ()
    return play_prompt(call, state, now)


def on_prompt_ended(call: Call, state: Gathering, event: PlaybackEnded, now: int) -> Step:
    if event.failed:  # a leg that hangs up ends its playback first
        if state.ends_ms:  # else the event is repeated
            deadline = min(now + HANGUP_GRACE_MS, state.limit_ms)
            state = replace(state, clips=(), ends_ms=0, deadline_ms=deadline)
        return replace(call, state=state), ()
    if not state.ends_ms:
        return on_prompt_timeout(call, state, now)
    return wait_first_input(call, state, now), ()


def on_prompt_timeout(call: Call, state: Gathering, now: int) -> Step:
    """Wait for digits after a prompt that has not begun, or not ended, in time."""
    if not state.ends_ms:
        return on_prompt_failed(call, state, playback_fault(state.verb, "not_played"), now)
    faults = playback_fault(state.verb, "cut_off")
    call, reports = on_prompt_failed(call, state, faults, now)
    return call, (StopPlayback(state.request), *reports)


def has_prompt_failed(state: Gathering) -> bool:
    return state.phase == "prompt" and not state.clips


def on_prompt_failed(
    call: Call, state: Gathering, faults: tuple[MediaFault, ...], now: int
) -> Step:
    """Report a prompt that was not played; run the verb's `onError`, or wait for digits.

    A caller who speaks meanwhile is heard out.
    """
    call, reports = report(call, state.leg, faults, now)
    instead = None if state.utterances else run_instead(call, state.verb)
    if instead is not None:
        return replace(call, state=instead), reports
    return wait_first_input(call, state, now), reports
