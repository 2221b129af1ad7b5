"""Translates ARI events into call events.

Measured on Asterisk 22.10.1 (docs/asterisk.md): an inbound leg and a snoop end with StasisEnd and
nothing after it; a leg that we originated ends with ChannelDestroyed, the only event with the
cause. If an inbound leg fails, a ChannelHangupRequest before its StasisEnd has the cause.
"""

import re

from engine.ari.events import timestamp_ms
from engine.ari.generated.events import (
    ChannelDestroyed,
    ChannelDtmfReceived,
    ChannelHangupRequest,
    ChannelHold,
    ChannelStateChange,
    ChannelTalkingFinished,
    ChannelTalkingStarted,
    ChannelTransfer,
    ChannelUnhold,
    PlaybackFinished,
    RecordingFailed,
    RecordingFinished,
    StasisEnd,
    StasisStart,
)
from engine.ari.generated.events import Event as AriEvent
from engine.ari.generated.models import Channel
from engine.calls.model import causes
from engine.calls.model.events import (
    DigitPressed,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegHeldByPhone,
    LegResumedByPhone,
    LegRinging,
    PlaybackEnded,
    TalkEnded,
    TalkStarted,
    VoicemailEnded,
)
from engine.calls.model.recording import parse_recording_name
from engine.calls.model.requests import ReferReceived
from wire.call_id_format import call_of
from wire.decoding.patterns import NAME, NUMBER

DEVICE_LOST = 1  # Asterisk's AST_SOFTHANGUP_DEV
# What Asterisk's cause with a SIP status means, where its cause alone would be misread.
MEANT = {
    (causes.INTERWORKING, 607): causes.REJECTED,  # unwanted, RFC 8197; Asterisk does not know it
    (causes.INTERWORKING, 608): causes.REJECTED,  # RFC 8688
    (causes.INTERWORKING, 406): causes.BEARER_UNAVAILABLE,  # also of an answer without SDP
    (causes.NORMAL, 408): causes.NO_USER_RESPONSE,  # of a leg in a bridge: 18 outside
    (causes.NO_ANSWER, 483): causes.ROUTING_LOOP,
}
# What may end an answered leg; Asterisk derives other statuses from the Reason of a BYE.
FAILED_AFTER_ANSWER = (406, 408, 481, 488)
REQUEST_TERMINATED = 487  # the SIP response to an INVITE that its caller has canceled
PEERS = "PJSIP/peers"  # a leg to the phone of another node
MOVED_TEMPORARILY = 302
REDIRECTIONS = range(300, 400)
SNOOP_ID = r"\.s[0-9]+\Z"


def subject_id(event: AriEvent) -> str | None:
    """Return the id of the channel or playback that an event is about; None: of no call."""
    match event:
        case PlaybackFinished(playback=playback):
            return playback.id
        case (
            ChannelDtmfReceived(channel=channel)
            | StasisEnd(channel=channel)
            | ChannelStateChange(channel=channel)
            | ChannelDestroyed(channel=channel)
            | ChannelHangupRequest(channel=channel)
            | StasisStart(channel=channel)
            | ChannelHold(channel=channel)
            | ChannelUnhold(channel=channel)
            | ChannelTalkingStarted(channel=channel)
            | ChannelTalkingFinished(channel=channel)
        ):
            return channel.id
        case ChannelTransfer(referred_by=by):
            return by.source_channel.id
        case RecordingFinished(recording=recording) | RecordingFailed(recording=recording):
            name = parse_recording_name(recording.name)
            return name.id if name else None
        case _:
            return None


def translate(event: AriEvent, now: int) -> Event | None:
    """Return the call event for an ARI event, if there is one; `now`: when it arrived, in ms."""
    match event:
        case ChannelDtmfReceived(channel=channel, digit=digit, duration_ms=held_ms):
            pbx_ms = timestamp_ms(event.timestamp)
            return DigitPressed(channel.id, digit, now - held_ms, held_ms, pbx_ms)
        case ChannelTransfer(state=None):  # with a state it reports our own answer
            return _refer_event(event)
        case ChannelStateChange(channel=channel):
            return _state_event(channel.id, channel.state)
        case StasisStart(channel=channel):
            return LegCreated(channel.id) if is_engine_channel(channel.id) else None
        case ChannelHangupRequest(channel=channel) if not is_engine_channel(channel.id):
            return _failed_event(event)
        case StasisEnd(channel=channel):
            is_last = not is_engine_channel(channel.id) or re.search(SNOOP_ID, channel.id)
            return LegEnded(channel.id, causes.NORMAL) if is_last else None
        case ChannelDestroyed():
            return _destroyed_event(event)
        case _:
            return _sound_event(event)


