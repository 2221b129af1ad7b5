"""`switchroom api`: run the REST layer; `switchroom api migrate`: only its database's shape."""

import asyncio
from typing import Annotated

import uvloop
from cyclopts import App, Parameter

from api.app import open_services
from api.cli.runtime import fail, load_settings
from api.common.errors import ApiError
from api.config import DatabaseSettings, Settings
from api.db.database import Database
from api.db.migrate import migrate
from api.logging import configure_logging
from api.serve import serve

app = App(name="api", help="Run the REST layer until SIGTERM.", version_flags=())


@app.default
def start() -> None:
    """Run the REST layer until SIGTERM."""
    settings = load_settings(Settings)
    configure_logging(settings.log_level)
    try:
        uvloop.run(serve(settings))
    except ApiError as error:
        fail(f"{error}: {error.__cause__}")


@app.command(name="migrate")
def migrated() -> None:
    """Bring the database up to date, and end."""
    try:
        asyncio.run(_migrated(load_settings(DatabaseSettings).database_url))
    except ApiError as error:
        fail(f"{error}: {error.__cause__}")


@app.command(name="terms")
def terms(
    *,
    anew: Annotated[bool, Parameter(help="Put lists that are there, too.", negative="")] = False,
) -> None:
    """Put what accounts may dial into the engines' store, as `api` does by itself, and end."""
    try:
        asyncio.run(_pushed(load_settings(Settings), anew=anew))
    except ApiError as error:
        fail(str(error))


async def _pushed(settings: Settings, *, anew: bool) -> None:
    async with open_services(settings) as parts:
        await (parts.policy_sync.resend_all() if anew else parts.policy_sync.sync_all())


async def _migrated(url: str) -> None:
    database = Database(url)
    try:
        await migrate(database)
    finally:
        await database.close()
