"""The playbacks whose end a call waits for: prompts of its legs, and hold music."""

from engine.calls.media.plan import desired_media
from engine.calls.model.call import Call
from engine.calls.model.call_states import Dialing
from engine.calls.model.sessions import HoldMusic


def active_playback(call: Call) -> str | None:
    """Return the playback that the call's state waits for, if any."""
    prompt = call.state.active_prompt
    return prompt[0] if prompt is not None else None


def active_prompts(call: Call) -> dict[str, int]:
    """Return the end time of each prompt that the main leg, or a screened leg, hears now."""
    screenings = call.state.screenings if isinstance(call.state, Dialing) else ()
    states = (call.state, *(each.state for each in screenings))
    return dict(prompt for state in states if (prompt := state.active_prompt) is not None)


def awaited_playbacks(call: Call) -> tuple[str, ...]:
    """Return the playbacks whose end the call handles: prompts and custom hold music."""
    return (*active_prompts(call), *(music.playback for music in playing_hold_music(call)))


def playing_hold_music(call: Call) -> list[HoldMusic]:
    """Return the custom hold music that legs hear now."""
    return [
        media.sound for media in desired_media(call).values() if isinstance(media.sound, HoldMusic)
    ]
