"""Parses the bodies of requests to your server."""

from typing import Any, TypeVar

import msgspec

from switchroom_sdk.errors import VerificationFailed
from switchroom_sdk.generated.webhooks import (
    ActionRequest,
    CallEvent,
    GatherResult,
    RecordResult,
)

T = TypeVar("T")
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)  # of JSON that is none
Body = ActionRequest | GatherResult | RecordResult | CallEvent


class UnexpectedBody(VerificationFailed):
    """A request has another body than the handler expects."""


def parse(body: bytes) -> Body:
    """Return a body by what it says: the result of a gather or record, an event, a call."""
    found = _decoded(body, dict[str, Any])
    kind: type[Body] = ActionRequest
    if "sequenceNumber" in found:
        kind = CallEvent
    elif "dtmf" in found:
        kind = GatherResult
    elif found.get("event") == "record" and "reason" in found:
        kind = RecordResult
    return _decoded(body, kind)


def parse_as(body: bytes, kind: type[T]) -> T:
    """Return a body of one kind, or of any if that is a union; raises UnexpectedBody."""
    found = parse(body)
    if not isinstance(found, kind):
        name = getattr(kind, "__name__", str(kind))
        raise UnexpectedBody(f"body: {name} is expected, not {type(found).__name__}")
    return found


def _decoded(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except UNREADABLE as error:
        raise UnexpectedBody(f"body: {error}") from None
