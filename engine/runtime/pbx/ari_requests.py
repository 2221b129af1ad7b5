"""Translates PBX commands into ARI requests, and replies into events."""

from collections.abc import Sequence

import msgspec

from engine.ari.generated.operations import bridges, channels, playbacks, recordings
from engine.ari.request import NOT_FOUND, Reply, Request
from engine.calls.model import causes
from engine.calls.model.commands import (
    AddToBridge,
    Answer,
    AnswerRefer,
    DestroyBridge,
    Dial,
    Hangup,
    Listen,
    Mute,
    Originate,
    PausePlayback,
    PbxCommand,
    Play,
    RemoveFromBridge,
    ReplacedLeg,
    ResetConverter,
    ResumePlayback,
    Snoop,
    StartHoldMusic,
    StartRinging,
    StartTalkDetection,
    StartVoicemail,
    StopHoldMusic,
    StopPlayback,
    StopRinging,
    StopTalkDetection,
    StopVoicemail,
    Unmute,
)
from engine.calls.model.events import BridgeFailed, Event, LegEnded, PlaybackEnded, VoicemailEnded
from engine.media.clip import LEAD_IN_MS, MAX_JOINED, MAX_JOINED_MS
from engine.runtime.pbx.endpoint_templates import EndpointTemplates
from engine.runtime.pbx.incoming_call_arguments import replacement_arguments
from wire.call_id_format import call_of, is_mixed_bridge, other_half
from wire.media import Clip

DIALED_VARIABLE = "SWITCHROOM_CALLED"  # marks a channel that was dialled: a second dial kills it
LEG_HEADER = "X-Switchroom-Leg"  # of an INVITE to a phone in a browser: its leg's channel
LEG_VARIABLE = "__SWITCHROOM_LEG"  # which the dialplan makes that header of
TALK_THRESHOLD = 256  # Asterisk's default, here and for AMD
RECORD_MARGIN_S = 1  # the call's own limit ends first; Asterisk's limit is the safety net
RING_MARGIN_S = 5  # the call's own deadline ends first; Asterisk's timeout is the safety net


SoundCommand = StartHoldMusic | StopHoldMusic | StartRinging | StopRinging
SingleRequestCommand = (
    Answer
    | Hangup
    | StopPlayback
    | PausePlayback
    | ResumePlayback
    | StopVoicemail
    | RemoveFromBridge
    | DestroyBridge
    | Mute
    | Unmute
    | AnswerRefer
    | SoundCommand
)


def requests_for(command: PbxCommand, endpoints: EndpointTemplates) -> tuple[Request, ...]:
    """Return the requests of a command, to be sent one after another."""
    match command:
        case Play():
            return (_play(command, endpoints),)
        case Originate():
            return (_create(command, endpoints),)
        case ResetConverter(leg):
            # Silence changes what is sent to the leg, and its end changes it back.
            return (channels.start_silence(leg), channels.stop_silence(leg))
        case StartTalkDetection(leg, silence_ms):
            return (_talk_detect(leg, "set", f"{silence_ms},{TALK_THRESHOLD}"),)
        case StopTalkDetection(leg):
            return (_talk_detect(leg, "remove", ""),)
        case Dial(leg, timeout_s):
            mark = channels.set_channel_var(leg, variable=DIALED_VARIABLE, value="1")
            return (mark, channels.dial(leg, timeout=timeout_s + RING_MARGIN_S))
        case AddToBridge(bridge, legs):
            add = bridges.add_channel(bridge, channel=list(legs))
            # A bridge for video always mixes audio, too; there is no other way to ask for it.
            kind = "mixing,video_sfu" if is_mixed_bridge(bridge) else "mixing"
            return (bridges.create_with_id(bridge, type=kind), add)
        case StartVoicemail():
            return _start_voicemail(command)
        case Snoop():
            return (_snoop(command, endpoints),)
        case _:
            return (_single_request(command),)


def _play(command: Play, endpoints: EndpointTemplates) -> Request:
    """Play files; with a lead-in those that begin within, or may pause (engine.media)."""
    offset_ms, media = command.offset_ms, []
    for place, file in enumerate(_files(command.clips)):
        has_lead_in = command.may_pause or (offset_ms > 0 and place == 0)
        name = f"{file}{'-lead-in' if has_lead_in else ''}"
        media.append(f"sound:{endpoints.media_url}/media/{name}.wav")
    offset = offset_ms + LEAD_IN_MS if offset_ms else None
    return channels.play_with_id(command.leg, command.playback, media=media, offsetms=offset)


