"""Signatures of call records, at the end of every index: they filter without reading a row."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from api.cdrs.query.signatures import BIT_WIDTHS, signature_of

revision = "0016"
down_revision = "0015"

CHUNK = 5_000
PLAIN = ("caller_id", "to_number", "call_path", "is_answered")
GIVEN = ("client_id", "obd_type", "disposition1", "disposition2", "disposition3")
PURPOSES = ("has_recording", "has_voicemail")
cdrs = sa.table("cdrs", sa.column("id"), sa.column("marks"), *map(sa.column, BIT_WIDTHS))
agents = sa.table("cdr_agents", sa.column("cdr_id"), sa.column("agent_name"), sa.column("marks"))


def upgrade() -> None:
    """Set the signatures and create the indexes again. Takes a minute for a million records."""
    for table in ("cdrs", "cdr_agents"):
        marks = sa.Column("marks", sa.BigInteger, nullable=False, server_default="0")
        op.add_column(table, marks)
    _drop_indexes()
    _mark_records()
    its = sa.select(cdrs.c.marks).where(cdrs.c.id == agents.c.cdr_id).scalar_subquery()
    op.execute(sa.update(agents).values(marks=its))
    _numbers()
    _make_indexes()


def _mark_records() -> None:
    connection = op.get_bind()
    query = sa.select(cdrs).order_by(cdrs.c.id).limit(CHUNK)
    change = (
        sa.update(cdrs).where(cdrs.c.id == sa.bindparam("key")).values(marks=sa.bindparam("its"))
    )
    last = -1
    while rows := connection.execute(query.where(cdrs.c.id > last)).mappings().all():
        names = _names(rows[0]["id"], rows[-1]["id"])
        marked = [_marked(row, names.get(row["id"], [])) for row in rows]
        connection.execute(change, marked)
        last = rows[-1]["id"]


def _marked(row: Any, names: list[str]) -> dict[str, int]:
    return {"key": row["id"], "its": signature_of(row, names)}


def _names(first: int, last: int) -> dict[int, list[str]]:
    query = sa.select(agents.c.cdr_id, agents.c.agent_name)
    found: dict[int, list[str]] = {}
    for cdr_id, name in op.get_bind().execute(query.where(agents.c.cdr_id.between(first, last))):
        found.setdefault(cdr_id, []).append(name)
    return found


def _numbers() -> None:
    """Create the table again: all of its columns are now its key."""
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.rename_table("cdr_numbers", "cdr_numbers_before")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER INDEX cdr_numbers_pkey RENAME TO cdr_numbers_before_pkey")
    op.create_table(
        "cdr_numbers",
        sa.Column("account_id", _text(64), primary_key=True),
        sa.Column("number", _text(330), primary_key=True),
        sa.Column("started_ms", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("cdr_id", key, sa.ForeignKey("cdrs.id"), primary_key=True, autoincrement=False),
        sa.Column("is_dialed", sa.Boolean, primary_key=True),
        sa.Column("marks", sa.BigInteger, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO cdr_numbers"
        " SELECT n.account_id, n.number, n.started_ms, n.cdr_id, n.is_dialed, c.marks"
        " FROM cdr_numbers_before n JOIN cdrs c ON c.id = n.cdr_id"
    )
    op.drop_table("cdr_numbers_before")


def _drop_indexes() -> None:
    op.drop_index("cdr_agents_by_name", "cdr_agents")
    missed = [f"{name}_missed" for name in PURPOSES]
    for name in ("time", *PLAIN, *GIVEN, *PURPOSES, *missed):
        op.drop_index(f"cdrs_by_{name}", "cdrs")


def _make_indexes() -> None:
    names = ["account_id", "agent_name", "started_ms", "cdr_id", "marks"]
    op.create_index("cdr_agents_by_name", "cdr_agents", names)
    _by("time", [])
    for name in PLAIN:
        _by(name, [name])
    for name in GIVEN:
        _by(name, [name], sa.column(name).is_not(None))
    for name in PURPOSES:
        has = sa.column(name, sa.Boolean) == sa.true()
        _by(name, [], has)
        missed = sa.and_(has, sa.column("is_answered", sa.Boolean) == sa.false())
        _by(f"{name}_missed", [name, "is_answered"], missed)


def _by(name: str, keys: list[str], where: sa.ColumnElement[bool] | None = None) -> None:
    columns = ["account_id", *keys, "started_ms", "id", "marks"]
    op.create_index(f"cdrs_by_{name}", "cdrs", columns, sqlite_where=where, postgresql_where=where)


def _text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")
