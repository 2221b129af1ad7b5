"""Calls that we make: both click-to-call forms (design section 7) become a leg and a tree."""

from msgspec.structs import asdict, replace

from engine.calls.model.call import Call
from engine.calls.model.leg import Leg
from engine.calls.model.recording import Archive
from engine.calls.model.state import Starting
from engine.calls.verbs.dial import reaching
from wire import verbs
from wire.answer_detection import MachineDetection, settings
from wire.callback_targets import Target
from wire.rpc import Originate
from wire.verbs import Action, Verb


def originated(  # noqa: PLR0913, PLR0917 - what a call is made of
    call_id: str,
    asked: Originate,
    now: int,
    latest_ms: int,
    caller_id: str,
    archive: Archive | None = None,
    target: Target | None = None,
) -> Call:
    """Make the call of an originate; caller_id is what is shown when `from` is no number."""
    main = f"{call_id}.l0"
    shown = asked.caller_id or (asked.from_ if _is_number(asked.from_) else caller_id)
    return Call(
        id=call_id,
        account=asked.account,
        direction="outbound",
        from_=asked.from_,
        to=asked.to,
        main=main,
        legs=(Leg(main, first_party(asked), "requested", now, ring_s=asked.timeout),),
        doing=_starting(asked, now + int(asked.timeout * 1000)),
        created_ms=now,
        latest_ms=latest_ms,
        caller_id=shown,
        serial=1,
        custom_data=asked.custom_data,
        contact=asked.contact,
        archive=archive,
        recorded=archive is not None and asked.is_recorded,
        labels=asked.labels,
        target=target,
    )


def first_party(asked: Originate) -> str:
    """Tell who is called first."""
    return asked.from_ if asked.from_first else asked.to


def _starting(asked: Originate, until_ms: int) -> Starting:
    detection = settings(asked.machine_detection)
    if detection is None or asked.from_first:
        return Starting(_tree(asked), until_ms)
    return Starting(_tree(asked), until_ms, detection, _on_machine(asked))


def _tree(asked: Originate) -> Action | None:
    action = asked.action
    if asked.flow_id is not None:
        action = verbs.Flow(verbs.FlowData(asked.flow_id), action)
    if not asked.from_first:
        return action
    data = replace(reaching(asked.to), machine_detection=_on_dial(asked))
    return verbs.Dial(data, action, asked.timeout)


def _on_dial(asked: Originate) -> MachineDetection | bool:
    detection = settings(asked.machine_detection)
    if detection is None:
        return False
    hangs_up = _on_machine(asked) == "hangup"
    return MachineDetection(**asdict(detection), on_machine="hangup" if hangs_up else "continue")


def _on_machine(asked: Originate) -> Verb | str:
    detection = asked.machine_detection
    return "continue" if isinstance(detection, bool) else detection.on_machine


def _is_number(party: str) -> bool:
    return not party.startswith(("agent:", "sip:", "sips:"))
