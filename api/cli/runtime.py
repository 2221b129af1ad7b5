"""How commands run: on one event loop, with the database open, faults told in a line."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import NoReturn, TypeVar

from pydantic import ValidationError

from api.accounts.store import AccountStore
from api.auth.store import KeyStore
from api.common.clock import now_ms
from api.common.errors import ApiError
from api.config import DatabaseSettings
from api.db.database import Database
from api.db.migrate import migrate
from wire.errors import BadInput

T = TypeVar("T", bound=DatabaseSettings)
EXIT_NOT_FOUND = 1  # exit status of `rm`, as of all commands: there was nothing of that name
EXIT_INVALID = 2  # likewise: nothing was done
StoreCommand = Callable[[AccountStore, KeyStore], Awaitable[None]]


def load_settings(kind: type[T]) -> T:
    """Read the settings; ends the process with what is wrong with them."""
    try:
        return kind()
    except ValidationError as error:
        lines = (f"SWITCHROOM_{_name(each['loc'])}: {each['msg']}" for each in error.errors())
        fail("\n".join(lines))


def fail(words: str) -> NoReturn:
    """End the process with what is wrong: nothing was done."""
    sys.stderr.write(f"switchroom: {words}\n")
    sys.exit(EXIT_INVALID)


def fail_not_found(kind: str, name: str) -> NoReturn:
    """End the process: there was nothing of that name to be taken away."""
    sys.stderr.write(f"switchroom: no such {kind}: {name}\n")
    sys.exit(EXIT_NOT_FOUND)


def run_with_stores(deed: StoreCommand) -> None:
    """Do something to accounts and keys; ends the process with status 2 when it is refused."""

    async def on(database: Database) -> None:
        await deed(AccountStore(database, now_ms), KeyStore(database, now_ms))

    run_with_database(on)


def run_with_database(deed: Callable[[Database], Awaitable[None]]) -> None:
    """Do something to the database; ends the process with status 2 when it is refused."""
    try:
        asyncio.run(_run(load_settings(DatabaseSettings).database_url, deed))
    except (ApiError, BadInput) as error:
        fail(str(error))


async def _run(url: str, deed: Callable[[Database], Awaitable[None]]) -> None:
    database = Database(url)
    if database.is_new:
        sys.stderr.write(f"switchroom: a new database, {url} (SWITCHROOM_DATABASE_URL)\n")
    try:
        await migrate(database)
        await deed(database)
    finally:
        await database.close()


def _name(place: tuple[int | str, ...]) -> str:
    return "__".join(map(str, place)).upper()
