"""Usage of accounts by day, summed up from the call records that exist.

Revision ID: 0027
Revises: 0026
"""

import json
from collections import defaultdict

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"

DAY_MS = 86_400_000
BATCH_ROWS = 5_000
ID = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
SUMS = ("calls", "answered_calls", "legs", "talk_ms", "messages")
RECORDS = sa.text(
    "SELECT id, account_id, started_ms, is_answered, record FROM cdrs"
    " JOIN cdr_bodies ON cdr_id = id WHERE id > :after ORDER BY id LIMIT :limit"
)


def upgrade() -> None:
    """Create the table, and fill it."""
    table = op.create_table(
        "usage_days",
        sa.Column("account_id", ID, primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in SUMS),
        sqlite_with_rowid=False,
    )
    sums: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0] * len(SUMS))
    connection, after = op.get_bind(), 0
    while found := connection.execute(RECORDS, {"after": after, "limit": BATCH_ROWS}).all():
        for _id, account_id, started_ms, is_answered, record in found:
            legs = json.loads(bytes(record)).get("legs", ())
            talk_ms = sum(each["talkMs"] + each["holdMs"] for each in legs)
            used = (1, int(is_answered), len(legs), talk_ms, 0)
            key = account_id, started_ms // DAY_MS
            sums[key] = [one + other for one, other in zip(sums[key], used, strict=True)]
        after = found[-1].id
    rows = [
        {"account_id": account_id, "day": day, **dict(zip(SUMS, used, strict=True))}
        for (account_id, day), used in sums.items()
    ]
    if rows:
        op.bulk_insert(table, rows)
