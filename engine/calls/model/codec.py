"""Storage format of calls and their logs: msgpack arrays, validated when they are decoded.

Data of earlier versions stays readable: fields are only added at the end, with a default.
"""

from zlib import crc32

import msgspec
from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.commands import Command
from engine.calls.model.events import Event


class StoredCall(Struct, frozen=True, array_like=True):
    """A call, the commands of its last commit (the outbox), and the length of its log."""

    call: Call
    outbox: tuple[Command, ...] = ()
    log_length: int = 0


class LogEntry(Struct, frozen=True, array_like=True):
    """One line of a call's log: an event and when it was applied, in wall-clock milliseconds.

    `digest` is of the commands that the event led to, encoded in that `form`; 0: none was stored.
    """

    now: int
    event: Event
    digest: int = 0
    form: int = 0


# The encoding of commands in digests. It is incremented when a command's shape changes and its
# meaning does not: digests of earlier forms are not compared, as they would always differ.
DIGEST_FORM = 2

encode = msgspec.msgpack.Encoder().encode


def digest_of(commands: tuple[Command, ...]) -> int:
    """Return a 32-bit checksum of commands; it detects differences, not forgery."""
    return crc32(encode(commands)) if commands else 0


def encode_log_entry(now: int, event: Event, commands: tuple[Command, ...]) -> bytes:
    """Encode a log line: an event, its time, and a digest of the commands it led to."""
    return encode(LogEntry(now, event, digest_of(commands), DIGEST_FORM))


decode_stored_call = msgspec.msgpack.Decoder(StoredCall).decode
decode_log_entry = msgspec.msgpack.Decoder(LogEntry).decode
decode_call = msgspec.msgpack.Decoder(Call).decode
