"""Tables of do-not-call lists, with the versions by which engines follow their changes.

A number is on a list while any of its entries (one per provider) is active. A removed entry stays
as an inactive row, so that each change has a row with its version.
"""

import sqlalchemy as sa

from api.db.database import metadata

Account = sa.String(64)
MAX_REFUSAL_CHARS = 200
REFUSED = sa.text("refusal <> ''")

tokens = sa.Table(
    "dnc_tokens",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("account_id", Account, sa.ForeignKey("accounts.id"), nullable=False, index=True),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
)

lists = sa.Table(
    "dnc_lists",
    metadata,
    sa.Column("account_id", Account, sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("since", sa.BigInteger, nullable=False),  # before its first change
    sa.Column("version", sa.BigInteger, nullable=False),  # of its last change
)

entries = sa.Table(
    "dnc_entries",
    metadata,
    sa.Column("account_id", Account, sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("number", sa.String(16), primary_key=True),
    sa.Column("provider", sa.String(64), primary_key=True),
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("changed_ms", sa.BigInteger, nullable=False),
    # Why engines refuse the number; empty: they do not. Refused entries are not sent again.
    sa.Column("refusal", sa.String(MAX_REFUSAL_CHARS), nullable=False, server_default=""),
    sa.Index("ix_dnc_entries_account_id_version", "account_id", "version"),
    # In the order of a list, by its filter: one that few entries match reads no others.
    sa.Index("ix_dnc_entries_is_active", "account_id", "is_active", "number", "provider"),
    sa.Index(
        "ix_dnc_entries_refused", "account_id", sqlite_where=REFUSED, postgresql_where=REFUSED
    ),
)
