"""Rows of the audit trail on SQLite and PostgreSQL."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from api.audit.trail import AuditEntry, AuditFilters, AuditTrail
from api.common.clock import now_ms
from api.db.database import Database

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
    assert len(await trail.page(AuditFilters("acme"), 10, None)) == 1
    if database.is_sqlite:
        removals = ["DROP TRIGGER audit_no_update", "DROP TRIGGER audit_no_delete"]
    else:
        removals = ["DROP TRIGGER audit_append_only ON audit"]
    for removal in removals:
        await database.execute(text(removal))
    assert await database.execute(text(change)) == 1


async def test_control_characters_do_not_stop_the_trail(database: Database) -> None:
    """PostgreSQL stores no NUL: one in a path would keep all later entries from being written."""
    entry = AuditEntry("acme", 0, "key:1", "DELETE /x/{id}", "/x/\x00\n", "404")
    trail = await _added(database, entry)
    (found,) = await trail.page(AuditFilters("acme"), 10, None)
    assert found.entry.object == "/x/\ufffd\ufffd"
