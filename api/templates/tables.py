"""The table of message templates.

A template without a platform id is pending: the platform has not answered its creation. The next
status of its name and language settles it.
"""

import sqlalchemy as sa

from api.db.database import metadata

templates = sa.Table(
    "msgapp_templates",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("name", sa.String(512), nullable=False),
    sa.Column("language", sa.String(16), nullable=False),
    sa.Column("category", sa.String(64), nullable=False),
    sa.Column("sub_category", sa.String(64)),
    sa.Column("phone_number_id", sa.String(64), nullable=False),
    sa.Column("parameter_format", sa.String(16), nullable=False),
    sa.Column("platform_template_id", sa.String(64)),
    sa.Column("is_primary_device_delivery_only", sa.Boolean, nullable=False),
    sa.Column("components", sa.JSON, nullable=False),
    sa.Column("status", sa.Text),
    sa.Column("status_reason", sa.Text),
    sa.Column("status_ms", sa.BigInteger, nullable=False),  # when the status was last updated
    sa.Column(
        "status_s", sa.BigInteger, nullable=False
    ),  # time of the last webhook, by the platform's clock
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("updated_ms", sa.BigInteger, nullable=False),
    sa.Index("msgapp_templates_by_name", "account_id", "name", "language", unique=True),
    sa.Index("msgapp_templates_by_time", "account_id", "created_ms", "id"),
    sa.Index("msgapp_templates_by_platform", "platform_template_id", "account_id"),
)
