"""Migrates the database: at start, or by `switchroom api migrate`."""

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import ApiError
from api.db.database import Database

LOCK = 0x5377_6974  # any number, the same in all processes


class LaterDatabase(ApiError):
    """The database belongs to a later version, which this one does not know."""

    def __init__(self, found: str, last_known: str) -> None:
        super().__init__(
            f"the database has migration {found}, of a later version; this version knows those up"
            f" to {last_known}. Start the later version, or restore a backup of the time before"
            " its start: nothing was changed"
        )


async def migrate(database: Database) -> None:
    """Run the pending migrations; several processes may start at the same time.

    Raises LaterDatabase: there are no downgrades.
    """
    async with database.writing() as connection:
        await lock_migrations(connection)
        await connection.run_sync(_migrate)


def _migrate(connection: Connection) -> None:
    found, known = migration_of(connection), known_migrations()
    if found is not None and found not in known:
        raise LaterDatabase(found, known[0])
    if found != known[0]:
        upgrade(connection)


async def lock_migrations(connection: AsyncConnection) -> None:
    """Let no other process migrate until the transaction ends; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        await connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the pending migrations up to one, within the connection's transaction."""
    command.upgrade(alembic_config(connection), revision)


def migration_of(connection: Connection) -> str | None:
    """Return the last migration of a database; None if it has none."""
    return MigrationContext.configure(connection).get_current_revision()


@cache
def known_migrations() -> tuple[str, ...]:
    """Return the migrations of this version, the last one first."""
    scripts = ScriptDirectory.from_config(_config())
    return tuple(each.revision for each in scripts.walk_revisions())


def alembic_config(connection: Connection) -> Config:
    """Return the Alembic configuration for a connection."""
    config = _config()
    config.attributes["connection"] = connection
    return config


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    return config
