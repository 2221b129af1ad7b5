"""Tables of documents, with the versions by which the engines' store follows their changes.

A collection is what an account has of one kind. A deleted document stays as a row without a body
for a while, so that the deletion has a version.
"""

import sqlalchemy as sa

from api.db.columns import Millis, Text
from api.db.database import metadata

Account = sa.String(64)
Kind = sa.String(16)
Name = Text(128)
_ROUTED = sa.text("kind = 'route' AND NOT is_deleted")
IS_AGENT = sa.text("kind = 'agent' AND NOT is_deleted")  # in these words, which an index has

collections = sa.Table(
    "document_collections",
    metadata,
    sa.Column("account_id", Account, sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("kind", Kind, primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),  # of its last change
    sa.Column("checksum", sa.BigInteger, nullable=False),  # of its documents' versions
    sa.Column("count", sa.Integer, nullable=False),  # without deleted documents
    # In bytes, of its documents and of the versions of flows, also of those deleted lately.
    sa.Column("size", sa.BigInteger, nullable=False, server_default="0"),
    sa.Index("ix_document_collections_version", "version"),
)

documents = sa.Table(
    "documents",
    metadata,
    sa.Column("account_id", Account, sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("kind", Kind, primary_key=True),
    sa.Column("id", Name, primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary),
    sa.Column("is_deleted", sa.Boolean, nullable=False),
    sa.Column("changed_ms", Millis, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),  # of the body, before encryption
    # What a list shows of a large document: an API request's, encrypted as its body is.
    sa.Column("summary", sa.LargeBinary),
    sa.Index(
        "ix_documents_account_id_kind_is_deleted_id", "account_id", "kind", "is_deleted", "id"
    ),
    sa.Index("ix_documents_account_id_kind_version", "account_id", "kind", "version"),
    # A number has one route, whatever account it belongs to.
    sa.Index(
        "uq_documents_route", "id", unique=True, sqlite_where=_ROUTED, postgresql_where=_ROUTED
    ),
    # By endpoint, with which an agent's body begins.
    sa.Index("ix_documents_agent", "body", sqlite_where=IS_AGENT, postgresql_where=IS_AGENT),
)

flow_versions = sa.Table(
    "flow_versions",
    metadata,
    sa.Column("account_id", Account, sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("flow_id", Name, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    # Empty after a while if the flow is deleted: its number is not given to another version.
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("made_ms", Millis, nullable=False),
    sa.Column("is_published", sa.Boolean, nullable=False),  # now or before: calls may run it
)
