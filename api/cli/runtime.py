"""Runs commands: on one event loop, with an open database; errors are printed in one line."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from getpass import getuser
from typing import NoReturn, TypeVar

from pydantic import ValidationError

from api.accounts.store import AccountStore
from api.audit.trail import AuditEntry, AuditTrail
from api.auth.store import KeyStore
from api.common.clock import now_ms
from api.common.errors import ApiError
from api.config import DatabaseSettings
from api.db.database import Database
from api.db.migrate import migrate
from wire.decoding.errors import BadInput

T = TypeVar("T", bound=DatabaseSettings)
READING_WORDS = frozenset({"list", "show"})
AUDITED_WORDS = READING_WORDS | {
    "create", "set", "region", "email", "key", "number", "dnc", "dnc-token", "add", "rm", "rotate",
    "revoke", "trunks", "import", "export", "stop", "erase",
}  # fmt: skip
EXIT_NOT_FOUND = 1  # exit status: nothing of that name exists
EXIT_INVALID = 2  # exit status: invalid input, nothing was changed
StoreCommand = Callable[[AccountStore, KeyStore], Awaitable[None]]


def load_settings(kind: type[T]) -> T:
    """Read the settings; exit with the errors if they are invalid."""
    try:
        return kind()
    except ValidationError as error:
        lines = (f"SWITCHROOM_{_name(each['loc'])}: {each['msg']}" for each in error.errors())
        fail("\n".join(lines))


def fail(message: str) -> NoReturn:
    """Exit with an error: nothing was changed."""
    sys.stderr.write(f"switchroom: {message}\n")
    sys.exit(EXIT_INVALID)


def fail_not_found(kind: str, name: str) -> NoReturn:
    """Exit with an error: nothing of that name exists."""
    sys.stderr.write(f"switchroom: no such {kind}: {name}\n")
    sys.exit(EXIT_NOT_FOUND)


def run_with_stores(command: StoreCommand) -> None:
    """Run a command on accounts and keys; exit with status 2 if it is rejected."""

    async def on(database: Database) -> None:
        await command(AccountStore(database, now_ms), KeyStore(database, now_ms))

    run_with_database(on)


def run_with_database(command: Callable[[Database], Awaitable[None]]) -> None:
    """Run a command on the database; exit with status 2 if it is rejected."""
    try:
        asyncio.run(_run(load_settings(DatabaseSettings).database_url, command))
    except (ApiError, BadInput) as error:
        fail(str(error))


async def _run(url: str, command: Callable[[Database], Awaitable[None]]) -> None:
    database = Database(url)
    if database.is_new:
        sys.stderr.write(f"switchroom: a new database, {url} (SWITCHROOM_DATABASE_URL)\n")
    try:
        await migrate(database)
        outcome = "failed"
        try:
            await command(database)
            outcome = "done"
        finally:
            await _record(database, sys.argv[1:], outcome)
    finally:
        await database.close()


async def _record(database: Database, words: Sequence[str], outcome: str) -> None:
    """Add a command that changes something to the audit trail; the account is its first argument.

    A command has one or two words before its arguments.
    """
    names = [each for each in words if not each.startswith("-")]
    verbs = [each for each in names if each in AUDITED_WORDS]
    if names[:1] != ["account"] or not verbs or verbs[-1] in READING_WORDS:
        return
    position = names.index(verbs[-1]) + 1
    account = names[position] if position < len(names) else None
    trail = AuditTrail(database, now_ms)
    text = " ".join(words)
    action = " ".join(names[:position])
    trail.add(AuditEntry(account, now_ms(), administrator(), action, text, outcome))
    await trail.flush()


def administrator() -> str:
    """Return the name of the user who runs a command, as the audit trail has it."""
    return f"user:{getuser()}"


def _name(place: tuple[int | str, ...]) -> str:
    return "__".join(map(str, place)).upper()
