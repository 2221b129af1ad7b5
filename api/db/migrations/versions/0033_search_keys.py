"""Search keys in which the letters I of Turkish, and all forms of a letter, are the same.

Revision ID: 0033
Revises: 0032
"""

import sqlalchemy as sa
from alembic import op

from api.contacts.search_keys import normalize

revision = "0033"
down_revision = "0032"

CHUNK = 5_000
KEYS = {"contacts": ("f_name", "l_name", "email"), "contact_lists": ("name",)}


def upgrade() -> None:
    """Compute all keys again. Takes seconds for a million contacts."""
    for name, texts in KEYS.items():
        _change_keys(name, texts)


def _change_keys(name: str, texts: tuple[str, ...]) -> None:
    keys = [f"{each}_key" for each in texts]
    table = sa.table(name, *map(sa.column, ("id", *texts, *keys)))
    rows = sa.select(table).order_by(table.c.id).limit(CHUNK)
    change = sa.update(table).where(table.c.id == sa.bindparam("its_id"))
    change = change.values({key: sa.bindparam(f"its_{key}") for key in keys})
    connection, last = op.get_bind(), -1
    while found := connection.execute(rows.where(table.c.id > last)).mappings().all():
        changed = [{"its_id": row["id"], **its} for row in found if (its := _changed(row, texts))]
        if changed:
            connection.execute(change, changed)
        last = found[-1]["id"]


def _changed(row: sa.RowMapping, texts: tuple[str, ...]) -> dict[str, str | None]:
    """Return the keys of a row as parameters, if one is not the stored one."""
    keys = {f"{each}_key": normalize(row[each]) if row[each] else None for each in texts}
    if all(row[key] == value for key, value in keys.items()):
        return {}
    return {f"its_{key}": value for key, value in keys.items()}
