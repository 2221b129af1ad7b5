"""What a recovery does again: what was stored, may not have been done, and still matters."""

from engine.calls.media.plan import OUTSIDE, seats
from engine.calls.media.playbacks import prompts, tunes
from engine.calls.model.call import Call, expects
from engine.calls.model.commands import (
    Answer,
    Bridge,
    Command,
    Leave,
    Originate,
    Play,
    Ring,
    Snoop,
    StartMessage,
    StartMusic,
    StartRinging,
)
from engine.calls.model.io_commands import AskApi, LoadFlow, LoadNode
from engine.calls.model.state import Asking, Recording
from engine.calls.recovery.snapshot import Seen


def message_of(call: Call) -> str | None:
    """Name the message that is being recorded, if one is."""
    match call.doing:
        case Recording(tape=tape, request=""):
            return tape
        case _:
            return None


def is_still_due(command: Command, call: Call, seen: Seen, now: int) -> bool:
    """Tell whether a command that was stored, and perhaps not done, is to be done now."""
    match command:
        case Originate(leg):
            is_made = leg in seen.channels or not _is_requested(call, leg)
            return not is_made and expects(call, leg)
        case Ring(leg):
            is_waiting = seen.channels.get(leg) == "Down" and leg not in seen.called
            return is_waiting and expects(call, leg)
        case Answer(leg):
            return seen.channels.get(leg) not in {None, "Up"}
        case Leave(bridge, leg):
            # What a leg hears outside comes after it, and a prompt would hold it up.
            is_inside = leg in seen.bridges.get(bridge, ())
            return is_inside and seats(call).get(leg, OUTSIDE).bridge != bridge
        case Bridge():
            return False  # Recovered brings everybody to where they belong
        case AskApi(request) | LoadFlow(request) | LoadNode(request):
            # Whoever no longer waits for it has gone on: it would be filled in with other values.
            return isinstance(call.doing, Asking) and call.doing.request == request
        case _:
            return _is_still_heard(command, call, seen, now)


def _is_still_heard(command: Command, call: Call, seen: Seen, now: int) -> bool:
    """Tell it of what somebody hears, or is heard by; anything else is due."""
    match command:
        case Play(playback=playback):
            wanted = now < prompts(call).get(playback, 0)
            wanted = wanted or any(tune.playback == playback for tune in tunes(call))
            return wanted and playback not in seen.playbacks
        case StartMessage(name=name):
            return message_of(call) == name and name not in seen.messages
        case StartMusic(leg) | StartRinging(leg):
            # Into a conversation it would be heard until its end is told, and for an outage if not.
            sound = "music" if isinstance(command, StartMusic) else "ringing"
            return seats(call).get(leg, OUTSIDE).sound == sound
        case Snoop(snoop):
            coaches = call.conference.members if call.conference else ()
            return snoop not in seen.channels and any(each.snoop == snoop for each in coaches)
        case _:
            return True


def _is_requested(call: Call, leg_id: str) -> bool:
    """Tell whether a leg may be made again: none was, so its party was not called."""
    leg = call.leg(leg_id)
    return leg is not None and leg.state == "requested"
