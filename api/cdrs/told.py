"""Call events as they are told, of this version or a newer one: what it does not know, it keeps."""

import msgspec
from msgspec import Raw, Struct

from wire.record import CallRecord

# The same in every event of a call, or in its record.
_LEFT_OUT = frozenset(
    {"accountId", "callId", "from", "to", "direction", "customData", "record", "version"}
)


class _Head(Struct, frozen=True, rename="camel"):
    account_id: str
    call_id: str
    sequence_number: int
    record: CallRecord | None = None


class Told(Struct, frozen=True):
    """One event: whose, of which call, the how manyth, and what is kept of it, as JSON."""

    account_id: str
    call_id: str
    sequence_number: int
    body: bytes
    record: CallRecord | None


_head = msgspec.json.Decoder(_Head).decode
_fields = msgspec.json.Decoder(dict[str, Raw]).decode


def read(event: bytes | Raw) -> Told:
    """Read an event; raises msgspec.DecodeError for what is none."""
    head = _head(event)
    kept = {name: value for name, value in _fields(event).items() if name not in _LEFT_OUT}
    return Told(
        head.account_id,
        head.call_id,
        head.sequence_number,
        msgspec.json.encode(kept),
        head.record,
    )
