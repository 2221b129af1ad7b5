"""From bytes to events and models; an event this version does not know is a value, not an error."""

from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import Struct

from engine.ari.generated.events import Message
from engine.ari.request import Reply

Model = TypeVar("Model")


class UnknownEvent(Struct, frozen=True):
    """An event that a newer Asterisk sends and this client has no shape for."""

    type: str
    raw: bytes


class _Typed(Struct, frozen=True):
    type: str


_messages: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
_typed: msgspec.json.Decoder[_Typed] = msgspec.json.Decoder(_Typed)
_KNOWN = frozenset(shape.__struct_config__.tag for shape in Message.__args__)


def decode_event(data: bytes) -> Message | UnknownEvent:
    """Decode one message of the events' websocket; raises msgspec.DecodeError on a broken one."""
    try:
        return _messages.decode(data)
    except msgspec.ValidationError:
        kind = _typed.decode(data).type
        if kind in _KNOWN:
            raise
        return UnknownEvent(kind, data)


def decode(reply: Reply, kind: type[Model]) -> Model:
    """Decode a reply's body as the model its operation promises; raises msgspec.DecodeError."""
    return msgspec.json.decode(reply.body, type=kind)


def timestamp_ms(timestamp: str) -> int:
    """Turn an event's timestamp into milliseconds since the epoch."""
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000)
