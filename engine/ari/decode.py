"""Decodes events and models; an event type unknown to this version is a value, not an error."""

from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import Struct

from engine.ari.generated.events import Message
from engine.ari.request import Reply

Model = TypeVar("Model")


class UnknownEvent(Struct, frozen=True):
    """An event of a newer Asterisk that this client has no type for."""

    type: str
    raw: bytes


class _EventType(Struct, frozen=True):
    type: str


_message: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
_event_type: msgspec.json.Decoder[_EventType] = msgspec.json.Decoder(_EventType)
_KNOWN = frozenset(shape.__struct_config__.tag for shape in Message.__args__)


def decode_event(data: bytes) -> Message | UnknownEvent:
    """Decode one message of the event websocket; raises msgspec.DecodeError."""
    try:
        return _message.decode(data)
    except msgspec.ValidationError:
        kind = _event_type.decode(data).type
        if kind in _KNOWN:
            raise
        return UnknownEvent(kind, data)


def decode(reply: Reply, kind: type[Model]) -> Model:
    """Decode a reply's body as the model of its operation; raises msgspec.DecodeError."""
    return msgspec.json.decode(reply.body, type=kind)


def timestamp_ms(timestamp: str) -> int:
    """Convert an event's timestamp to milliseconds since the epoch."""
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000)
