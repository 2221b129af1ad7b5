"""How commands run: on one event loop, with the database open, faults told in a line."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import NoReturn, TypeVar

from pydantic import ValidationError

from api.accounts.store import Accounts
from api.auth.store import Keys
from api.common.clock import now_ms
from api.config import Stored
from api.db.database import Database
from api.db.migrate import migrate
from api.http.errors import Refused
from wire.errors import BadInput

T = TypeVar("T", bound=Stored)
MISSING = 1  # exit status of `rm`, as of all commands: there was nothing of that name
BAD = 2  # likewise: nothing was done
Deed = Callable[[Accounts, Keys], Awaitable[None]]


def settings_of(kind: type[T]) -> T:
    """Read the settings; ends the process with what is wrong with them."""
    try:
        return kind()
    except ValidationError as error:
        lines = (f"SWITCHROOM_{_name(each['loc'])}: {each['msg']}" for each in error.errors())
        refuse("\n".join(lines))


def refuse(words: str) -> NoReturn:
    """End the process with what is wrong: nothing was done."""
    sys.stderr.write(f"switchroom: {words}\n")
    sys.exit(BAD)


def missing(kind: str, name: str) -> NoReturn:
    """End the process: there was nothing of that name to be taken away."""
    sys.stderr.write(f"switchroom: no such {kind}: {name}\n")
    sys.exit(MISSING)


def run(deed: Deed) -> None:
    """Do something to accounts and keys; ends the process with status 2 when it is refused."""

    async def on(database: Database) -> None:
        await deed(Accounts(database, now_ms), Keys(database, now_ms))

    run_on(on)


def run_on(deed: Callable[[Database], Awaitable[None]]) -> None:
    """Do something to the database; ends the process with status 2 when it is refused."""
    try:
        asyncio.run(_run(settings_of(Stored).database_url, deed))
    except (Refused, BadInput) as error:
        refuse(str(error))


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
