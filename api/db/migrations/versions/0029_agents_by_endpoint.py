"""An index on the bodies of agents, which begin with their endpoint.

Revision ID: 0029
Revises: 0028
"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

_AGENT = sa.text("kind = 'agent' AND NOT is_deleted")


def upgrade() -> None:
    """Let the agent of an endpoint be found over all accounts."""
    op.create_index(
        "ix_documents_agent",
        "documents",
        ["body"],
        sqlite_where=_AGENT,
        postgresql_where=_AGENT,
    )
