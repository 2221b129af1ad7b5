"""How long an account's records, digits and recordings are kept; which records have digits.

Records that exist may have digits: each is looked at once, when its account gets a limit.

Revision ID: 0021
Revises: 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Add the columns and the table. Takes seconds for a million records."""
    for name in ("records", "digits", "recordings"):
        op.add_column("accounts", sa.Column(f"keep_{name}_days", sa.Integer))
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    account = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
    op.create_table(
        "cdr_digits",
        sa.Column("account_id", account, primary_key=True),
        sa.Column("started_ms", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("cdr_id", key, sa.ForeignKey("cdrs.id"), primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO cdr_digits (account_id, started_ms, cdr_id)"
        " SELECT account_id, started_ms, id FROM cdrs"
    )
