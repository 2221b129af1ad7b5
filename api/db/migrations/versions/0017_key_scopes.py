"""Scopes, networks and last use of API keys; records of an agent are found by its id."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Keys that exist may do what they could do: everything, or what an agent does."""
    for name, default in (("scopes", '["integrator"]'), ("networks", "[]")):
        op.add_column("api_keys", sa.Column(name, sa.JSON, nullable=False, server_default=default))
    op.add_column("api_keys", sa.Column("last_used_ms", sa.BigInteger))
    keys = sa.table("api_keys", sa.column("agent_id"), sa.column("scopes", sa.JSON))
    op.execute(sa.update(keys).where(keys.c.agent_id.is_not(None)).values(scopes=["agent"]))
    op.drop_index("cdr_agents_by_agent", "cdr_agents")
    names = ["account_id", "agent_id", "started_ms", "cdr_id", "marks"]
    op.create_index("cdr_agents_by_agent", "cdr_agents", names)
