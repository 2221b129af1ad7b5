"""Compares the record of a call with what its phones have logged."""

from collections.abc import Iterator, Sequence

from tools.soak.kinds import BUSY, LEAVES, RINGS, STAYS, Digits, Kind
from tools.soak.lines import PhoneCall
from wire.events.record import CallRecord

MAX_DIFFERENCE_MS = 1_500  # between two clocks and two programs, on a busy machine
ANSWERED = {STAYS: "remote", LEAVES: "local"}  # how the callee saw the end
UNANSWERED = {BUSY: ("busy", "busy"), RINGS: ("canceled", "canceled")}  # leg status, callee's log


def differences(
    kind: Kind,
    digits: Digits,
    phone: PhoneCall,
    callee: PhoneCall | None,
    records: Sequence[CallRecord],
) -> Iterator[str]:
    """Yield each way in which a call's record does not match its phones."""
    if not phone.answered_ms or not phone.ended:
        yield f"the caller saw answer {phone.answered_ms}, end {phone.ended or 'none'}"
        return
    if len(records) != 1:
        yield f"{len(records)} records"
        return
    record = records[0]
    if record.ended_by != kind.ended_by:
        yield f"ended by {record.ended_by}, not {kind.ended_by}"
    if (phone.ended == "local") != (kind.ended_by == "caller"):
        yield f"the caller saw a {phone.ended} end"
    gathered = tuple((each.dtmf, each.reason) for each in record.gathered)
    if gathered != digits.gathered:
        yield f"gathered {gathered}, pressed {digits.gathered}"
    yield from _compare("answered", record.answered_duration_ms, phone)
    if kind.callee:
        yield from _compare_callee(kind, callee, record)
    if kind.agent and (len(record.legs) != 2 or record.legs[1].agent_id != kind.agent):
        yield f"legs {record.legs}"


def _compare_callee(kind: Kind, callee: PhoneCall | None, record: CallRecord) -> Iterator[str]:
    leg = record.legs[-1]
    if callee is None or len(record.legs) != 2:
        yield f"callee {callee}, {len(record.legs)} legs"
    elif kind.callee in ANSWERED:
        if (leg.status, callee.ended) != ("completed", ANSWERED[kind.callee]):
            yield f"leg {leg.status}, the callee saw a {callee.ended} end"
        yield from _compare("talk", record.talk_ms, callee)
    elif (leg.status, callee.ended) != UNANSWERED[kind.callee]:
        yield f"leg {leg.status}, the callee saw {callee.ended}"


def _compare(what: str, recorded_ms: int, phone: PhoneCall) -> Iterator[str]:
    seen_ms = phone.ended_ms - phone.answered_ms
    if abs(recorded_ms - seen_ms) > MAX_DIFFERENCE_MS:
        yield f"{what} for {recorded_ms} ms, the phone says {seen_ms} ms"
