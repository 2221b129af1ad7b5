"""play and say: get the audio, let the leg hear it, go on. What can't be had is passed over.

What a record lets its leg hear first is played here too; then the rest of it runs.
"""

from msgspec.structs import replace

from engine.calls.flows.prefetch import PlayableVerb, verb_sources
from engine.calls.model.call import Call, Step, allocate_id, is_held
from engine.calls.model.commands import StopPlayback
from engine.calls.model.events import DeadlinePassed, Event, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.state import Advance, Playing
from engine.calls.verbs.prompt import length_ms, resume_prompt, suspend_prompt
from wire import verbs
from wire.media import Clip

FETCH_TIMEOUT_MS = 20_000
GRACE_MS = 5_000  # a playback that outlives its length by this is given up
HANGUP_GRACE_MS = 200  # one fails when its leg hangs up, a moment before that is told


def start(call: Call, verb: PlayableVerb, now: int) -> Step:
    """Ask for the audio."""
    call, request = allocate_id(call, "p")
    held = is_held(call, call.main)
    state = Playing(verb=verb, request=request, deadline_ms=now + FETCH_TIMEOUT_MS, suspended=held)
    return replace(call, state=state), (FetchMedia(request, verb_sources(verb)),)


def on_event(call: Call, state: Playing, event: Event, now: int) -> Step:
    """Play what was fetched; go on when it has been heard, or can't be."""
    match event:
        case MediaFetched(request, clips) if request == state.request and not state.clips:
            return _on_fetched(call, state, clips, now)
        case PlaybackEnded(playback, failed) if playback == state.request:
            if failed:
                return replace(
                    call, state=replace(state, deadline_ms=now + HANGUP_GRACE_MS, ends_ms=0)
                ), ()
            return _finish(call, state), ()
        case Recovered() if not state.clips:
            return replace(call, state=replace(state, deadline_ms=now + FETCH_TIMEOUT_MS)), ()
        case DeadlinePassed():
            stops = (StopPlayback(state.request),) if state.ends_ms else ()
            return _finish(call, state), stops
        case _:
            return call, ()


def suspend(call: Call, state: Playing, now: int) -> Step:
    """Stop the prompt: its leg is held; one that is still fetched waits when it is there."""
    if not state.ends_ms:
        return replace(call, state=replace(state, suspended=True)), ()
    call, state, stops = suspend_prompt(call, state, now)
    return replace(call, state=state), stops


def resume(call: Call, state: Playing, now: int) -> Step:
    """Play on from where the prompt was stopped."""
    if not state.clips:
        return replace(call, state=replace(state, suspended=False)), ()
    if state.played_ms >= length_ms(state.clips):
        return _finish(call, state), ()
    state, play = resume_prompt(state, call.main, now)
    deadline = state.ends_ms + GRACE_MS
    if state.verb.timeout is not None:
        deadline = min(deadline, now + int(state.verb.timeout * 1000) - state.played_ms)
    return replace(call, state=replace(state, deadline_ms=deadline)), (play,)


def _on_fetched(call: Call, state: Playing, clips: tuple[Clip, ...], now: int) -> Step:
    if not clips:
        return _finish(call, state), ()
    state = replace(state, clips=clips)
    if state.suspended:
        return replace(call, state=replace(state, deadline_ms=call.must_end_ms)), ()
    return resume(call, state, now)


def _finish(call: Call, state: Playing) -> Call:
    match state.verb:
        case verbs.Record(data=data) as verb:
            rest = replace(verb, data=replace(data, audio_url=None, text=None, beep=False))
            return replace(call, state=Advance(rest, "record"))
        case verbs.Say():
            return replace(call, state=Advance(state.verb.action, "say"))
        case verbs.Play():
            return replace(call, state=Advance(state.verb.action, "play"))
