"""How a call is stored: msgpack arrays, decoded back into valid values or refused."""

import msgspec
from msgspec import Struct

from engine.calls.call import Call
from engine.calls.commands import Command
from engine.calls.events import Event


class Record(Struct, frozen=True, array_like=True):
    """A call, what it wanted done when it was last committed (the outbox), and its log's length."""

    call: Call
    outbox: tuple[Command, ...] = ()
    logged: int = 0


class Entry(Struct, frozen=True, array_like=True):
    """One line of a call's log: an event and when the call took it, in wall-clock milliseconds."""

    now: int
    event: Event


encode = msgspec.msgpack.Encoder().encode
decode_record = msgspec.msgpack.Decoder(Record).decode
decode_entry = msgspec.msgpack.Decoder(Entry).decode
decode_call = msgspec.msgpack.Decoder(Call).decode
