"""`switchroom api`: run the REST layer; `switchroom api migrate`: only its database's shape."""

import asyncio
import sys

import uvloop
from cyclopts import App

from api.cli.run import settings_of
from api.config import Settings, Stored
from api.db import Database
from api.errors import Refused
from api.logs import set_up
from api.migrate import migrate
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
        sys.exit(f"{error}: {error.__cause__}")


@app.command(name="migrate")
def migrated() -> None:
    """Bring the database up to date, and end."""
    try:
        asyncio.run(_migrated(settings_of(Stored).database_url))
    except Refused as error:
        sys.exit(f"{error}: {error.__cause__}")


async def _migrated(url: str) -> None:
    database = Database(url)
    try:
        await migrate(database)
    finally:
        await database.close()
