"""play and say: get the audio, let the leg hear it, go on. What can't be had is passed over.

What a record lets its leg hear first is played here too; then the rest of it runs.
"""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, allocate_id, is_held
from engine.calls.model.commands import StopPlayback
from engine.calls.model.events import DeadlinePassed, Event, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.state import Advance, Playing
from engine.calls.verbs import prompt
from engine.calls.verbs.prompt import length_ms, resume_prompt, suspend_prompt
from wire import verbs
from wire.media import Audio, Clip, Source, Speech, Tone

PlayableVerb = verbs.Play | verbs.Say | verbs.Record
BEEP = Tone(1_000, 250)
FETCH_TIMEOUT_MS = 20_000
GRACE_MS = 5_000  # a playback that outlives its length by this is given up
HANGUP_GRACE_MS = 200  # one fails when its leg hangs up, a moment before that is told


def start(call: Call, verb: PlayableVerb, now: int) -> Step:
    """Ask for the audio."""
    call, request = allocate_id(call, "p")
    held = is_held(call, call.main)
    doing = Playing(verb=verb, request=request, deadline_ms=now + FETCH_TIMEOUT_MS, suspended=held)
    return replace(call, state=doing), (FetchMedia(request, sources(verb)),)


def on_event(call: Call, doing: Playing, event: Event, now: int) -> Step:
    """Play what was fetched; go on when it has been heard, or can't be."""
    match event:
        case MediaFetched(request, clips) if request == doing.request and not doing.clips:
            return _on_fetched(call, doing, clips, now)
        case PlaybackEnded(playback, failed) if playback == doing.request:
            if failed:
                return replace(
                    call, state=replace(doing, deadline_ms=now + HANGUP_GRACE_MS, ends_ms=0)
                ), ()
            return _finish(call, doing), ()
        case Recovered() if not doing.clips:
            return replace(call, state=replace(doing, deadline_ms=now + FETCH_TIMEOUT_MS)), ()
        case DeadlinePassed():
            stops = (StopPlayback(doing.request),) if doing.ends_ms else ()
            return _finish(call, doing), stops
        case _:
            return call, ()


def suspend(call: Call, doing: Playing, now: int) -> Step:
    """Stop the prompt: its leg is held; one that is still fetched waits when it is there."""
    if not doing.ends_ms:
        return replace(call, state=replace(doing, suspended=True)), ()
    call, doing, stops = suspend_prompt(call, doing, now)
    return replace(call, state=doing), stops


def resume(call: Call, doing: Playing, now: int) -> Step:
    """Play on from where the prompt was stopped."""
    if not doing.clips:
        return replace(call, state=replace(doing, suspended=False)), ()
    if doing.played_ms >= length_ms(doing.clips):
        return _finish(call, doing), ()
    doing, play = resume_prompt(doing, call.main, now)
    deadline = doing.ends_ms + GRACE_MS
    if doing.verb.timeout is not None:
        deadline = min(deadline, now + int(doing.verb.timeout * 1000) - doing.played_ms)
    return replace(call, state=replace(doing, deadline_ms=deadline)), (play,)


def _on_fetched(call: Call, doing: Playing, clips: tuple[Clip, ...], now: int) -> Step:
    if not clips:
        return _finish(call, doing), ()
    doing = replace(doing, clips=clips)
    if doing.suspended:
        return replace(call, state=replace(doing, deadline_ms=call.must_end_ms)), ()
    return resume(call, doing, now)


def _finish(call: Call, doing: Playing) -> Call:
    match doing.verb:
        case verbs.Record(data=data) as verb:
            rest = replace(verb, data=replace(data, audio_url=None, text=None, beep=False))
            return replace(call, state=Advance(rest, "record"))
        case verbs.Say():
            return replace(call, state=Advance(doing.verb.action, "say"))
        case verbs.Play():
            return replace(call, state=Advance(doing.verb.action, "play"))


def sources(verb: PlayableVerb) -> tuple[Source, ...]:
    """List what a verb will want to have heard."""
    match verb:
        case verbs.Say(data=data):
            return (Speech(data.text, data.voice, data.language, data.ssml),)
        case verbs.Record(data=data):
            return (*prompt.sources(data), *((BEEP,) if data.beep else ()))
        case verbs.Play(data=data):
            urls = (data.audio_url,) if isinstance(data.audio_url, str) else data.audio_url
            return tuple(Audio(each) for each in urls)
