"""What a recovery does again: what was stored, may not have been done, and still matters."""

from engine.calls.media.plan import UNBRIDGED, desired_media
from engine.calls.media.playbacks import active_prompts, playing_hold_music
from engine.calls.model.call import Call, is_expected
from engine.calls.model.commands import (
    AddToBridge,
    Answer,
    Command,
    Dial,
    Originate,
    Play,
    RemoveFromBridge,
    Snoop,
    StartHoldMusic,
    StartRinging,
    StartVoicemail,
)
from engine.calls.model.io_commands import LoadFlow, LoadFlowNode, SendApiRequest
from engine.calls.model.state import AwaitingInstructions, RecordingVoicemail
from engine.calls.recovery.snapshot import PbxSnapshot


def active_voicemail(call: Call) -> str | None:
    """Name the message that is being recorded, if one is."""
    match call.state:
        case RecordingVoicemail(recording=tape, request=""):
            return tape
        case _:
            return None


def should_retry(command: Command, call: Call, seen: PbxSnapshot, now: int) -> bool:
    """Tell whether a command that was stored, and perhaps not done, is to be done now."""
    match command:
        case Originate(leg):
            is_made = leg in seen.channels or not _is_requested(call, leg)
            return not is_made and is_expected(call, leg)
        case Dial(leg):
            is_waiting = seen.channels.get(leg) == "Down" and leg not in seen.dialed
            return is_waiting and is_expected(call, leg)
        case Answer(leg):
            return seen.channels.get(leg) not in {None, "Up"}
        case RemoveFromBridge(bridge, leg):
            # What a leg hears outside comes after it, and a prompt would hold it up.
            is_inside = leg in seen.bridges.get(bridge, ())
            return is_inside and desired_media(call).get(leg, UNBRIDGED).bridge != bridge
        case AddToBridge():
            return False  # Recovered brings everybody to where they belong
        case SendApiRequest(request) | LoadFlow(request) | LoadFlowNode(request):
            # Whoever no longer waits for it has gone on: it would be filled in with other values.
            return isinstance(call.state, AwaitingInstructions) and call.state.request == request
        case _:
            return _is_still_heard(command, call, seen, now)


def _is_still_heard(command: Command, call: Call, seen: PbxSnapshot, now: int) -> bool:
    """Tell it of what somebody hears, or is heard by; anything else is due."""
    match command:
        case Play(playback=playback):
            wanted = now < active_prompts(call).get(playback, 0)
            wanted = wanted or any(tune.playback == playback for tune in playing_hold_music(call))
            return wanted and playback not in seen.playbacks
        case StartVoicemail(name=name):
            return active_voicemail(call) == name and name not in seen.voicemails
        case StartHoldMusic(leg) | StartRinging(leg):
            # Into a conversation it would be heard until its end is told, and for an outage if not.
            sound = "music" if isinstance(command, StartHoldMusic) else "ringing"
            return desired_media(call).get(leg, UNBRIDGED).sound == sound
        case Snoop(snoop):
            coaches = call.conference.members if call.conference else ()
            return snoop not in seen.channels and any(each.snoop == snoop for each in coaches)
        case _:
            return True


def _is_requested(call: Call, leg_id: str) -> bool:
    """Tell whether a leg may be made again: none was, so its party was not called."""
    leg = call.leg(leg_id)
    return leg is not None and leg.state == "requested"
