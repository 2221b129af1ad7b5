"""Storage format of calls and their logs: msgpack arrays, validated when they are decoded.

Data of earlier versions stays readable: fields are only added at the end, with a default. Data of
later versions is left alone: `FORMAT` is stored with each call.
"""

from collections.abc import Iterator
from itertools import chain
from zlib import crc32

import msgspec
from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from wire.call_id_format import call_of

# The format of stored calls. The first change of their shape after a release increments it:
# a new field, state, verb or command. An engine of an earlier format would lose what it does not
# know. `tests/unit/calls/model/test_format.py` compares the shape with that of the last release.
FORMAT = 1


class StoredCall(Struct, frozen=True, array_like=True, gc=False):
    """A call, the commands of its last commit (the outbox), and the length of its log."""

    call: Call
    outbox: tuple[Command, ...] = ()
    log_length: int = 0
    format: int = 0  # the FORMAT of the engine that stored it
    # How far the clock of its times is ahead of the store's; None: not measured.
    clock_offset_ms: int | None = None


class LaterCall(Struct, frozen=True):
    """A call that a later version stored; `names` are all texts in it, its channels among them."""

    call_id: str
    format: int
    names: frozenset[str]

    def owns(self, channel: str) -> bool:
        """Return whether a channel or bridge may belong to the call."""
        return call_of(channel) == self.call_id or channel in self.names


class LogEntry(Struct, frozen=True, array_like=True, gc=False):
    """One line of a call's log: an event and when it was applied, in wall-clock milliseconds.

    `digest` is of the commands that the event led to, encoded in that `form`; 0: of none.
    """

    now: int
    event: Event
    digest: int = 0
    form: int = 0


# The encoding of commands in digests. It is incremented when a command's shape changes and its
# meaning does not: digests of earlier forms are not compared, as they would always differ.
DIGEST_FORM = 4

encode = msgspec.msgpack.Encoder().encode


def digest_of(commands: tuple[Command, ...]) -> int:
    """Return a 32-bit checksum of commands; it detects differences, not forgery."""
    return crc32(encode(commands)) if commands else 0


def encode_log_entry(now: int, event: Event, commands: tuple[Command, ...]) -> bytes:
    """Encode a log line: an event, its time, and a digest of the commands it led to."""
    return encode(LogEntry(now, event, digest_of(commands), DIGEST_FORM))


def decode_later_call(call_id: str, body: bytes) -> LaterCall | None:
    """Return a call that a later version stored; None for all others. Raises DecodeError."""
    fields = msgspec.msgpack.decode(body)
    position = StoredCall.__struct_fields__.index("format")
    stored_format = fields[position] if isinstance(fields, list) and len(fields) > position else 0
    if not isinstance(stored_format, int) or stored_format <= FORMAT:
        return None
    return LaterCall(call_id, stored_format, frozenset(_texts(fields)))


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from chain.from_iterable(map(_texts, value.values()))
        case list():
            yield from chain.from_iterable(map(_texts, value))
        case _:
            pass


decode_stored_call = msgspec.msgpack.Decoder(StoredCall).decode
decode_log_entry = msgspec.msgpack.Decoder(LogEntry).decode
decode_call = msgspec.msgpack.Decoder(Call).decode
