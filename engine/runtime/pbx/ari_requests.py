"""From the core's words to Asterisk's: what a command asks for."""

from collections.abc import Callable

from engine.ari.generated.operations import bridges, channels, playbacks, recordings
from engine.ari.request import Request
from engine.calls.model.commands import (
    Answer,
    AnswerReferral,
    Bridge,
    DestroyBridge,
    DetectTalk,
    EndDetection,
    Hangup,
    Leave,
    Mute,
    Originate,
    PbxCommand,
    Play,
    Ring,
    Snoop,
    StartMessage,
    StartMusic,
    StartRinging,
    StopMessage,
    StopMusic,
    StopPlayback,
    StopRinging,
    Unmute,
)
from engine.calls.model.ids import call_of
from engine.runtime.pbx.endpoints import EndpointTemplates

DIALED_VARIABLE = (
    "SWITCHROOM_CALLED"  # on a channel whose party was called, as a second call kills it
)
TALK_THRESHOLD = 256  # Asterisk's default, here and for AMD
RECORD_MARGIN_S = 1  # the call's own limit comes first, Asterisk's is the safety net
RING_MARGIN_S = 5  # the call's own deadline comes first, Asterisk's is the safety net


SoundCommand = StartMusic | StopMusic | StartRinging | StopRinging
SingleRequestCommand = (
    Answer
    | Hangup
    | StopPlayback
    | StopMessage
    | Leave
    | DestroyBridge
    | Mute
    | Unmute
    | AnswerReferral
    | SoundCommand
)


def requests_for(command: PbxCommand, plan: EndpointTemplates) -> tuple[Request, ...]:
    """Give the requests that do a command, to be sent one after another."""
    match command:
        case Play(leg, playback, clips, offset_ms):
            media = [f"sound:{plan.media_url}/media/{clip.key}.wav" for clip in clips]
            offset = offset_ms or None
            return (channels.play_with_id(leg, playback, media=media, offsetms=offset),)
        case Originate():
            return (_create(command, plan),)
        case DetectTalk(leg, silence_ms):
            return (_talk_detect(leg, "set", f"{silence_ms},{TALK_THRESHOLD}"),)
        case EndDetection(leg):
            return (_talk_detect(leg, "remove", ""),)
        case Ring(leg, timeout_s):
            marked = channels.set_channel_var(leg, variable=DIALED_VARIABLE, value="1")
            return (marked, channels.dial(leg, timeout=timeout_s + RING_MARGIN_S))
        case Bridge(bridge, legs):
            joined = bridges.add_channel(bridge, channel=list(legs))
            return (bridges.create_with_id(bridge, type="mixing"), joined)
        case StartMessage():
            return _recording(command)
        case Snoop(snoop, leg):
            return (_coaching(leg, snoop, plan),)
        case _:
            return (_single(command),)


def _single(command: SingleRequestCommand) -> Request:
    match command:
        case Answer(leg):
            return channels.answer(leg)
        case Hangup(leg, cause):
            return channels.hangup(leg, reason_code=str(cause))
        case StopPlayback(playback):
            return playbacks.stop(playback)
        case StopMessage(name):
            return recordings.stop(name)
        case Leave(bridge, leg):
            return bridges.remove_channel(bridge, channel=[leg])
        case DestroyBridge(bridge):
            return bridges.destroy(bridge)
        case Mute(leg, direction):
            return channels.mute(leg, direction=direction)
        case Unmute(leg, direction):
            return channels.unmute(leg, direction=direction)
        case AnswerReferral(leg, accepted):
            state = "channel_answered" if accepted else "channel_declined"
            return channels.transfer_progress(leg, states=state)
        case _:
            return _SOUNDS[type(command)](command.leg)


def _talk_detect(leg: str, what: str, value: str) -> Request:
    return channels.set_channel_var(leg, variable=f"TALK_DETECT({what})", value=value)


_SOUNDS: dict[type, Callable[[str], Request]] = {
    StartMusic: channels.start_moh,
    StopMusic: channels.stop_moh,
    StartRinging: channels.ring,
    StopRinging: channels.ring_stop,
}


def _recording(command: StartMessage) -> tuple[Request, ...]:
    terminator = command.terminator
    record = channels.record(
        command.leg,
        name=command.name,
        format="sln",
        max_duration_seconds=command.longest_s + RECORD_MARGIN_S,
        max_silence_seconds=command.silence_s,
        if_exists="fail",
        terminate_on="#" if terminator == "#" else "*" if terminator == "*" else "none",
    )
    if call_of(command.leg) is None:
        return (record,)
    # A leg that we called is recorded only after it has been in a bridge of ours (measured).
    room = f"{command.leg}b"
    return (
        bridges.create_with_id(room, type="mixing"),
        bridges.add_channel(room, channel=[command.leg]),
        bridges.remove_channel(room, channel=[command.leg]),
        bridges.destroy(room),
        record,
    )


def _coaching(leg: str, snoop: str, plan: EndpointTemplates) -> Request:
    # A coach hears all that the other says and hears; what the coach says, the other alone hears.
    return channels.snoop_channel_with_id(
        leg, snoop, app=plan.app, spy="both", whisper="out", app_args="called"
    )


def _create(command: Originate, plan: EndpointTemplates) -> Request:
    # What a called phone shows is, to its channel, the line it is connected to.
    shown = {"CONNECTEDLINE(num,i)": command.caller_id} if command.caller_id else None
    return channels.create(
        endpoint=plan.endpoint(command.party),
        app=plan.app,
        app_args="called",
        channel_id=command.leg,
        variables=shown,
    )


def may_block(command: PbxCommand) -> bool:
    """Tell what must not share a lane with others: it waits behind a playback (design fact 2)."""
    return isinstance(command, (Bridge, Leave, DestroyBridge))


def is_pipelined(command: PbxCommand) -> bool:
    """Tell what is sent without waiting in between: half of it would leave a mark, or a bridge."""
    return isinstance(command, (Ring, StartMessage))
