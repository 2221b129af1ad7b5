"""Transcripts of recordings, and the accounts that have them.

Revision ID: 0030
Revises: 0029
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, and the setting: no account has transcripts."""
    op.add_column("accounts", sa.Column("transcripts", sa.JSON))
    op.create_table(
        "transcripts",
        sa.Column("id", ID, primary_key=True, autoincrement=True),
        sa.Column("account_id", _text(64), nullable=False),
        sa.Column("path", _text(160), nullable=False),
        sa.Column("call_id", _text(128), nullable=False),
        sa.Column("state", _text(16), nullable=False),
        sa.Column("reason", _text(32)),
        sa.Column("detail", sa.String(512)),
        sa.Column("recognizer", _text(32)),
        sa.Column("language", _text(64)),
        sa.Column("duration_ms", sa.BigInteger),
        sa.Column("channels_done", sa.Integer, nullable=False),
        sa.Column("segments", sa.LargeBinary),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.Column("due_ms", sa.BigInteger, nullable=False),
        sa.Column("owner", _text(64)),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("ended_ms", sa.BigInteger),
        sqlite_autoincrement=True,
    )
    op.create_index("transcripts_by_path", "transcripts", ["account_id", "path"], unique=True)
    op.create_index("transcripts_by_call", "transcripts", ["account_id", "call_id"])
    unfinished = sa.text("ended_ms IS NULL")
    for name, columns in (("turn", ["turn", "due_ms"]), ("account_turn", ["account_id", "turn"])):
        op.create_index(
            f"transcripts_by_{name}",
            "transcripts",
            columns,
            sqlite_where=unfinished,
            postgresql_where=unfinished,
        )
