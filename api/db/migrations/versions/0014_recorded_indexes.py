"""Indexes of recorded calls: what their condition says is no column of theirs any more."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Create the indexes again."""
    for name in ("has_recording", "has_voicemail"):
        has = sa.column(name, sa.Boolean) == sa.true()
        op.drop_index(f"cdrs_by_{name}", "cdrs")
        op.create_index(
            f"cdrs_by_{name}",
            "cdrs",
            ["account_id", "started_ms", "id", "is_answered"],
            sqlite_where=has,
            postgresql_where=has,
        )
