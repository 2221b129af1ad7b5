"""Call events as they are told: fields and kinds that are not known are kept all the same."""

import msgspec
from msgspec import Raw, Struct

from wire.events import VERSION
from wire.record import CallRecord

# The same in every event of a call, or in its record.
_LEFT_OUT = frozenset(
    {"accountId", "callId", "from", "to", "direction", "customData", "record", "version"}
)


class _Head(Struct, frozen=True, rename="camel"):
    account_id: str
    call_id: str
    sequence_number: int
    version: int = 0
    record: CallRecord | None = None


class DecodedEvent(Struct, frozen=True):
    """One event: whose, of which call, the how manyth, and what is kept of it, as JSON."""

    account_id: str
    call_id: str
    sequence_number: int
    body: bytes
    record: CallRecord | None


_head = msgspec.json.Decoder(_Head).decode
_fields = msgspec.json.Decoder(dict[str, Raw]).decode


def decode_event(event: bytes | Raw) -> DecodedEvent:
    """Read an event; raises msgspec.DecodeError for what is none, or of a version to come."""
    head = _head(event)
    if head.version > VERSION:
        raise msgspec.ValidationError(f"an event of version {head.version}")
    kept = {name: value for name, value in _fields(event).items() if name not in _LEFT_OUT}
    return DecodedEvent(
        head.account_id,
        head.call_id,
        head.sequence_number,
        msgspec.json.encode(kept),
        head.record,
    )
