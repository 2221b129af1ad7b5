"""Events and views of calls that a table follows."""

from typing import Any

from msgspec.structs import replace

from tests.harness.cli.inbound import timeline
from wire.events.call_events import CallEvent, Kind
from wire.views import CallView


def event(call: str, kind: Kind, status: str, **more: Any) -> CallEvent:
    """Return an event of a call."""
    facts: dict[str, Any] = {
        "id": f"{call}.e0", "event": kind, "sequence_number": 0, "timestamp": 1_000,
        "call_id": call, "account_id": "acme", "call_status": status, "direction": "inbound",
        "from_": "+1", "to": "+2",
    }  # fmt: skip
    return CallEvent(**(facts | more))


def view(call: str, status: str) -> CallView:
    """Return a call as an engine lists it."""
    return replace(timeline().call, call_id=call, status=status, created_ms=500, ended_ms=0)
