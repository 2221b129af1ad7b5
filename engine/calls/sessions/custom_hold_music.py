"""Custom music on hold: fetched once, then looped until no leg waits."""

from msgspec.structs import replace

from engine.calls.media.plan import UNBRIDGED, desired_media
from engine.calls.model.call import Call, allocate_id, with_conference, with_transfer
from engine.calls.model.call_states import ClosingState
from engine.calls.model.commands import EmitEvent
from engine.calls.model.events import Event, PlaybackEnded
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.sessions import HoldMusic
from engine.calls.verbs.media_faults import emit_faults
from engine.calls.verbs.suspendable_playback import MAX_CLIPS
from wire.media import Audio


def fetch_music(
    call: Call, url: str | None
) -> tuple[Call, HoldMusic | None, tuple[FetchMedia, ...]]:
    """Fetch the music at a URL, if given; until then the default music plays."""
    if url is None:
        return call, None, ()
    call, request = allocate_id(call, "p")
    return call, HoldMusic(request), (FetchMedia(request, (Audio(url),)),)


def next_loop(
    call: Call, music: HoldMusic | None, event: Event, now: int
) -> tuple[Call, HoldMusic | None, tuple[EmitEvent, ...]]:
    """Start a loop when the music has arrived, and the next one when a loop has ended.

    Music that cannot be fetched is reported; the default music goes on.
    """
    match event:
        case MediaFetched(request, clips=()) if music and request == music.request:
            call, reports = emit_faults(call, call.main, event.failed, now)
            return call, music, reports
        case MediaFetched(request, clips) if music and request == music.request:
            music = replace(music, clips=clips * MAX_CLIPS)
        case PlaybackEnded(playback, failed=False) if music and playback == music.playback:
            pass
        case PlaybackEnded(playback) if music and playback == music.playback:
            return call, replace(music, playback="", clips=()), ()  # its leg may have ended
        case _:
            return call, music, ()
    return (*_start_loop(call, music), ())


def restart_loop(call: Call, leg: str) -> Call:
    """Restart the custom music that a leg hears, if any."""
    media = desired_media(call).get(leg)
    if media is None or not isinstance(media.sound, HoldMusic):
        return call
    return _restart(call, media.sound)


def renew_stopped_loops(before: Call, after: Call) -> Call:
    """Restart the music that a leg has ceased to hear, as the PBX plays each playback once.

    The next leg that waits may begin to hear it before the end of the old playback is reported.
    """
    sessions = (after.transfer, after.conference)
    if isinstance(after.state, ClosingState) or not any(s and s.hold_music for s in sessions):
        return after
    media = desired_media(after)
    for leg, old in desired_media(before).items():
        is_stopped = media.get(leg, UNBRIDGED).sound != old.sound
        if is_stopped and isinstance(old.sound, HoldMusic):
            after = _restart(after, old.sound)
    return after


def _restart(call: Call, music: HoldMusic) -> Call:
    """Restart music in the session that it belongs to, if that is not over."""
    transfer, conference = call.transfer, call.conference
    if transfer is not None and transfer.hold_music == music:
        call, music = _start_loop(call, music)
        return with_transfer(call, replace(transfer, hold_music=music))
    if conference is not None and conference.hold_music == music:
        call, music = _start_loop(call, music)
        return with_conference(call, replace(conference, hold_music=music))
    return call


def _start_loop(call: Call, music: HoldMusic) -> tuple[Call, HoldMusic]:
    call, playback = allocate_id(call, "p")
    return call, replace(music, playback=playback)
