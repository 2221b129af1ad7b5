"""Music of one's own for who waits: fetched once, then round and round until nobody waits."""

from msgspec.structs import replace

from engine.calls.media.plan import desired_media
from engine.calls.model.call import Call, allocate_id
from engine.calls.model.events import Event, PlaybackEnded
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.sessions import HoldMusic
from engine.calls.session_end import with_conference, with_transfer
from wire.media import Audio

MAX_CLIPS = 20  # of one request: a short tune comes round without a pause


def fetch_music(
    call: Call, url: str | None
) -> tuple[Call, HoldMusic | None, tuple[FetchMedia, ...]]:
    """Ask for a tune, if there is an address; until it is there, the usual music is heard."""
    if url is None:
        return call, None, ()
    call, request = allocate_id(call, "p")
    return call, HoldMusic(request), (FetchMedia(request, (Audio(url),)),)


def next_loop(call: Call, tune: HoldMusic | None, event: Event) -> tuple[Call, HoldMusic | None]:
    """Begin a round when the tune is there, and another when one is over."""
    match event:
        case MediaFetched(request, clips) if tune and request == tune.request and clips:
            tune = replace(tune, clips=clips * MAX_CLIPS)
        case PlaybackEnded(playback, failed=False) if tune and playback == tune.playback:
            pass
        case PlaybackEnded(playback) if tune and playback == tune.playback:
            return call, replace(tune, playback="", clips=())  # it can't be played: usual music
        case _:
            return call, tune
    return _round(call, tune)


def restart_loop(call: Call, leg: str) -> Call:
    """Begin another round of the tune that a leg hears, if it hears one."""
    seat = desired_media(call).get(leg)
    if seat is None or not isinstance(seat.sound, HoldMusic):
        return call
    call, tune = _round(call, seat.sound)
    if call.transfer is not None:
        return with_transfer(call, replace(call.transfer, hold_music=tune))
    if call.conference is not None:
        return with_conference(call, replace(call.conference, hold_music=tune))
    return call


def _round(call: Call, tune: HoldMusic) -> tuple[Call, HoldMusic]:
    call, playback = allocate_id(call, "p")
    return call, replace(tune, playback=playback)
