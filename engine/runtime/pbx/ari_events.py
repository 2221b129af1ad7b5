"""From Asterisk's words to the core's: which call an ARI event is for, and what happened to it.

Measured on Asterisk 22.10.1 (docs/asterisk.md): a leg that came in ends with StasisEnd and nothing
after it, and so does a snoop; a leg that we made ends with ChannelDestroyed, which alone tells the
cause.
"""

import re

from engine.ari.decode import timestamp_ms
from engine.ari.generated.events import (
    ChannelDestroyed,
    ChannelDtmfReceived,
    ChannelStateChange,
    ChannelTalkingFinished,
    ChannelTalkingStarted,
    ChannelTransfer,
    PlaybackFinished,
    RecordingFailed,
    RecordingFinished,
    StasisEnd,
    StasisStart,
)
from engine.ari.generated.events import Event as AriEvent
from engine.calls.model import causes
from engine.calls.model.events import (
    DigitPressed,
    Event,
    LegAnswered,
    LegEnded,
    LegPlaced,
    LegRang,
    MessageEnded,
    PlaybackEnded,
    TalkEnded,
    TalkStarted,
)
from engine.calls.model.ids import call_of
from engine.calls.model.recording import read_name
from engine.calls.model.requests import TransferReferred
from wire.patterns import NUMBER

SNOOP_ID = r"\.s[0-9]+\Z"


def subject_id(event: AriEvent) -> str | None:
    """Name the channel or playback that an event is about; None when it concerns no call."""
    match event:
        case PlaybackFinished(playback=playback):
            return playback.id
        case (
            ChannelDtmfReceived(channel=channel)
            | StasisEnd(channel=channel)
            | ChannelStateChange(channel=channel)
            | ChannelDestroyed(channel=channel)
            | StasisStart(channel=channel)
            | ChannelTalkingStarted(channel=channel)
            | ChannelTalkingFinished(channel=channel)
        ):
            return channel.id
        case ChannelTransfer(referred_by=by):
            return by.source_channel.id
        case RecordingFinished(recording=recording) | RecordingFailed(recording=recording):
            tape = read_name(recording.name)
            return tape.id if tape else None
        case _:
            return None


def translate(event: AriEvent, now: int) -> Event | None:
    """Say what an event means to its call; None when it means nothing. `now` in milliseconds."""
    match event:
        case ChannelDtmfReceived(channel=channel, digit=digit, duration_ms=held_ms):
            told_ms = timestamp_ms(event.timestamp)
            return DigitPressed(channel.id, digit, now - held_ms, held_ms, told_ms)
        case ChannelTransfer(state=None):  # with one it tells what we have answered
            return _referred(event)
        case ChannelStateChange(channel=channel):
            return _state(channel.id, channel.state)
        case StasisStart(channel=channel):
            return LegPlaced(channel.id) if is_engine_channel(channel.id) else None
        case StasisEnd(channel=channel):
            is_last = not is_engine_channel(channel.id) or re.search(SNOOP_ID, channel.id)
            return LegEnded(channel.id, causes.NORMAL) if is_last else None
        case ChannelDestroyed(channel=channel, cause=cause, tech_cause=sip):
            return LegEnded(channel.id, cause or causes.NORMAL, sip or 0)
        case _:
            return _of_sound(event)


def _of_sound(event: AriEvent) -> Event | None:
    match event:
        case PlaybackFinished(playback=playback):
            return PlaybackEnded(playback.id, playback.state == "failed")
        case RecordingFinished(recording=recording):
            return MessageEnded(recording.name)
        case RecordingFailed(recording=recording):
            return MessageEnded(recording.name, failed=True)
        case ChannelTalkingStarted(channel=channel):
            return TalkStarted(channel.id)
        case ChannelTalkingFinished(channel=channel, duration=duration_ms):
            return TalkEnded(channel.id, duration_ms)
        case _:
            return None


def is_engine_channel(channel_id: str) -> bool:
    """Tell whether we chose a channel's id, so that we called it."""
    return call_of(channel_id) is not None


def _referred(event: ChannelTransfer) -> TransferReferred:
    """Read a REFER; Asterisk gives the Call-ID of a Replaces as its protocol_id."""
    wanted = event.refer_to.requested_destination
    number = wanted.destination or ""
    return TransferReferred(
        leg=event.referred_by.source_channel.id,
        party=number if re.search(NUMBER, number) else "",
        replaces=wanted.protocol_id is not None,
    )


def _state(channel_id: str, state: str) -> Event | None:
    match state:
        case "Ringing":
            return LegRang(channel_id)
        case "Up":
            return LegAnswered(channel_id)
        case _:
            return None
