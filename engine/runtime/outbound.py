"""Calls that we make: both click-to-call forms (design section 7) become a leg and a tree."""

from engine.calls.call import Call
from engine.calls.doing import Starting
from engine.calls.leg import Leg
from engine.calls.verbs.dial import reaching
from wire import verbs
from wire.rpc import Originate
from wire.verbs import Action


def originated(call_id: str, asked: Originate, now: int, latest_ms: int, caller_id: str) -> Call:
    """Make the call of an originate; caller_id is what is shown when `from` is no number."""
    first = asked.from_ if asked.from_first else asked.to
    main = f"{call_id}.l0"
    shown = asked.caller_id or (asked.from_ if _is_number(asked.from_) else caller_id)
    return Call(
        id=call_id,
        account=asked.account,
        direction="outbound",
        from_=asked.from_,
        to=asked.to,
        main=main,
        legs=(Leg(main, first, "requested", now, ring_s=asked.timeout),),
        doing=Starting(_tree(asked), now + int(asked.timeout * 1000)),
        created_ms=now,
        latest_ms=latest_ms,
        caller_id=shown,
        serial=1,
        custom_data=asked.custom_data,
        contact=asked.contact,
    )


def _tree(asked: Originate) -> Action | None:
    action = asked.action
    if asked.flow_id is not None:
        action = verbs.Flow(verbs.FlowData(asked.flow_id), action)
    if not asked.from_first:
        return action
    return verbs.Dial(reaching(asked.to), action, asked.timeout)


def _is_number(party: str) -> bool:
    return not party.startswith(("agent:", "sip:", "sips:"))
