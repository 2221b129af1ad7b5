"""play and say: fetch the audio, play it to the main leg, and advance.

Audio that fails is reported; `onError` runs instead of its verb, or the rest is played.

A play with `loop` repeats its clips: each playback has as many rounds as fit, and the position
(`played_ms`) counts over all rounds.

The prompt and the beep of `record` are played here, too.
"""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, allocate_id, is_held
from engine.calls.model.call_states import Advance, Playing
from engine.calls.model.commands import StopPlayback
from engine.calls.model.events import DeadlinePassed, Event, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.verbs.media_faults import (
    FaultReason,
    fetch_faults,
    playback_fault,
    report,
    run_instead,
)
from engine.calls.verbs.suspendable_playback import (
    begin_prompt,
    is_restarted,
    latest_end_ms,
    length_ms,
    playback_end_ms,
    resume_prompt,
    rounds,
    suspend_prompt,
)
from wire.verbs import Play, Record, Say

FETCH_TIMEOUT_MS = 20_000
GRACE_MS = 5_000  # a playback that exceeds its length by this is stopped
HANGUP_GRACE_MS = 200  # a playback fails shortly before the hangup of its leg is reported


def start(call: Call, verb: Play | Say | Record, now: int) -> Step:
    """Fetch the audio."""
    call, request = allocate_id(call, "p")
    state = Playing(verb, request, now + FETCH_TIMEOUT_MS, suspended=is_held(call, call.main))
    return replace(call, state=state), (FetchMedia(request, verb.data.sources),)


def on_event(call: Call, state: Playing, event: Event, now: int) -> Step:
    """Play fetched audio; advance when it has ended or could not be played."""
    match event:
        case MediaFetched(request) if request == state.request and not state.clips:
            return _on_fetched(call, state, event, now)
        case PlaybackEnded(playback, failed) if playback == state.request:
            return (_on_failed if failed else _on_ended)(call, state, now)
        case Recovered() if not state.clips:
            return replace(call, state=replace(state, deadline_ms=now + FETCH_TIMEOUT_MS)), ()
        case Recovered() if is_restarted(state, event):
            return replace(call, state=_with_deadline(begin_prompt(state, now), now)), ()
        case Recovered() if state.ends_ms and state.verb.timeout is None:
            deadline_ms = latest_end_ms(state, now) + GRACE_MS
            return replace(call, state=replace(state, deadline_ms=deadline_ms)), ()
        case DeadlinePassed() if 0 < state.ends_ms <= now - GRACE_MS:
            call, commands = _fail(call, state, "cut_off", now)
            return call, (StopPlayback(state.request), *commands)
        case DeadlinePassed() if state.ends_ms:
            return _finish(call, state), (StopPlayback(state.request),)
        case DeadlinePassed():
            return _fail(call, state, "not_played" if state.clips else "timeout", now)
        case _:
            return call, ()


def suspend(call: Call, state: Playing, _leg: str, now: int) -> Step:
    """Stop the playback while the leg is on hold; audio that arrives meanwhile waits."""
    if _has_failed(state):
        return call, ()
    if not state.ends_ms:
        return replace(call, state=replace(state, suspended=True)), ()
    call, state, stops = suspend_prompt(call, state, now)
    return replace(call, state=state), stops


def resume(call: Call, state: Playing, _leg: str, now: int) -> Step:
    """Continue from where the playback was stopped."""
    if _has_failed(state):
        return call, ()
    if not state.clips:
        return replace(call, state=replace(state, suspended=False)), ()
    return _play(call, state, now)


def _play(call: Call, state: Playing, now: int) -> Step:
    """Play what is left."""
    if state.played_ms >= _total_ms(state):
        return _finish(call, state), ()
    state, play = resume_prompt(state, call.main, now)
    return replace(call, state=_with_deadline(state, now)), (play,)


def _with_deadline(state: Playing, now: int) -> Playing:
    deadline_ms = state.ends_ms + GRACE_MS
    if state.verb.timeout is not None:
        deadline_ms = min(deadline_ms, now + int(state.verb.timeout * 1000) - state.played_ms)
    return replace(state, deadline_ms=deadline_ms)


def _has_failed(state: Playing) -> bool:
    """Return whether the playback has failed, and its deadline decides; a hold changes nothing."""
    return bool(state.clips) and not state.ends_ms and not state.suspended


def _on_failed(call: Call, state: Playing, now: int) -> Step:
    """Wait for the hangup of the leg, which may have caused the failure."""
    if not state.ends_ms:  # the event is repeated
        return call, ()
    return replace(call, state=replace(state, deadline_ms=now + HANGUP_GRACE_MS, ends_ms=0)), ()


def _on_ended(call: Call, state: Playing, now: int) -> Step:
    """Play the next rounds, if any are left; a playback that did not run is not repeated."""
    if not state.ends_ms:
        return _fail(call, state, "not_played", now)
    played_ms = playback_end_ms(state)
    if played_ms >= _total_ms(state):
        return _finish(call, state), ()
    call, request = allocate_id(call, "p")
    return _play(call, replace(state, request=request, played_ms=played_ms), now)


def _total_ms(state: Playing) -> int:
    return length_ms(state.clips) * rounds(state)


def _on_fetched(call: Call, state: Playing, event: MediaFetched, now: int) -> Step:
    faults = fetch_faults(event, state.verb)
    call, reports = report(call, call.main, faults, now)
    if faults and (instead := run_instead(call, state.verb)) is not None:
        return replace(call, state=instead), reports
    if not event.clips:
        return _finish(call, state), reports
    state = replace(state, clips=event.clips)
    if state.suspended:
        return replace(call, state=replace(state, deadline_ms=call.must_end_ms)), reports
    call, commands = _play(call, state, now)
    return call, (*reports, *commands)


def _fail(call: Call, state: Playing, reason: FaultReason, now: int) -> Step:
    """Report that the audio was not played; run the verb's `onError`, or advance."""
    call, reports = report(call, call.main, playback_fault(state.verb, reason), now)
    if (instead := run_instead(call, state.verb)) is not None:
        return replace(call, state=instead), reports
    return _finish(call, state), reports


def _finish(call: Call, state: Playing) -> Call:
    verb = state.verb
    if isinstance(verb, Record):
        without_prompt = replace(verb.data, audio_url=None, text=None, beep=False)
        return replace(call, state=Advance(replace(verb, data=without_prompt), "record"))
    return replace(call, state=Advance(verb.action, verb.tag))
