"""The bytes of a list's contacts, which triggers count, whoever writes them.

A new list has none, also one that is restored from a backup: its contacts come after it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"

TEXTS = ("phone_number", "f_name", "l_name", "email", "fields", "call_status")
STORED = """
UPDATE contact_lists SET bytes =
    (SELECT coalesce(sum({size}), 0) FROM contacts WHERE list_id = contact_lists.id)
"""
SQLITE = """
CREATE TRIGGER contact_bytes_of_new_list AFTER INSERT ON contact_lists WHEN NEW.bytes <> 0
BEGIN UPDATE contact_lists SET bytes = 0 WHERE id = NEW.id; END;
CREATE TRIGGER contact_bytes_inserted AFTER INSERT ON contacts
BEGIN UPDATE contact_lists SET bytes = bytes + {new} WHERE id = NEW.list_id; END;
CREATE TRIGGER contact_bytes_deleted AFTER DELETE ON contacts
BEGIN UPDATE contact_lists SET bytes = bytes - {old} WHERE id = OLD.list_id; END;
CREATE TRIGGER contact_bytes_updated AFTER UPDATE ON contacts
WHEN NEW.list_id <> OLD.list_id OR {new} <> {old}
BEGIN
    UPDATE contact_lists SET bytes = bytes - {old} WHERE id = OLD.list_id;
    UPDATE contact_lists SET bytes = bytes + {new} WHERE id = NEW.list_id;
END
"""
# By statement: a row for each contact would leave as many dead versions of its list. In the order
# of ids, to avoid deadlocks.
POSTGRES = """
CREATE FUNCTION contact_bytes_of_new_list() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.bytes := 0; RETURN NEW; END $$;
CREATE TRIGGER contact_bytes_of_new_list BEFORE INSERT ON contact_lists
FOR EACH ROW EXECUTE FUNCTION contact_bytes_of_new_list();
CREATE FUNCTION contact_bytes_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE its record;
BEGIN
    FOR its IN SELECT list_id, sum({size}) AS bytes FROM new_rows GROUP BY list_id ORDER BY list_id
    LOOP UPDATE contact_lists SET bytes = bytes + its.bytes WHERE id = its.list_id; END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER contact_bytes_inserted AFTER INSERT ON contacts REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION contact_bytes_inserted();
CREATE FUNCTION contact_bytes_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE its record;
BEGIN
    FOR its IN SELECT list_id, sum({size}) AS bytes FROM old_rows GROUP BY list_id ORDER BY list_id
    LOOP UPDATE contact_lists SET bytes = bytes - its.bytes WHERE id = its.list_id; END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER contact_bytes_deleted AFTER DELETE ON contacts REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT EXECUTE FUNCTION contact_bytes_deleted();
CREATE FUNCTION contact_bytes_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE its record;
BEGIN
    FOR its IN SELECT list_id, sum(size) AS bytes FROM (
        SELECT list_id, {size} AS size FROM new_rows
        UNION ALL SELECT list_id, -{size} FROM old_rows
    ) AS changed GROUP BY list_id HAVING sum(size) <> 0 ORDER BY list_id
    LOOP UPDATE contact_lists SET bytes = bytes + its.bytes WHERE id = its.list_id; END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER contact_bytes_updated AFTER UPDATE ON contacts
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION contact_bytes_updated()
"""


def upgrade() -> None:
    """Add the column, count what is stored (seconds for a million contacts), and go on counting."""
    zero = sa.Column("bytes", sa.BigInteger, nullable=False, server_default="0")
    op.add_column("contact_lists", zero)
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    size = _size("", is_sqlite=is_sqlite)
    op.execute(STORED.format(size=size))
    if is_sqlite:
        sizes = {name: _size(f"{name.upper()}.", is_sqlite=True) for name in ("new", "old")}
        for statement in SQLITE.format(**sizes).split("CREATE ")[1:]:
            op.execute(f"CREATE {statement}")
    else:
        for statement in POSTGRES.format(size=size).split("CREATE ")[1:]:
            op.execute(f"CREATE {statement}")


def _size(row: str, *, is_sqlite: bool) -> str:
    """Return the SQL for the bytes of a contact's texts."""
    text = " || ".join(f"coalesce({row}{name}, '')" for name in TEXTS)
    return f"length(CAST({text} AS BLOB))" if is_sqlite else f"octet_length({text})"