def _files(clips: Sequence[Clip]) -> list[str]:
    """Return the names of the files that are played: different clips are one, if not too large."""
    keys = [each.key for each in clips]
    is_small = len(keys) <= MAX_JOINED and sum(each.duration_ms for each in clips) <= MAX_JOINED_MS
    return ["-".join(keys)] if is_small and len(set(keys)) > 1 else keys


def _playback_request(command: StopPlayback | PausePlayback | ResumePlayback) -> Request:
    match command:
        case StopPlayback(playback):
            return playbacks.stop(playback)
        case PausePlayback(playback):
            return playbacks.control(playback, operation="pause")
        case ResumePlayback(playback):
            return playbacks.control(playback, operation="unpause")


def _single_request(command: SingleRequestCommand) -> Request:
    match command:
        case Answer(leg):
            return channels.answer(leg)
        case Hangup(leg, cause):
            return channels.hangup(leg, reason_code=str(cause))
        case StopPlayback() | PausePlayback() | ResumePlayback():
            return _playback_request(command)
        case StopVoicemail(name):
            return recordings.stop(name)
        case RemoveFromBridge(bridge, leg):
            return bridges.remove_channel(bridge, channel=[leg])
        case DestroyBridge(bridge):
            return bridges.destroy(bridge)
        case Mute(leg, direction):
            return channels.mute(leg, direction=direction)
        case Unmute(leg, direction):
            return channels.unmute(leg, direction=direction)
        case AnswerRefer(leg):
            return channels.transfer_progress(leg, states=_transfer_state(command))
        case _:
            return _sound_request(command)


def _transfer_state(command: AnswerRefer) -> str:
    match command.outcome:
        case "in-progress":
            return "channel_progress"
        case "unavailable":
            return "channel_unavailable"
        case "":
            return "channel_answered" if command.accepted else "channel_declined"


def _sound_request(command: SoundCommand) -> Request:
    match command:
        case StartHoldMusic(leg):
            return channels.start_moh(leg)
        case StopHoldMusic(leg):
            return channels.stop_moh(leg)
        case StartRinging(leg):
            return channels.ring(leg)
        case StopRinging(leg):
            return channels.ring_stop(leg)


def _talk_detect(leg: str, action: str, value: str) -> Request:
    return channels.set_channel_var(leg, variable=f"TALK_DETECT({action})", value=value)


def _start_voicemail(command: StartVoicemail) -> tuple[Request, ...]:
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
    # Asterisk records an originated leg only after it has been in a bridge (measured).
    bridge = f"{command.leg}b"
    return (
        bridges.create_with_id(bridge, type="mixing"),
        bridges.add_channel(bridge, channel=[command.leg]),
        bridges.remove_channel(bridge, channel=[command.leg]),
        bridges.destroy(bridge),
        record,
    )


def _snoop(command: Snoop, endpoints: EndpointTemplates) -> Request:
    # The coach hears both directions of the leg; only the leg hears the coach.
    return channels.snoop_channel_with_id(
        command.leg,
        command.snoop,
        app=endpoints.app,
        spy=command.track if isinstance(command, Listen) else "both",
        whisper="none" if isinstance(command, Listen) else "out",
        app_args="called",
    )


def _create(command: Originate, endpoints: EndpointTemplates) -> Request:
    if command.replaces is not None:
        return _create_local(command.leg, command.replaces, endpoints)
    # A called phone shows its channel's connected line.
    variables = {"CONNECTEDLINE(num,i)": command.caller_id} if command.caller_id else {}
    if command.withheld:
        variables["CONNECTEDLINE(pres,i)"] = "prohib"
    elif endpoints.caller_name:
        variables["CONNECTEDLINE(name,i)"] = endpoints.caller_name
    endpoint = endpoints.endpoint(command.party)
    if endpoint.startswith("Local/"):
        return _create_by_dialplan(command.leg, endpoint, endpoints, variables)
    if endpoints.agent_gets_leg:
        variables[f"PJSIP_HEADER(add,{LEG_HEADER})"] = command.leg
    return channels.create(
        endpoint=endpoint,
        app=endpoints.app,
        app_args="called",
        channel_id=command.leg,
        originator=command.originator or None,  # one that has ended changes nothing
        variables=variables or None,
    )


