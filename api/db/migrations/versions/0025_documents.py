"""Documents of accounts: routes, flows, API requests, agents, callbacks.

Revision ID: 0025
Revises: 0024
"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

ROUTED = sa.text("kind = 'route' AND NOT is_deleted")
ID = sa.String(128).with_variant(sa.String(128, collation="C"), "postgresql")


def _account() -> sa.Column[str]:
    return sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), primary_key=True)


def upgrade() -> None:
    """Create the tables, empty: the documents that engines have are taken over when REST runs."""
    op.create_table(
        "document_collections",
        _account(),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("checksum", sa.BigInteger, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
    )
    op.create_table(
        "documents",
        _account(),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("id", ID, primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary),
        sa.Column("is_deleted", sa.Boolean, nullable=False),
        sa.Column("changed_ms", sa.BigInteger, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
    )
    op.create_index(
        "ix_documents_account_id_kind_is_deleted_id",
        "documents",
        ["account_id", "kind", "is_deleted", "id"],
    )
    op.create_index(
        "ix_documents_account_id_kind_version", "documents", ["account_id", "kind", "version"]
    )
    op.create_index(
        "uq_documents_route",
        "documents",
        ["id"],
        unique=True,
        sqlite_where=ROUTED,
        postgresql_where=ROUTED,
    )
    op.create_table(
        "flow_versions",
        _account(),
        sa.Column("flow_id", ID, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("made_ms", sa.BigInteger, nullable=False),
        sa.Column("is_published", sa.Boolean, nullable=False),
    )
