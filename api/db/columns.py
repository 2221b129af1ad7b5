"""Types of columns that several slices have."""

import sqlalchemy as sa

Key = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # which numbers only INTEGER by itself
Millis = sa.BigInteger


def Text(length: int) -> sa.types.TypeEngine[str]:  # noqa: N802 - it stands where types of SQLAlchemy do
    """Give a text that is compared byte by byte: what begins alike then lies together."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")
