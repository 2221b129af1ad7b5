"""Contacts are searched by both names at once; the events of contacts."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
NAMES = {"f_name_key": "l_name_key", "l_name_key": "f_name_key"}


def upgrade() -> None:
    """Make indexes and table."""
    for first, second in NAMES.items():
        name, has = f"contacts_by_{first}", sa.column(first).is_not(None)
        op.drop_index(name, "contacts")
        keys = ["account_id", first, second, "list_id", "id"]
        op.create_index(name, "contacts", keys, sqlite_where=has, postgresql_where=has)
    of_contact = sa.ForeignKey("contacts.id", ondelete="CASCADE")
    op.create_table(
        "contact_events",
        sa.Column("id", KEY, primary_key=True, autoincrement=True),
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("contact_id", KEY, of_contact, nullable=False),
        sa.Column("event", sa.String(32), nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("contact_events_by_account", "contact_events", ["account_id", "id"])
    for column in ("contact_id", "created_ms"):
        op.create_index(f"ix_contact_events_{column}", "contact_events", [column])
