"""All tables, and the triggers: an append-only audit trail, and the bytes of a list's contacts.

`python -m tools.initial_schema` writes the SQL of the tables.
"""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None

TABLES = Path(__file__).parents[1] / "initial"
# Who owns the database may remove them, deliberately (docs/operations/security.md). In SQLite,
# REPLACE deletes the old row without the trigger of deletions.
AUDIT = {
    "sqlite": """
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END
""",
    "postgresql": """
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()
""",
}
# A new list has no bytes, also one that is restored from a backup: its contacts come after it.
NEW_LISTS = {
    "sqlite": """
CREATE TRIGGER contact_bytes_of_new_list AFTER INSERT ON contact_lists WHEN NEW.bytes <> 0
BEGIN UPDATE contact_lists SET bytes = 0 WHERE id = NEW.id; END
""",
    "postgresql": """
CREATE FUNCTION contact_bytes_of_new_list() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.bytes := 0; RETURN NEW; END $$;
CREATE TRIGGER contact_bytes_of_new_list BEFORE INSERT ON contact_lists
FOR EACH ROW EXECUTE FUNCTION contact_bytes_of_new_list()
""",
}
# They count whoever writes. With PostgreSQL by statement: a row for each contact would leave as
# many dead versions of its list; and in the order of ids, to avoid deadlocks.
BYTES = {
    "sqlite": """
CREATE TRIGGER {noun}_bytes_inserted AFTER INSERT ON {table}
BEGIN UPDATE contact_lists SET bytes = bytes + ({new}) WHERE id = NEW.list_id; END;
CREATE TRIGGER {noun}_bytes_deleted AFTER DELETE ON {table}
BEGIN UPDATE contact_lists SET bytes = bytes - ({old}) WHERE id = OLD.list_id; END;
CREATE TRIGGER {noun}_bytes_updated AFTER UPDATE ON {table}
WHEN NEW.list_id <> OLD.list_id OR ({new}) <> ({old})
BEGIN
    UPDATE contact_lists SET bytes = bytes - ({old}) WHERE id = OLD.list_id;
    UPDATE contact_lists SET bytes = bytes + ({new}) WHERE id = NEW.list_id;
END
""",
    "postgresql": """
CREATE FUNCTION {noun}_bytes_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE its record;
BEGIN
    FOR its IN SELECT list_id, sum({row}) AS bytes FROM new_rows GROUP BY list_id ORDER BY list_id
    LOOP UPDATE contact_lists SET bytes = bytes + its.bytes WHERE id = its.list_id; END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER {noun}_bytes_inserted AFTER INSERT ON {table} REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION {noun}_bytes_inserted();
CREATE FUNCTION {noun}_bytes_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE its record;
BEGIN
    FOR its IN SELECT list_id, sum({row}) AS bytes FROM old_rows GROUP BY list_id ORDER BY list_id
    LOOP UPDATE contact_lists SET bytes = bytes - its.bytes WHERE id = its.list_id; END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER {noun}_bytes_deleted AFTER DELETE ON {table} REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT EXECUTE FUNCTION {noun}_bytes_deleted();
CREATE FUNCTION {noun}_bytes_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE its record;
BEGIN
    FOR its IN SELECT list_id, sum(size) AS bytes FROM (
        SELECT list_id, {row} AS size FROM new_rows
        UNION ALL SELECT list_id, -({row}) FROM old_rows
    ) AS changed GROUP BY list_id HAVING sum(size) <> 0 ORDER BY list_id
    LOOP UPDATE contact_lists SET bytes = bytes + its.bytes WHERE id = its.list_id; END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER {noun}_bytes_updated AFTER UPDATE ON {table}
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION {noun}_bytes_updated()
""",
}
# PostgreSQL writes no index for a row whose keys stay, if its next version fits on its page (its
# manual, "Heap-Only Tuples"). Contacts of a file lie together, so each page takes a next version
# of all that it has. Measured with 100,000: changed in 6 s instead of 15, added in 11 instead of
# 10, and smaller once they have been changed. SQLite changes rows in place.
ROOM_ON_PAGES = "ALTER TABLE contacts SET (fillfactor = 50)"
TEXTS = ("phone_number", "f_name", "l_name", "email", "fields", "call_status")
TAG_BYTES = 40  # what a row of a tag has beside its text, which its index has, too


def upgrade() -> None:
    """Create everything."""
    dialect = op.get_bind().dialect.name
    _run((TABLES / f"{dialect}.sql").read_text())
    if dialect == "postgresql":
        op.get_bind().exec_driver_sql(ROOM_ON_PAGES)
    _run(AUDIT[dialect])
    _run(NEW_LISTS[dialect])
    for noun, table in (("contact", "contacts"), ("tag", "contact_tags")):
        sizes = {name: _size(noun, dialect, f"{name.upper()}.") for name in ("new", "old")}
        row = _size(noun, dialect, "")
        _run(BYTES[dialect].format(noun=noun, table=table, row=row, **sizes))


def _run(script: str) -> None:
    """Run statements, each of which starts with CREATE."""
    for statement in script.split("CREATE ")[1:]:
        op.get_bind().exec_driver_sql(f"CREATE {statement}")


def _size(noun: str, dialect: str, row: str) -> str:
    """Return the SQL for the bytes of a contact's texts, or of a tag."""
    if noun == "tag":
        return f"2 * {_bytes(f'{row}tag_id', dialect)} + {TAG_BYTES}"
    return _bytes(" || ".join(f"coalesce({row}{name}, '')" for name in TEXTS), dialect)


def _bytes(text: str, dialect: str) -> str:
    return f"length(CAST({text} AS BLOB))" if dialect == "sqlite" else f"octet_length({text})"
