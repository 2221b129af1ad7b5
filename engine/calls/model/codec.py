"""How a call is stored: msgpack arrays, decoded back into valid values or refused.

What was stored by an earlier version is read: fields are added at the end only, with a default.
"""

from zlib import crc32

import msgspec
from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.commands import Command
from engine.calls.model.events import Event


class StoredCall(Struct, frozen=True, array_like=True):
    """A call, what it wanted done when it was last committed (the outbox), and its log's length."""

    call: Call
    outbox: tuple[Command, ...] = ()
    log_length: int = 0


class LogEntry(Struct, frozen=True, array_like=True):
    """One line of a call's log: an event and when the call took it, in wall-clock milliseconds.

    `digest` is of the commands that were decided upon it, in that `form`; 0: none was kept.
    """

    now: int
    event: Event
    digest: int = 0
    form: int = 0


# Of commands, as digests see them. Another number when a command's shape changes and its meaning
# does not: digests in an earlier form are not compared, as they would differ for nothing.
DIGEST_FORM = 1

encode = msgspec.msgpack.Encoder().encode


def digest_of(commands: tuple[Command, ...]) -> int:
    """Give 32 bits that differ when commands do: enough to find out, not to forge."""
    return crc32(encode(commands)) if commands else 0


def encode_log_entry(now: int, event: Event, commands: tuple[Command, ...]) -> bytes:
    """Write a line of the log: what happened, when, and what was decided upon it."""
    return encode(LogEntry(now, event, digest_of(commands), DIGEST_FORM))


decode_stored_call = msgspec.msgpack.Decoder(StoredCall).decode
decode_log_entry = msgspec.msgpack.Decoder(LogEntry).decode
decode_call = msgspec.msgpack.Decoder(Call).decode
