"""Runs commands: on one event loop, with an open database; errors are printed in one line."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from getpass import getuser
from typing import NoReturn, TypeVar

from api.accounts.store import AccountStore
from api.audit.trail import AuditEntry, AuditTrail, without_secrets
from api.auth.key_store import KeyStore
from api.common.clock import now_ms
from api.common.errors import ApiError
from api.config import DatabaseSettings
from api.db.database import Database
from api.db.migrate import migrate
from base.exit_status import ExitStatus
from base.invalid_settings import InvalidSettings
from base.settings import load
from wire.decoding.errors import BadInput
from wire.error_codes.hint import failure_lines

T = TypeVar("T", bound=DatabaseSettings)
StoreCommand = Callable[[AccountStore, KeyStore], Awaitable[None]]
DatabaseCommand = Callable[[Database], Awaitable[None]]


def load_settings(kind: type[T]) -> T:
    """Read the settings; exit with the errors if they are invalid."""
    try:
        return load(kind)
    except InvalidSettings as error:
        fail(str(error), "invalid_settings")


def fail(message: str, code: str = "") -> NoReturn:
    """Exit with an error, whose code a page explains if there is one: nothing was changed."""
    sys.stderr.write(f"{failure_lines('switchroom', message, code)}\n")
    sys.exit(ExitStatus.NOT_DONE)


def fail_not_found(kind: str, name: str) -> NoReturn:
    """Exit with an error: nothing of that name exists."""
    sys.stderr.write(f"switchroom: no such {kind}: {name}\n")
    sys.exit(ExitStatus.NEGATIVE)


def read_stores(command: StoreCommand) -> None:
    """Run a command that shows accounts or keys; exit with status 2 if it is rejected."""
    read_database(_on_stores(command))


def change_stores(action: str, account: str, command: StoreCommand) -> None:
    """Run an audited command on accounts and keys; exit with status 2 if it is rejected."""
    change_database(action, account, _on_stores(command))


def read_database(command: DatabaseCommand) -> None:
    """Run a command that shows something; exit with status 2 if it is rejected."""
    _run_to_end(command)


def change_database(action: str, account: str, command: DatabaseCommand) -> None:
    """Run a command on the database, and add it to the audit trail of the account."""

    async def audited(database: Database) -> None:
        outcome = "failed"
        try:
            await command(database)
            outcome = "done"
        finally:
            await record_command(database, action, account, outcome)

    _run_to_end(audited)


def _on_stores(command: StoreCommand) -> DatabaseCommand:
    async def on(database: Database) -> None:
        await command(AccountStore(database, now_ms), KeyStore(database, now_ms))

    return on


def _run_to_end(command: DatabaseCommand) -> None:
    try:
        asyncio.run(_run(load_settings(DatabaseSettings).database_url, command))
    except (ApiError, BadInput) as error:
        fail(str(error))


async def _run(url: str, command: DatabaseCommand) -> None:
    database = Database(url)
    if database.is_new:
        sys.stderr.write(f"switchroom: a new database, {url} (SWITCHROOM_DATABASE_URL)\n")
    try:
        await migrate(database)
        await command(database)
    finally:
        await database.close()


async def record_command(
    database: Database, action: str, account: str | None, outcome: str
) -> None:
    """Add a command to the audit trail, without the secret parts of keys and tokens."""
    trail = AuditTrail(database, now_ms)
    words = without_secrets(" ".join(sys.argv[1:]))
    trail.add(AuditEntry(account, now_ms(), administrator(), action, words, outcome))
    await trail.flush()


def administrator() -> str:
    """Return the name of the user who runs a command, as the audit trail has it."""
    return f"user:{getuser()}"
