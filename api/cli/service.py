"""`switchroom api`: run the REST layer; `switchroom api migrate`: only its database's shape."""

import asyncio
from typing import Annotated

import uvloop
from cyclopts import App, Parameter

from api.app import opened
from api.cli.runtime import refuse, settings_of
from api.config import Settings, Stored
from api.db.database import Database
from api.db.migrate import migrate
from api.http.errors import Refused
from api.logging import set_up
from api.serve import serve

app = App(name="api", help="Run the REST layer until SIGTERM.", version_flags=())


@app.default
def start() -> None:
    """Run the REST layer until SIGTERM."""
    settings = settings_of(Settings)
    set_up(settings.log_level)
    try:
        uvloop.run(serve(settings))
    except Refused as error:
        refuse(f"{error}: {error.__cause__}")


@app.command(name="migrate")
def migrated() -> None:
    """Bring the database up to date, and end."""
    try:
        asyncio.run(_migrated(settings_of(Stored).database_url))
    except Refused as error:
        refuse(f"{error}: {error.__cause__}")


@app.command(name="terms")
def terms(
    *,
    anew: Annotated[bool, Parameter(help="Put lists that are there, too.", negative="")] = False,
) -> None:
    """Put what accounts may dial into the engines' store, as `api` does by itself, and end."""
    try:
        asyncio.run(_pushed(settings_of(Settings), anew=anew))
    except Refused as error:
        refuse(str(error))


async def _pushed(settings: Settings, *, anew: bool) -> None:
    async with opened(settings) as parts:
        await (parts.pusher.anew() if anew else parts.pusher.compare())


async def _migrated(url: str) -> None:
    database = Database(url)
    try:
        await migrate(database)
    finally:
        await database.close()
