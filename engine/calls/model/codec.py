"""How a call is stored: msgpack arrays, decoded back into valid values or refused.

What was stored by an earlier version is read: fields are added at the end only, with a default.
"""

from zlib import crc32

import msgspec
from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.commands import Command
from engine.calls.model.events import Event


class Record(Struct, frozen=True, array_like=True):
    """A call, what it wanted done when it was last committed (the outbox), and its log's length."""

    call: Call
    outbox: tuple[Command, ...] = ()
    logged: int = 0


class Entry(Struct, frozen=True, array_like=True):
    """One line of a call's log: an event and when the call took it, in wall-clock milliseconds.

    `digest` is of the commands that were decided upon it, in that `form`; 0: none was kept.
    """

    now: int
    event: Event
    digest: int = 0
    form: int = 0


# Of commands, as digests see them. Another number when a command's shape changes and its meaning
# does not: digests in an earlier form are not compared, as they would differ for nothing.
FORM = 1

encode = msgspec.msgpack.Encoder().encode


def digest_of(commands: tuple[Command, ...]) -> int:
    """Give 32 bits that differ when commands do: enough to find out, not to forge."""
    return crc32(encode(commands)) if commands else 0


def logged(now: int, event: Event, commands: tuple[Command, ...]) -> bytes:
    """Write a line of the log: what happened, when, and what was decided upon it."""
    return encode(Entry(now, event, digest_of(commands), FORM))


decode_record = msgspec.msgpack.Decoder(Record).decode
decode_entry = msgspec.msgpack.Decoder(Entry).decode
decode_call = msgspec.msgpack.Decoder(Call).decode
