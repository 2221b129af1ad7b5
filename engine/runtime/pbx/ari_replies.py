"""Translates replies to ARI requests into call events."""

import msgspec

from engine.ari.request import NOT_FOUND, Reply
from engine.calls.model import causes
from engine.calls.model.commands import (
    AddToBridge,
    Answer,
    Dial,
    Hangup,
    Originate,
    PbxCommand,
    Play,
    Snoop,
    StartRinging,
    StartVoicemail,
)
from engine.calls.model.events import BridgeFailed, Event, LegEnded, PlaybackEnded, VoicemailEnded

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
