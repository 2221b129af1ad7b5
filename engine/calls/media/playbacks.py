"""Which playbacks a call waits for: prompts of its legs, and rounds of tunes."""

from engine.calls.media.plan import desired_media
from engine.calls.model.call import Call
from engine.calls.model.sessions import HoldMusic
from engine.calls.model.state import CallState, Dialing, Gathering, Playing


def active_playback(call: Call) -> str | None:
    """Name the playback that a call waits for, if it does."""
    return _state_playback(call.state)


def _state_playback(doing: CallState) -> str | None:
    match doing:
        case Playing(request=request, clips=clips, suspended=False) if clips:
            return request
        case Gathering(phase="prompt", request=request, suspended=False):
            return request
        case _:
            return None


def active_prompts(call: Call) -> dict[str, int]:
    """Name the prompts that the main leg, or legs that are greeted, hear now, and their ends."""
    greetings = call.state.screenings if isinstance(call.state, Dialing) else ()
    found = (call.state, *(each.state for each in greetings))
    return {
        playback: doing.ends_ms
        for doing in found
        if isinstance(doing, (Playing, Gathering)) and (playback := _state_playback(doing))
    }


def awaited_playbacks(call: Call) -> tuple[str, ...]:
    """Name the playbacks whose end means something to a call: its prompt, and tunes."""
    return (*active_prompts(call), *(tune.playback for tune in playing_hold_music(call)))


def playing_hold_music(call: Call) -> list[HoldMusic]:
    """List the tunes of one's own that are heard."""
    return [
        seat.sound for seat in desired_media(call).values() if isinstance(seat.sound, HoldMusic)
    ]
