"""Limits of what an account dials: live legs, new ones a second, minutes a day.

Revision ID: 0020
Revises: 0019
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Add the columns: accounts that exist have no such limits."""
    op.add_column("accounts", sa.Column("max_live_legs", sa.Integer))
    op.add_column("accounts", sa.Column("max_legs_per_s", sa.Float))
    op.add_column("accounts", sa.Column("max_minutes_per_day", sa.Integer))
    op.add_column("accounts", sa.Column("max_legs_per_call", sa.Integer))
