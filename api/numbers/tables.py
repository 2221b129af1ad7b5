"""Numbers of the messaging platform in SQL."""

import sqlalchemy as sa

from api.db.database import metadata

numbers = sa.Table(
    "msgapp_numbers",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("business_name", sa.String(256), nullable=False),
    sa.Column("phone_number_id", sa.String(64), nullable=False),
    sa.Column("business_msgapp_number", sa.String(32), nullable=False),
    sa.Column("flowbuilder_id", sa.String(64)),
    sa.Column("verified", sa.Boolean, nullable=False),
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("via", sa.String(16)),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("updated_ms", sa.BigInteger, nullable=False),
    sa.Index("msgapp_numbers_by_phone", "account_id", "phone_number_id", unique=True),
    sa.Index("msgapp_numbers_by_time", "account_id", "created_ms", "id"),
)
