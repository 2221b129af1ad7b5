"""Rows of the audit trail on SQLite and PostgreSQL."""

import asyncio
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from api.audit.trail import MAX_WAITING, AuditEntry, AuditFilters, AuditTrail
from api.common.clock import now_ms
from api.db.database import Database
from api.jobs.housekeeping import background
from tests.harness.until import until

ENTRY = AuditEntry("acme", 0, "key:1", "POST /x", "/x", "201")


async def _added(database: Database, entry: AuditEntry) -> AuditTrail:
    trail = AuditTrail(database, now_ms)
    trail.add(entry)
    await trail.flush()
    return trail


@pytest.mark.parametrize("change", ["UPDATE audit SET outcome = 'done'", "DELETE FROM audit"])
async def test_the_trail_is_append_only(database: Database, change: str) -> None:
    """The database refuses to change and to delete entries; its owner may remove the triggers."""
    trail = await _added(database, ENTRY)
    with pytest.raises(DBAPIError, match="append-only"):
        await database.execute(text(change))
    assert len((await trail.page(AuditFilters("acme"), 10, None)).entries) == 1
    if database.is_sqlite:
        removals = ["DROP TRIGGER audit_no_update", "DROP TRIGGER audit_no_delete"]
    else:
        removals = ["DROP TRIGGER audit_append_only ON audit"]
    for removal in removals:
        await database.execute(text(removal))
    assert await database.execute(text(change)) == 1


async def test_an_entry_is_not_replaced(database: Database) -> None:
    """Nor by an INSERT with its id that overwrites it."""
    trail = await _added(database, ENTRY)
    (found,) = (await trail.page(AuditFilters("acme"), 10, None)).entries
    columns = "(id, at_ms, actor, address, action, object, outcome, request_id)"
    insert = f"INTO audit {columns} VALUES ({found.id}, 0, '', '', '', '', 'other', '')"
    if database.is_sqlite:
        statement = f"REPLACE {insert}"
    else:
        statement = f"INSERT {insert} ON CONFLICT (id) DO UPDATE SET outcome = 'other'"
    with pytest.raises(DBAPIError, match="append-only"):
        await database.execute(text(statement))
    assert (await trail.page(AuditFilters("acme"), 10, None)).entries == [found]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [4, 3, 2]),
        ({"actor": "key:2"}, [3]),
        ({"agent_id": "1001"}, [2]),
        ({"action": "POST /y"}, [4]),
        ({"start_ms": 3}, [4, 3]),
        ({"end_ms": 3}, [2]),
        ({"start_ms": 3, "end_ms": 4, "actor": "key:2"}, [3]),
        ({"actor": "key:2", "action": "POST /y"}, []),
    ],
)
async def test_entries_are_filtered(
    database: Database, filters: dict[str, Any], found: list[int]
) -> None:
    """By who did what, and when: from a time on, and before another."""
    trail = AuditTrail(database, now_ms)
    for at_ms, change in enumerate(
        ({"account_id": "other"}, {"agent_id": "1001"}, {"actor": "key:2"}, {"action": "POST /y"}),
        1,
    ):
        trail.add(structs.replace(ENTRY, at_ms=at_ms, **change))
    await trail.flush()
    page = (await trail.page(AuditFilters("acme", **filters), 10, None)).entries
    assert [each.entry.at_ms for each in page] == found
    if page:
        assert (await trail.page(AuditFilters("acme", **filters), 10, page[0].id)).entries == page[
            1:
        ]


async def test_a_page_reads_few_rows(database: Database) -> None:
    """A filter that matches nothing reads no whole account: its pages go on, and find the rest."""
    trail = AuditTrail(database, now_ms, max_scanned=3)
    for at_ms in range(1, 9):
        trail.add(structs.replace(ENTRY, at_ms=at_ms, action=f"POST /{at_ms}"))
    await trail.flush()
    found, cursor = [], None
    for _page in range(3):
        page = await trail.page(AuditFilters("acme", action="POST /2"), 10, cursor)
        found.append([each.entry.at_ms for each in page.entries])
        cursor = page.next_id
    assert (found, cursor) == ([[], [], [2]], None)


async def test_control_characters_do_not_stop_the_trail(database: Database) -> None:
    """PostgreSQL stores no NUL: one in a path would keep all later entries from being written."""
    entry = AuditEntry("acme", 0, "key:1", "DELETE /x/{id}", "/x/\x00\n", "404")
    trail = await _added(database, entry)
    (found,) = (await trail.page(AuditFilters("acme"), 10, None)).entries
    assert found.entry.object == "/x/\ufffd\ufffd"


async def test_surrogates_do_not_stop_the_trail(database: Database) -> None:
    """Half of a surrogate pair in any text is replaced: it cannot be encoded."""
    bad = structs.replace(ENTRY, object="/\ud800", agent_id="\udfff", action="GET \ud800")
    trail = await _added(database, bad)
    (found,) = (await trail.page(AuditFilters("acme"), 10, None)).entries
    assert (found.entry.object, found.entry.agent_id) == ("/\ufffd", "\ufffd")


async def test_a_refused_entry_stops_no_other(database: Database) -> None:
    """The writer drops it, counts it, and writes the others and later ones."""
    failures: list[str] = []
    trail = AuditTrail(database, now_ms, lambda: failures.append("dropped"))
    for at_ms in (1, 2**70, 3):  # too large for a database
        trail.add(structs.replace(ENTRY, at_ms=at_ms))

    async def written() -> list[int]:
        return [
            each.entry.at_ms for each in (await trail.page(AuditFilters("acme"), 10, None)).entries
        ]

    async def are_written(*expected: int) -> bool:
        return await written() == [*expected]

    async with background(trail.run()):
        await until(lambda: are_written(3, 1), what="the other entries")
        trail.add(structs.replace(ENTRY, at_ms=4))
        await until(lambda: are_written(4, 3, 1), what="a later entry")
    assert failures == ["dropped"]


async def test_a_full_queue_loses_no_entry_that_is_being_written(database: Database) -> None:
    """Entries that arrive during a flush wait for the next, however many were being written."""
    failures: list[str] = []
    trail = AuditTrail(database, now_ms, lambda: failures.append("dropped"))
    for at_ms in range(MAX_WAITING):
        trail.add(structs.replace(ENTRY, at_ms=at_ms))
    flush = asyncio.create_task(trail.flush())
    await asyncio.wait({flush}, timeout=0)  # it has begun
    for at_ms in range(10):
        trail.add(structs.replace(ENTRY, at_ms=MAX_WAITING + at_ms))
    await flush
    await trail.flush()
    found = [
        each.entry.at_ms for each in (await trail.page(AuditFilters("acme"), 12, None)).entries
    ]
    assert (found, failures) == ([*reversed(range(MAX_WAITING - 2, MAX_WAITING + 10))], [])


async def test_entries_that_cannot_be_written_wait(database: Database) -> None:
    """They are written by a later flush, before those that were added after them."""
    trail = AuditTrail(database, now_ms)
    for at_ms in (1, 2):
        trail.add(structs.replace(ENTRY, at_ms=at_ms))
    async with database.writing():  # holds SQLite's lock, and a connection
        flush = asyncio.create_task(trail.flush())
        await asyncio.wait({flush}, timeout=0)
        flush.cancel()
        await asyncio.wait({flush})
    trail.add(structs.replace(ENTRY, at_ms=3))
    await trail.flush()
    found = [
        each.entry.at_ms for each in (await trail.page(AuditFilters("acme"), 10, None)).entries
    ]
    assert found == [3, 2, 1]
