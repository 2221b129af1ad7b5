"""Records of ended calls, their events, and a database that contains them."""

from typing import Any

import msgspec
from msgspec.structs import replace

from api.cdrs.event_writer import DecodedEvent, decode_event, write_events
from api.cdrs.query.filters import Filters
from api.cdrs.store import CdrStore
from api.db.database import Database
from wire.events.call_events import CallEvent
from wire.events.record import CallRecord, LegRecord, RecordingRecord

NOON_MS = 1_795_262_400_000  # 2026-11-21T12:00:00Z
CUSTOMER = "+4722222222"
OURS = "+4721930000"


def leg(party: str, *, rang_ms: int = 2_000, talked_ms: int = 30_000, **more: Any) -> LegRecord:
    """Return a leg that started at noon; without talk time it is unanswered."""
    return LegRecord(
        channel_id=f"0-pbx1-{party.strip('+')}.1",
        party=party,
        status="completed" if talked_ms else "no-answer",
        requested_ms=NOON_MS,
        ended_ms=NOON_MS + rang_ms + talked_ms,
        ring_ms=rang_ms,
        talk_ms=talked_ms,
        hold_ms=0,
        answered_ms=NOON_MS + rang_ms if talked_ms else 0,
        **more,
    )


AGENTS = (leg("agent:7", agent_id="7", agent_name="Nina"), leg("agent:8", agent_id="8"))


def record(number: int, *, after_ms: int = 0, **more: Any) -> CallRecord:
    """Return the record of an outbound call that started at noon or later; its id has `number`."""
    started_ms = NOON_MS + after_ms
    reported = CallRecord(
        call_id=f"0-pbx1-call{number:08}",
        account_id="acme",
        node="pbx1",
        slot=0,
        direction="outbound",
        from_=OURS,
        to=CUSTOMER,
        caller_id=OURS,
        dialed_numbers=(CUSTOMER,),
        status="completed",
        created_ms=started_ms,
        answered_ms=started_ms + 2_000,
        ended_ms=started_ms + 32_000,
        ring_ms=2_000,
        talk_ms=30_000,
        hold_ms=0,
        legs=(leg(CUSTOMER),),
        ended_by="callee",
        hangup_cause=16,
    )
    return replace(reported, **more)


def missed(number: int, **more: Any) -> CallRecord:
    """Return the record of an unanswered call."""
    return record(
        number, status="no-answer", answered_ms=0, ring_ms=32_000, talk_ms=0, legs=(), **more
    )


def recording(purpose: str) -> RecordingRecord:
    """Return an archived recording."""
    return RecordingRecord(f"https://files.example/{purpose}.wav", purpose, "archived", 30_000)


def events_of(ended: CallRecord) -> list[CallEvent]:
    """Return three events of a call, the last with its record."""
    same: dict[str, Any] = {
        "call_id": ended.call_id,
        "account_id": ended.account_id,
        "direction": ended.direction,
        "from_": ended.from_,
        "to": ended.to,
        "version": 1,
    }
    lines = [
        ("initiated", ended.created_ms, "initiated", None),
        ("answered", ended.answered_ms or ended.created_ms, "in-progress", None),
        ("completed", ended.ended_ms, ended.status, ended),
    ]
    return [
        CallEvent(
            id=f"{ended.call_id}-{place}",
            event=kind,  # type: ignore[arg-type]  # one of its kinds
            sequence_number=place,
            timestamp=at_ms,
            call_status=status,
            record=whole,
            **same,
        )
        for place, (kind, at_ms, status, whole) in enumerate(lines)
    ]


def decoded_events(*ended: CallRecord) -> list[DecodedEvent]:
    """Return the events of calls as the consumer decodes them."""
    return [decode_event(msgspec.json.encode(event)) for each in ended for event in events_of(each)]


async def write_calls(database: Database, *ended: CallRecord) -> int:
    """Write calls; return the number of new ones."""
    async with database.writing() as connection:
        return len(await write_events(connection, decoded_events(*ended)))


async def find_calls(database: Database, **filters: Any) -> list[int]:
    """Return the numbers of the matching calls, and check that the count agrees."""
    wanted = Filters("acme", **filters)
    rows = (await CdrStore(database).page(wanted, 100)).rows
    total = await CdrStore(database).total(wanted)
    assert (total.count, total.is_exact) == (len(rows), True)
    return [int(row.req_id[-8:]) for row in rows]
