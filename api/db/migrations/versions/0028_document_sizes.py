"""The bytes of each collection of documents, and an index on what was changed last.

Revision ID: 0028
Revises: 0027
"""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

collections = sa.table(
    "document_collections", sa.column("account_id"), sa.column("kind"), sa.column("size")
)
documents = sa.table(
    "documents", *map(sa.column, ("account_id", "kind", "id", "size", "is_deleted"))
)
versions = sa.table("flow_versions", *map(sa.column, ("account_id", "flow_id", "body")))


def upgrade() -> None:
    """Add the column with the sizes of what is stored, versions of deleted flows included."""
    op.add_column(
        "document_collections",
        sa.Column("size", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.create_index("ix_document_collections_version", "document_collections", ["version"])
    its_documents = sa.and_(
        documents.c.account_id == collections.c.account_id,
        documents.c.kind == collections.c.kind,
        sa.not_(documents.c.is_deleted),
    )
    its_versions = sa.and_(
        versions.c.account_id == collections.c.account_id, collections.c.kind == "flow"
    )
    size = _sum(documents.c.size, its_documents) + _sum(
        sa.func.length(versions.c.body), its_versions
    )
    op.execute(sa.update(collections).values(size=size))


def _sum(column: sa.ColumnElement[int], condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.coalesce(sa.select(sa.func.sum(column)).where(condition).scalar_subquery(), 0)
