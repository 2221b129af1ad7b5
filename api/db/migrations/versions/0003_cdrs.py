"""Call records."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def text(length: int) -> sa.types.TypeEngine[str]:
    """Give a text that is compared byte by byte."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables and their indexes."""
    _records()
    _parts_of_records()
    _events()
    _exports()
    _indexes()


def _records() -> None:
    op.create_table(
        "cdrs",
        sa.Column("id", KEY, primary_key=True, autoincrement=True),
        sa.Column("account_id", text(64), nullable=False),
        sa.Column("req_id", text(96), nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        sa.Column("client_id", text(256)),
        sa.Column("caller_id", text(330), nullable=False),
        sa.Column("to_number", text(330), nullable=False),
        sa.Column("call_path", text(256), nullable=False),
        sa.Column("obd_type", text(256)),
        sa.Column("is_answered", sa.Boolean, nullable=False),
        sa.Column("has_recording", sa.Boolean, nullable=False),
        sa.Column("has_voicemail", sa.Boolean, nullable=False),
        sa.Column("disposition1", text(128)),
        sa.Column("disposition2", text(128)),
        sa.Column("disposition3", text(128)),
    )
    op.create_table(
        "cdr_bodies",
        sa.Column("cdr_id", KEY, sa.ForeignKey("cdrs.id"), primary_key=True, autoincrement=False),
        sa.Column("record", sa.LargeBinary, nullable=False),
    )


def _parts_of_records() -> None:
    op.create_table(
        "cdr_agents",
        sa.Column("cdr_id", KEY, sa.ForeignKey("cdrs.id"), primary_key=True, autoincrement=False),
        sa.Column("agent_id", text(64), primary_key=True),
        sa.Column("account_id", text(64), nullable=False),
        sa.Column("agent_name", text(128), nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        sa.Column("direction", text(8), nullable=False),
        sa.Column("is_answered", sa.Boolean, nullable=False),
        sa.Column("ring_ms", sa.BigInteger, nullable=False),
        sa.Column("talk_ms", sa.BigInteger, nullable=False),
        sa.Column("hold_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "cdr_numbers",
        sa.Column("account_id", text(64), primary_key=True),
        sa.Column("number", text(330), primary_key=True),
        sa.Column("started_ms", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("cdr_id", KEY, sa.ForeignKey("cdrs.id"), primary_key=True, autoincrement=False),
        sa.Column("is_dialed", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "cdr_clients",
        sa.Column("account_id", text(64), primary_key=True),
        sa.Column("client_id", text(256), primary_key=True),
        sqlite_with_rowid=False,
    )


def _events() -> None:
    op.create_table(
        "cdr_events",
        sa.Column("account_id", text(64), primary_key=True),
        sa.Column("call_id", text(96), primary_key=True),
        sa.Column("sequence_number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )


def _exports() -> None:
    op.create_table(
        "cdr_export_parts",
        sa.Column("job_id", sa.String(32), sa.ForeignKey("jobs.id"), primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("last_started_ms", sa.BigInteger, nullable=False),
        sa.Column("last_id", KEY, nullable=False),
        sa.Column("made_ms", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_cdr_export_parts_made_ms", "cdr_export_parts", ["made_ms"])


def _indexes() -> None:
    for name, keys in {
        "name": ["account_id", "agent_name", "started_ms", "cdr_id"],
        "agent": ["account_id", "agent_id", "started_ms"],
    }.items():
        op.create_index(f"cdr_agents_by_{name}", "cdr_agents", keys)
    op.create_index("cdrs_by_req_id", "cdrs", ["account_id", "req_id"], unique=True)
    op.create_index("cdrs_by_time", "cdrs", ["account_id", "started_ms", "id"])
    for name in ("caller_id", "to_number", "call_path", "is_answered"):
        _by(name, [name, "started_ms", "id"])
    for name in ("client_id", "obd_type", "disposition1", "disposition2", "disposition3"):
        _by(name, [name, "started_ms", "id"], sa.column(name).is_not(None))
    for name in ("has_recording", "has_voicemail"):
        has = sa.column(name, sa.Boolean) == sa.true()
        _by(name, [name, "started_ms", "id", "is_answered"], has)
        missed = sa.and_(has, sa.column("is_answered", sa.Boolean) == sa.false())
        _by(f"{name}_missed", [name, "is_answered", "started_ms", "id"], missed)


def _by(name: str, keys: list[str], where: sa.ColumnElement[bool] | None = None) -> None:
    op.create_index(
        f"cdrs_by_{name}",
        "cdrs",
        ["account_id", *keys],
        sqlite_where=where,
        postgresql_where=where,
    )