def _sound_event(event: AriEvent) -> Event | None:
    match event:
        case PlaybackFinished(playback=playback):
            return PlaybackEnded(playback.id, playback.state == "failed")
        case RecordingFinished(recording=recording):
            return VoicemailEnded(recording.name)
        case RecordingFailed(recording=recording):
            return VoicemailEnded(recording.name, failed=True)
        case ChannelTalkingStarted(channel=channel):
            return TalkStarted(channel.id)
        case ChannelTalkingFinished(channel=channel, duration=duration_ms):
            return TalkEnded(channel.id, duration_ms)
        case ChannelHold(channel=channel):
            return LegHeldByPhone(channel.id)
        case ChannelUnhold(channel=channel):
            return LegResumedByPhone(channel.id)
        case _:
            return None


def is_engine_channel(channel_id: str) -> bool:
    """Return whether the engine chose the channel's id, so that it originated the channel."""
    return call_of(channel_id) is not None


def _failed_event(event: ChannelHangupRequest) -> LegEnded | None:
    """Return the end of an inbound leg that failed; the StasisEnd that follows has no cause.

    A `soft` request has the reason of the request as its cause: Asterisk's RTP timeout makes one
    for a lost device. Another request has a cause only if the SIP session failed, or with CANCEL.
    """
    if event.soft:
        is_lost = event.cause == DEVICE_LOST
        return LegEnded(event.channel.id, causes.CHANNEL_UNAVAILABLE) if is_lost else None
    if event.cause in {None, 0, causes.NORMAL} or event.tech_cause == REQUEST_TERMINATED:
        return None
    return _ended(event.channel, event.cause or 0, event.tech_cause or 0)


def _destroyed_event(event: ChannelDestroyed) -> LegEnded:
    """Return the end of a leg, with the cause that its party meant.

    The dialplan of another node passes the 302 of a phone on as 22: 23 would be 480 in SIP.
    """
    channel, cause, sip = event.channel, event.cause or causes.NORMAL, event.tech_cause or 0
    if sip in REDIRECTIONS:  # only of 301 and 302 Asterisk has this cause
        return LegEnded(channel.id, causes.REDIRECTED, sip)
    if cause == causes.NUMBER_CHANGED and channel.name.rpartition("-")[0] == PEERS:
        return LegEnded(channel.id, causes.REDIRECTED, MOVED_TEMPORARILY)
    return _ended(channel, cause, sip)


def _ended(channel: Channel, cause: int, sip: int) -> LegEnded:
    if channel.state == "Up" and sip not in FAILED_AFTER_ANSWER:
        sip = 0  # no party has sent it
    return LegEnded(channel.id, MEANT.get((cause, sip), cause), sip)


def _refer_event(event: ChannelTransfer) -> ReferReceived:
    """Read a REFER, to a number or to what may be the name of an agent.

    Asterisk reports the Call-ID of a Replaces as its protocol_id.
    """
    destination, replaced = event.refer_to.requested_destination, event.refer_to.destination_channel
    target, replaces = destination.destination or "", destination.protocol_id is not None
    return ReferReceived(
        leg=event.referred_by.source_channel.id,
        party=target if re.search(f"{NUMBER}|{NAME}", target) else "",
        replaces=replaces,
        replaced=replaced.id if replaces and replaced else "",
        replaced_app=stasis_app(replaced) if replaces and replaced else "",
    )


def stasis_app(channel: Channel) -> str:
    """Return the Stasis app that a channel is in; empty if it is in none."""
    is_here = channel.dialplan.app_name == "Stasis"
    return channel.dialplan.app_data.partition(",")[0] if is_here else ""


def stasis_arguments(channel: Channel) -> list[str]:
    """Return the arguments after the app with which a channel has entered it."""
    return channel.dialplan.app_data.split(",")[1:]


def _state_event(channel_id: str, state: str) -> Event | None:
    match state:
        case "Ringing":
            return LegRinging(channel_id)
        case "Up":
            return LegAnswered(channel_id)
        case _:
            return None