def _create_by_dialplan(
    leg: str, endpoint: str, endpoints: EndpointTemplates, variables: dict[str, str]
) -> Request:
    # The dialplan calls all tabs of a phone, and passes the leg on in a header. G.711 on both
    # halves: so the leg's converter is its own, which the engine can reset.
    return channels.create(
        endpoint=endpoint,
        app=endpoints.app,
        app_args="called",
        channel_id=leg,
        other_channel_id=other_half(leg),
        formats="ulaw",
        variables={**variables, LEG_VARIABLE: leg},
    )


def _create_local(leg: str, replaced: ReplacedLeg, endpoints: EndpointTemplates) -> Request:
    # When the leg is dialled, its other half enters the dialplan with the leg's variables.
    return channels.create(
        endpoint="Local/s@switchroom-replaces/n",  # n: not optimized, each half stays in its call
        app=endpoints.app,
        app_args="called",
        channel_id=leg,
        other_channel_id=other_half(leg),
        formats="slin",  # by default Asterisk takes 192 kHz
        variables={"SWITCHROOM_REPLACES": replacement_arguments(replaced)},
    )


def may_block(command: PbxCommand) -> bool:
    """Return whether a command may wait behind a playback and so needs its own connection."""
    return isinstance(command, (AddToBridge, RemoveFromBridge, DestroyBridge))


def may_follow_at_once(command: PbxCommand, following: PbxCommand) -> bool:
    """Return whether the following command may be sent before the reply to this one.

    Asterisk keeps the order: docs/asterisk.md, "Prompts, moved and in bridges".
    """
    return isinstance(command, (StopPlayback, Mute, Unmute)) and isinstance(
        following, (StopPlayback, Mute, Unmute, Play)
    )


def is_pipelined(command: PbxCommand, *, keeps_order: bool) -> bool:
    """Return whether all requests are sent at once: half of them would leave a mark or bridge.

    Where requests may overtake, each waits for a reply: those of a voicemail build on each other,
    and a dial whose mark is lost would be repeated, which ends the leg.
    """
    return keeps_order and isinstance(command, (Dial, StartVoicemail))


def look_up_channel(leg: str) -> Request:
    """Return the request that precedes a repeated Originate, which follows a 404 only.

    A second one of the same id would be refused as if the leg had not been created, and Asterisk
    would not exit on SIGTERM any longer (docs/asterisk.md).
    """
    return channels.get(leg)


def continues_after(command: PbxCommand, reply: Reply) -> bool:
    """Return whether a command's next request is sent after this reply."""
    if isinstance(command, StartVoicemail):
        return reply.status != 0  # else its bridge would be left
    if isinstance(command, Originate):
        return reply.status == NOT_FOUND
    return reply.status in {200, 204, 409}


CONFLICT = 409
NOT_CREATED = causes.reason(causes.TEMPORARY_FAILURE)  # no endpoint or no contact


def event_from_reply(command: PbxCommand, reply: Reply) -> Event | None:
    """Return the call event for a reply; None on success, or when an ARI event will follow."""
    match command:
        case Snoop(leg) if not reply.ok:
            return LegEnded(leg, causes.TEMPORARY_FAILURE)
        case Originate(leg) if not reply.ok:
            # Including 409: after a rejected id Asterisk answers it for unknown endpoints.
            return LegEnded(leg, causes.TEMPORARY_FAILURE, reason=NOT_CREATED)
        case Dial(leg) if reply.status == NOT_FOUND:
            return LegEnded(leg, causes.TEMPORARY_FAILURE)
        case Play(playback=playback) if not reply.ok:
            return PlaybackEnded(playback, failed=True)
        case StartVoicemail(name=name) if not reply.ok:
            return VoicemailEnded(
                name, failed=reply.status != CONFLICT
            )  # conflict: it has been recorded
        case Answer(leg) | StartRinging(leg) | Hangup(leg, is_repeated=True) if (
            reply.status == NOT_FOUND
        ):
            return LegEnded(leg, causes.NORMAL)
        case AddToBridge(bridge, legs) if not reply.ok:  # including 409: a leg that cannot be added
            return BridgeFailed(bridge, _message(reply), legs)
        case _:
            return None


def _message(reply: Reply) -> str:
    try:
        fields = msgspec.json.decode(reply.body, type=dict[str, str])
    except msgspec.DecodeError:
        fields = {}
    return fields.get("message") or fields.get("error") or f"status {reply.status}"
