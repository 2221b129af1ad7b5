"""From Asterisk's words to the core's: what the reply to a command means."""

import msgspec

from engine.ari.request import Reply
from engine.calls.model import causes
from engine.calls.model.commands import (
    Answer,
    Bridge,
    Originate,
    PbxCommand,
    Play,
    Ring,
    Snoop,
    StartMessage,
)
from engine.calls.model.events import BridgeFailed, Event, LegEnded, MessageEnded, PlaybackEnded

NOT_FOUND = 404
CONFLICT = 409


def event_from_reply(command: PbxCommand, reply: Reply) -> Event | None:
    """Say what a reply means to the call; None when all is well or an event will tell."""
    match command:
        case Snoop(leg) if not reply.ok:
            return LegEnded(leg, causes.TEMPORARY_FAILURE)
        case Originate(leg) if not reply.ok:
            # 409 too: once an id was refused, Asterisk says so of unknown endpoints.
            return LegEnded(leg, causes.TEMPORARY_FAILURE)
        case Ring(leg) if reply.status == NOT_FOUND:
            return LegEnded(leg, causes.TEMPORARY_FAILURE)
        case Play(playback=playback) if not reply.ok:
            return PlaybackEnded(playback, failed=True)
        case StartMessage(name=name) if not reply.ok:
            return MessageEnded(
                name, failed=reply.status != CONFLICT
            )  # known: it has been recorded
        case Answer(leg) if reply.status == NOT_FOUND:
            return LegEnded(leg, causes.NORMAL)
        case Bridge(bridge, legs) if not reply.ok:  # 409 here: a leg that can't be joined
            return BridgeFailed(bridge, _message(reply), legs)
        case _:
            return None


def _message(reply: Reply) -> str:
    try:
        said = msgspec.json.decode(reply.body, type=dict[str, str])
    except msgspec.DecodeError:
        said = {}
    return said.get("message") or said.get("error") or f"status {reply.status}"
