"""Generates the SQL of the first migration from the tables of the code, for each database.

Until the first release it is generated again whenever a table changes; from then on it stays as it
is, and changes are further migrations (docs/operations/upgrades.md).
"""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Dialect, make_url
from sqlalchemy.schema import CreateIndex, CreateTable

import api.services
from api.db.database import metadata

FOLDER = Path(api.services.__file__).parent / "db/migrations/initial"
NAMES = ("sqlite", "postgresql")


def schema(dialect: Dialect) -> str:
    """Return the statements that create all tables and indexes, each ended by a semicolon."""
    return "".join(f"{each.strip()};\n\n" for each in _statements(dialect))


def _statements(dialect: Dialect) -> Iterator[str]:
    for table in metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect))
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            yield str(CreateIndex(index).compile(dialect=dialect))


if __name__ == "__main__":
    for name in NAMES:
        statements = schema(make_url(f"{name}://").get_dialect()())
        text = "\n".join(line.rstrip() for line in statements.splitlines())
        (FOLDER / f"{name}.sql").write_text(f"{text.strip()}\n")
