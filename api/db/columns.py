"""Column types that several slices use."""

import sqlalchemy as sa

Key = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # SQLite numbers only INTEGER keys
Millis = sa.BigInteger


def Text(length: int) -> sa.types.TypeEngine[str]:  # noqa: N802 - used like a type of SQLAlchemy
    """Return a text type that is compared bytewise, so that prefixes are index ranges."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")
