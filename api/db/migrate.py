"""Migrates the database: at start, or by `switchroom api migrate`."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection

from api.db.database import Database

LOCK = 0x5377_6974  # any number, the same in all processes


async def migrate(database: Database) -> None:
    """Run the pending migrations; several processes may start at the same time."""
    async with database.writing() as connection:
        await lock_migrations(connection)
        await connection.run_sync(upgrade)


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


def known_migrations(connection: Connection) -> list[str]:
    """Return the migrations of this version, the last one first."""
    scripts = ScriptDirectory.from_config(alembic_config(connection))
    return [each.revision for each in scripts.walk_revisions()]


def alembic_config(connection: Connection) -> Config:
    """Return the Alembic configuration for a connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    return config
