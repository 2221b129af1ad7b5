"""Every filter finds its call records by every access path, page by page."""

from typing import Any

import pytest

from api.cdrs.query.access_paths import access_paths
from api.cdrs.query.filters import Filters
from api.cdrs.query.pages import Window, cheapest, count_matches, read_page
from api.cdrs.query.queries import Position
from api.cdrs.store import CdrStore
from api.db.database import Database
from tests.harness.api.cdrs.records import (
    AGENTS,
    CUSTOMER,
    NOON_MS,
    find_calls,
    leg,
    missed,
    record,
    recording,
    write_calls,
)


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({"req_id": "0-pbx1-call00000003"}, [3]),
        ({"client_id": "c-7"}, [5, 2]),
        ({"caller_id": "+4733333333"}, [3]),
        ({"to_number": "+4744444444"}, [4]),
        ({"dialed_number": "+4755555555"}, [5]),
        ({"dialed_number": CUSTOMER}, [6, 4, 3, 2, 1]),
        ({"dialed_number": CUSTOMER, "client_id": "c-7"}, [2]),
        ({"number": "+4733333333"}, [3]),
        ({"call_path": "ivr"}, [2]),
        ({"call_path": "outbound"}, [6, 5, 4, 3, 1]),
        ({"obd_type": "survey"}, [4]),
        ({"is_answered": False}, [6]),
        ({"is_answered": True, "dialed_number": CUSTOMER}, [4, 3, 2, 1]),
        ({"purpose": "call"}, [3, 2]),
        ({"purpose": "voicemail"}, [3]),
        ({"purpose": "call", "is_answered": False}, []),
        ({"agent_names": ("Nina",)}, [2, 1]),
        ({"agent_names": ("8", "Nina")}, [2, 1]),
        ({"agent_names": ("8",)}, [1]),
        ({"agent_names": ("Nina", "8"), "client_id": "c-7"}, [2]),
        ({"agent_names": ("Nina", "8"), "call_path": "ivr"}, [2]),
        ({"agent_names": ("Nin",)}, []),
        ({"start_ms": NOON_MS + 2, "end_ms": NOON_MS + 4}, [3, 2]),
        ({"start_ms": NOON_MS + 2, "end_ms": NOON_MS + 4, "purpose": "call"}, [3, 2]),
        ({"start_ms": NOON_MS + 2, "end_ms": NOON_MS + 4, "agent_names": ("Nina",)}, [2]),
        ({"start_ms": NOON_MS + 2, "end_ms": NOON_MS + 4, "dialed_number": CUSTOMER}, [3, 2]),
        ({"start_ms": NOON_MS, "end_ms": NOON_MS + 1}, []),
    ],
)
async def test_filters(database: Database, filters: dict[str, Any], numbers: list[int]) -> None:
    """Each filter works alone and in combination."""
    await write_calls(
        database,
        record(1, after_ms=1, legs=AGENTS),
        record(
            2,
            after_ms=2,
            labels={"clientId": "c-7", "callPath": "ivr"},
            legs=AGENTS[:1],
            recordings=(recording("call"),),
        ),
        record(
            3,
            after_ms=3,
            caller_id="+4733333333",
            recordings=(recording("voicemail"), recording("call")),
        ),
        record(4, after_ms=4, to="+4744444444", labels={"obdType": "survey"}),
        record(5, after_ms=5, dialed_numbers=("+4755555555",), custom_data={"clientId": "c-7"}),
        missed(6, after_ms=6),
    )
    assert await find_calls(database, **filters) == numbers


async def test_pages_by_offset_and_by_cursor(database: Database) -> None:
    """Both kinds of pages return each call once, by every access path."""
    calls = [record(n, after_ms=n // 3, legs=AGENTS[: n % 3]) for n in range(20)]
    await write_calls(database, *calls)
    cdrs = CdrStore(database)
    for filters in (
        Filters("acme"),
        Filters("acme", agent_names=("Nina", "8")),
        Filters("acme", dialed_number=CUSTOMER, is_answered=True),
    ):
        whole = [row.req_id for row in (await cdrs.page(filters, 100)).rows]
        by_offset = [
            row.req_id for at in range(0, 21, 3) for row in (await cdrs.page(filters, 3, at)).rows
        ]
        assert by_offset == whole
        assert await _by_place(cdrs, filters) == whole


async def _by_place(cdrs: CdrStore, filters: Filters) -> list[str]:
    ids: list[str] = []
    after: Position | None = None
    while rows := (await cdrs.page(filters, 3, 0, after)).rows:
        ids += [row.req_id for row in rows]
        after = rows[-1].position
    return ids


async def test_every_access_path_finds_the_same_calls(database: Database) -> None:
    """Every index gives the same result; two agents of one name do not duplicate a call."""
    twins = tuple(leg(f"agent:{n}", agent_id=f"{n}", agent_name="Nina") for n in (7, 8))
    labels = {"clientId": "c-7", "callPath": "ivr"}
    calls = [
        record(n, after_ms=n // 3, legs=twins[: n % 4], labels=labels if n % 5 else {})
        for n in range(40)
    ]
    await write_calls(database, *calls)
    filters = Filters(
        "acme",
        client_id="c-7",
        call_path="ivr",
        dialed_number=CUSTOMER,
        agent_names=("Nina",),
        is_answered=True,
        end_ms=NOON_MS + 12,
    )
    wanted = [n for n in range(35, -1, -1) if n % 4 and n % 5]
    names = list(access_paths(filters))
    assert names == ["client_id", "number", "agent_names", "call_path", "is_answered"]
    async with database.reading() as connection:
        for name in names:
            rows = (await read_page(connection, filters, name, Window(100))).rows
            assert [int(row.req_id[-8:]) for row in rows] == wanted, name
            assert (await count_matches(connection, filters, name, 10_000)).count == len(wanted)


async def test_the_cheapest_path_is_chosen(database: Database) -> None:
    """The choice depends on the values, not only on which filters are given."""
    own: dict[str, Any] = {"to": "+4721930000", "direction": "inbound"}
    await write_calls(
        database,
        *(record(n, labels={"clientId": "c-7"}, **own) for n in range(30)),
        record(30, labels={"clientId": "c-8"}),
        record(31, labels={"clientId": "c-8"}, **own),
    )
    async with database.reading() as connection:
        for client_id, to_number, way in (
            ("c-8", "+4721930000", "client_id"),
            ("c-7", CUSTOMER, "to_number"),
            ("c-7", "+4721930000", "client_id"),
        ):
            filters = Filters("acme", client_id=client_id, to_number=to_number)
            assert await cheapest(connection, filters, 80) == way


async def test_dispositions_are_found(database: Database) -> None:
    """Each disposition level is a separate filter."""
    await write_calls(database, record(1, legs=AGENTS), record(2, legs=AGENTS))
    cdrs = CdrStore(database)
    levels = {"disposition1": "sale", "disposition2": "big", "disposition3": "again"}
    await cdrs.set_dispositions("acme", record(1).call_id, levels)
    for name, value in levels.items():
        assert await find_calls(database, **{name: value}) == [1]
        for other in ({"call_path": "outbound"}, {"agent_names": ("Nina",)}, {"number": CUSTOMER}):
            assert await find_calls(database, **{name: value}, **other) == [1]
    assert await find_calls(database, disposition1="big") == []
    await cdrs.set_dispositions("acme", record(1).call_id, {"disposition1": None})
    assert await find_calls(database, disposition1="sale") == []
    assert await find_calls(database, disposition2="big") == [1]
