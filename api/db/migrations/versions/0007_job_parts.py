"""What jobs make is kept in one table, whatever it is about."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Give the table of call records' exports a name for all; what is in it stays."""
    op.drop_table("contact_download_parts")  # of a version that was never released
    op.rename_table("cdr_export_parts", "job_parts")
    op.execute(sa.text("ALTER TABLE job_parts RENAME COLUMN last_started_ms TO last_key"))
    op.drop_index("ix_cdr_export_parts_made_ms", "job_parts")
    op.create_index("ix_job_parts_made_ms", "job_parts", ["made_ms"])
