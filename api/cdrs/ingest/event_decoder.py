"""Decodes call events; unknown fields and kinds are stored, too."""

import msgspec
from msgspec import Raw, Struct

from wire.events.call_events import VERSION
from wire.events.record import CallRecord

# Not stored: the same in every event of a call, or part of its record.
_OMITTED = frozenset(
    {"accountId", "callId", "from", "to", "direction", "customData", "record", "version"}
)


class _Head(Struct, frozen=True, rename="camel"):
    account_id: str
    call_id: str
    sequence_number: int
    version: int = 0
    record: CallRecord | None = None


class DecodedEvent(Struct, frozen=True):
    """A decoded event; `body` is its stored part, as JSON."""

    account_id: str
    call_id: str
    sequence_number: int
    body: bytes
    record: CallRecord | None


_decode_head = msgspec.json.Decoder(_Head).decode
_decode_fields = msgspec.json.Decoder(dict[str, Raw]).decode


def decode_event(event: bytes | Raw) -> DecodedEvent:
    """Decode an event; raises msgspec.DecodeError, also for a newer version."""
    head = _decode_head(event)
    if head.version > VERSION:
        raise msgspec.ValidationError(f"an event of version {head.version}")
    body = {name: value for name, value in _decode_fields(event).items() if name not in _OMITTED}
    return DecodedEvent(
        head.account_id,
        head.call_id,
        head.sequence_number,
        msgspec.json.encode(body),
        head.record,
    )
