"""The bytes of contacts' tags, which count with those of their texts, and of rejected rows.

Triggers count tags (migration 0037 does so with texts): each twice, as its index has it, too, and
with what else a row of both has.
"""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"

ROW_BYTES = 40
STORED = """
UPDATE contact_lists SET bytes = bytes +
    (SELECT coalesce(sum({size}), 0) FROM contact_tags WHERE list_id = contact_lists.id)
"""
REJECTED = """
UPDATE contact_imports SET rejected_bytes =
    (SELECT coalesce(sum({size}), 0) FROM contact_rejects WHERE job_id = contact_imports.job_id)
"""
SQLITE = """
CREATE TRIGGER tag_bytes_inserted AFTER INSERT ON contact_tags
BEGIN UPDATE contact_lists SET bytes = bytes + {new} WHERE id = NEW.list_id; END;
CREATE TRIGGER tag_bytes_deleted AFTER DELETE ON contact_tags
BEGIN UPDATE contact_lists SET bytes = bytes - ({old}) WHERE id = OLD.list_id; END;
CREATE TRIGGER tag_bytes_updated AFTER UPDATE ON contact_tags
BEGIN
    UPDATE contact_lists SET bytes = bytes - ({old}) WHERE id = OLD.list_id;
    UPDATE contact_lists SET bytes = bytes + {new} WHERE id = NEW.list_id;
END
"""
# By statement, and in the order of ids, for the reasons that migration 0037 has.
POSTGRES = """
CREATE FUNCTION tag_bytes_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE its record;
BEGIN
    FOR its IN SELECT list_id, sum({size}) AS bytes FROM new_rows GROUP BY list_id ORDER BY list_id
    LOOP UPDATE contact_lists SET bytes = bytes + its.bytes WHERE id = its.list_id; END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER tag_bytes_inserted AFTER INSERT ON contact_tags REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION tag_bytes_inserted();
CREATE FUNCTION tag_bytes_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE its record;
BEGIN
    FOR its IN SELECT list_id, sum({size}) AS bytes FROM old_rows GROUP BY list_id ORDER BY list_id
    LOOP UPDATE contact_lists SET bytes = bytes - its.bytes WHERE id = its.list_id; END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER tag_bytes_deleted AFTER DELETE ON contact_tags REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT EXECUTE FUNCTION tag_bytes_deleted();
CREATE FUNCTION tag_bytes_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE its record;
BEGIN
    FOR its IN SELECT list_id, sum(size) AS bytes FROM (
        SELECT list_id, {size} AS size FROM new_rows
        UNION ALL SELECT list_id, -({size}) FROM old_rows
    ) AS changed GROUP BY list_id HAVING sum(size) <> 0 ORDER BY list_id
    LOOP UPDATE contact_lists SET bytes = bytes + its.bytes WHERE id = its.list_id; END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER tag_bytes_updated AFTER UPDATE ON contact_tags
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION tag_bytes_updated()
"""


def upgrade() -> None:
    """Count what is stored (seconds for a million tags), and go on counting."""
    zero = sa.Column("rejected_bytes", sa.BigInteger, nullable=False, server_default="0")
    op.add_column("contact_imports", zero)
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    rejected = " + ".join(_bytes(name, is_sqlite=is_sqlite) for name in ("reason", "cells"))
    op.execute(REJECTED.format(size=f"{rejected} + 128"))
    size = _size("", is_sqlite=is_sqlite)
    op.execute(STORED.format(size=size))
    sizes = {name: _size(f"{name.upper()}.", is_sqlite=is_sqlite) for name in ("new", "old")}
    text = (SQLITE if is_sqlite else POSTGRES).format(size=size, **sizes)
    for statement in text.split("CREATE ")[1:]:
        op.execute(f"CREATE {statement}")


def _size(row: str, *, is_sqlite: bool) -> str:
    """Return the SQL for the bytes of a tag."""
    return f"2 * {_bytes(f'{row}tag_id', is_sqlite=is_sqlite)} + {ROW_BYTES}"


def _bytes(text: str, *, is_sqlite: bool) -> str:
    return f"length(CAST({text} AS BLOB))" if is_sqlite else f"octet_length({text})"
