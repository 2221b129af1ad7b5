"""Signatures in a database, for any two filters together."""

from itertools import combinations
from typing import Any

from api.cdrs.query.filters import Filters
from api.cdrs.store import CdrStore
from api.db.database import Database
from tests.harness.api.cdrs.records import CUSTOMER, leg, missed, record, recording, write_calls

NINA = leg("agent:7", agent_id="7", agent_name="Nina")
PER = leg("agent:8", agent_id="8", agent_name="Per")
LABELS = {"clientId": "c-7", "callPath": "ivr", "obdType": "survey"}
CALLS = (
    record(1, legs=(NINA,), labels=LABELS, recordings=(recording("call"),)),
    record(2, legs=(PER,), labels=LABELS, caller_id="+4733333333"),
    record(3, legs=(NINA, PER), recordings=(recording("voicemail"),)),
    missed(4, labels=LABELS),
    record(5, to="+4744444444", dialed_numbers=("+4744444444",)),
)
REQUESTED: tuple[dict[str, Any], ...] = (
    {"client_id": "c-7"},
    {"caller_id": "+4733333333"},
    {"to_number": CUSTOMER},
    {"dialed_number": CUSTOMER},
    {"call_path": "ivr"},
    {"obd_type": "survey"},
    {"disposition1": "sale"},
    {"is_answered": True},
    {"is_answered": False},
    {"purpose": "call"},
    {"purpose": "voicemail"},
    {"agent_names": ("Nina",)},
    {"agent_names": ("Per", "nobody")},
)


async def test_any_two_filters(database: Database) -> None:
    """Two filters find the intersection of what each finds alone."""
    await write_calls(database, *CALLS)
    for call in CALLS[:2]:
        await CdrStore(database).set_dispositions("acme", call.call_id, {"disposition1": "sale"})
    alone = [await _found(database, each) for each in REQUESTED]
    assert all(alone)
    for one, other in combinations(range(len(REQUESTED)), 2):
        if REQUESTED[one].keys() != REQUESTED[other].keys():
            both = await _found(database, REQUESTED[one] | REQUESTED[other])
            assert both == alone[one] & alone[other], (REQUESTED[one], REQUESTED[other])


async def _found(database: Database, requested: dict[str, Any]) -> set[str]:
    filters = Filters("acme", **requested)
    found = {row.req_id for row in (await CdrStore(database).page(filters, 100)).rows}
    assert (await CdrStore(database).total(filters)).count == len(found)
    return found
