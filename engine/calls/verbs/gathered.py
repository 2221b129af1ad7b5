"""What a gather collected, as it is told."""

from msgspec.json import encode as to_json

from engine.calls.model.call import Call, Gathered
from engine.calls.model.commands import Tell
from engine.calls.model.state import Gathering
from engine.calls.reporting.call_events import tell
from engine.calls.reporting.history import noted
from wire.webhooks import GatherReason, GatherResult, To


def tell_gathered(
    call: Call, doing: Gathering, reason: GatherReason, now: int
) -> tuple[Call, Tell]:
    """Tell what was collected, and why collecting ended; its record has it, too."""
    call = noted(call, Gathered(now, doing.leg, doing.digits, reason))
    facts = {"channel_id": doing.leg, "dtmf": doing.digits, "reason": reason}
    return tell(call, "gathered", now, **facts)


def result(call: Call, doing: Gathering, reason: GatherReason) -> bytes:
    """Put it as a customer's server is told."""
    gathered = GatherResult(
        call_id=call.id,
        dtmf=doing.digits,
        to=To(doing.leg),
        reason=reason,
        custom_data=call.custom_data,
    )
    return to_json(gathered)
