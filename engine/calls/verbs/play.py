"""play and say: get the audio, let the leg hear it, go on. What can't be had is passed over."""

from msgspec.structs import replace

from engine.calls.call import Call, Step, numbered
from engine.calls.commands import FetchMedia, Play, StopPlayback
from engine.calls.doing import Next, Playing
from engine.calls.events import DeadlinePassed, Event, MediaFetched, PlaybackEnded, Recovered
from wire import verbs
from wire.media import Audio, Clip, Source, Speech

FETCH_MS = 20_000
GRACE_MS = 5_000  # a playback that outlives its length by this is given up
GONE_MS = 200  # one fails when its leg hangs up, a moment before that is told


def start(call: Call, verb: verbs.Play | verbs.Say, now: int) -> Step:
    """Ask for the audio."""
    call, request = numbered(call, "p")
    doing = Playing(verb=verb, request=request, deadline_ms=now + FETCH_MS)
    return replace(call, doing=doing), (FetchMedia(request, sources(verb)),)


def on_event(call: Call, doing: Playing, event: Event, now: int) -> Step:
    """Play what was fetched; go on when it has been heard, or can't be."""
    match event:
        case MediaFetched(request, clips) if request == doing.request and not doing.clips:
            return _play(call, doing, clips, now)
        case PlaybackEnded(playback, failed) if playback == doing.request:
            if failed:
                return replace(call, doing=replace(doing, deadline_ms=now + GONE_MS, ends_ms=0)), ()
            return _end(call, doing), ()
        case Recovered() if not doing.clips:
            return replace(call, doing=replace(doing, deadline_ms=now + FETCH_MS)), ()
        case DeadlinePassed():
            stops = (StopPlayback(doing.request),) if doing.ends_ms else ()
            return _end(call, doing), stops
        case _:
            return call, ()


def _play(call: Call, doing: Playing, clips: tuple[Clip, ...], now: int) -> Step:
    if not clips:
        return _end(call, doing), ()
    ends = now + length_ms(clips)
    deadline = ends + GRACE_MS
    if doing.verb.timeout is not None:
        deadline = min(deadline, now + int(doing.verb.timeout * 1000))
    heard = replace(doing, clips=clips, ends_ms=ends, deadline_ms=deadline)
    return replace(call, doing=heard), (Play(call.main, doing.request, clips),)


def _end(call: Call, doing: Playing) -> Call:
    event = "say" if isinstance(doing.verb, verbs.Say) else "play"
    return replace(call, doing=Next(doing.verb.action, event))


def sources(verb: verbs.Play | verbs.Say) -> tuple[Source, ...]:
    """List what a verb will want to have heard."""
    if isinstance(verb, verbs.Say):
        data = verb.data
        return (Speech(data.text, data.voice, data.language, data.ssml),)
    url = verb.data.audio_url
    return (Audio(url),) if isinstance(url, str) else tuple(Audio(each) for each in url)


def length_ms(clips: tuple[Clip, ...]) -> int:
    """Tell how long clips last, one after another."""
    return sum(clip.duration_ms for clip in clips)
