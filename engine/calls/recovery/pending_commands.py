"""Decides which pending commands a recovery executes: stored, perhaps not done, still needed."""

from engine.calls.media.awaited_playbacks import active_prompts, playing_hold_music
from engine.calls.media.plan import UNBRIDGED, desired_media, required_bridges
from engine.calls.model.call import Call, is_expected
from engine.calls.model.call_states import AwaitingInstructions, Bridged
from engine.calls.model.commands import (
    AddToBridge,
    Answer,
    Command,
    DestroyBridge,
    Dial,
    Originate,
    PausePlayback,
    Play,
    RemoveFromBridge,
    Snoop,
    StartHoldMusic,
    StartRecording,
    StartRinging,
    StartVoicemail,
    StopRecording,
)
from engine.calls.model.io_commands import LoadFlow, LoadFlowNode, SendApiRequest
from engine.calls.model.stream_commands import SendToStream, StartStream
from engine.calls.recovery.pbx_snapshot import PbxSnapshot


def should_retry(command: Command, call: Call, snapshot: PbxSnapshot, now: int) -> bool:
    """Return whether a stored command that may not be done is still to be executed."""
    match command:
        case Originate(leg):
            exists = leg in snapshot.channels or not _is_requested(call, leg)
            return not exists and is_expected(call, leg)
        case Dial(leg):
            is_waiting = snapshot.channels.get(leg) == "Down" and leg not in snapshot.dialed
            return is_waiting and is_expected(call, leg)
        case Answer(leg):
            return snapshot.channels.get(leg) not in {None, "Up"}
        case RemoveFromBridge(bridge, leg):
            # Executed before the leg's next sound; a prompt would delay it.
            is_bridged = leg in snapshot.bridges.get(bridge, ())
            return is_bridged and desired_media(call).get(leg, UNBRIDGED).bridge != bridge
        case DestroyBridge(bridge):
            return bridge not in required_bridges(call)  # a stream comes back to its bridge
        case AddToBridge():
            return False  # the Recovered event restores all bridges
        case SendApiRequest(request) | LoadFlow(request) | LoadFlowNode(request):
            # A call that has gone on would fill in other values.
            return _awaited_request(call) == request
        case _:
            return _is_still_needed(command, call, snapshot, now)


def is_stopped(command: Command, outbox: tuple[Command, ...]) -> bool:
    """Return whether a recording is to be started that is also to be stopped.

    If it was started before the outage, another start would overwrite its file.
    """
    if not isinstance(command, StartRecording):
        return False
    return StopRecording(command.leg, command.name) in outbox


def _is_still_needed(command: Command, call: Call, snapshot: PbxSnapshot, now: int) -> bool:
    """Return whether a sound or snoop is still needed; other commands always are."""
    match command:
        case Play(playback=playback):
            ends_ms = active_prompts(call).get(playback)
            is_prompt = ends_ms is not None and (playback in snapshot.unsent or now < ends_ms)
            is_music = any(each.playback == playback for each in playing_hold_music(call))
            return (is_prompt or is_music) and playback not in snapshot.playbacks
        case PausePlayback(playback=playback):
            return playback == call.state.paused_prompt
        case StartVoicemail(name=name):
            return call.state.active_voicemail == name and name not in snapshot.voicemails
        case StartHoldMusic(leg) | StartRinging(leg):
            # Else it would be heard inside a conversation until its stop, or for a whole outage.
            sound = "music" if isinstance(command, StartHoldMusic) else "ringing"
            return desired_media(call).get(leg, UNBRIDGED).sound == sound
        case StartStream(stream) | SendToStream(stream):
            found = call.stream(stream)
            return found is not None and not found.is_lost
        case Snoop(snoop):
            members = call.conference.members if call.conference else ()
            wanted = {each.snoop for each in members} | {each.snoop for each in call.streams}
            return snoop not in snapshot.channels and snoop in wanted
        case _:
            return True


def _awaited_request(call: Call) -> str | None:
    """Return the request that a call waits for, perhaps during a conversation."""
    state = call.state.awaiting if isinstance(call.state, Bridged) else call.state
    return state.request if isinstance(state, AwaitingInstructions) else None


def _is_requested(call: Call, leg_id: str) -> bool:
    """Return whether a leg may be originated again: its channel never existed."""
    leg = call.leg(leg_id)
    return leg is not None and leg.state == "requested"
