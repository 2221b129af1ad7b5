"""`switchroom api`: serve the REST API, migrate its database, push dial policies."""

import asyncio
from typing import Annotated

import uvloop
from cyclopts import App, Parameter

from api.common.errors import ApiError
from api.config import DatabaseSettings, Settings
from api.db.database import Database
from api.db.migrate import migrate
from base.listen import BindFailed
from base.logging import configure
from base.sandbox import protect_process
from base.tls import TlsFileError
from cli.database.runtime import fail, load_settings
from cli.help import with_example
from cli.output import OutputFlag, shown, write_shown

app = App(
    name="api",
    help=with_example(
        "Run the REST layer; migrate its database; push dial policies.", "api migrate"
    ),
    version_flags=(),
)


@app.default
def start() -> None:
    """Run the REST layer until SIGTERM.

    Example: switchroom api
    """
    from api.serve import serve  # noqa: PLC0415 - `api migrate` serves nothing

    settings = load_settings(Settings)
    configure(settings.log_level)
    protect_process()
    try:
        uvloop.run(serve(settings))
    except TlsFileError as error:
        fail(str(error), "unreadable_certificate")
    except BindFailed as error:
        fail(str(error), "cannot_listen")
    except ApiError as error:
        fail(_text(error), error.code)


@app.command(name="migrate")
def migrate_database(*, output: OutputFlag = "table") -> None:
    """Migrate the database, and exit.

    Example: switchroom api migrate
    """
    try:
        asyncio.run(_migrate(load_settings(DatabaseSettings).database_url))
    except ApiError as error:
        fail(_text(error), error.code)
    write_shown(shown({"isMigrated": True}), output)


@app.command(name="terms")
def push_policies(
    *,
    full: Annotated[
        bool, Parameter(help="Send all do-not-call lists from the beginning.", negative="")
    ] = False,
    output: OutputFlag = "table",
) -> None:
    """Push dial policies to the engines once, and exit.

    Example: switchroom api terms --full
    """
    try:
        asyncio.run(_push(load_settings(Settings), full=full))
    except TlsFileError as error:
        fail(str(error), "unreadable_certificate")
    except ApiError as error:
        fail(_text(error), error.code)
    write_shown(shown({"isPushed": True}), output)


def _text(error: ApiError) -> str:
    return f"{error}: {error.__cause__}" if error.__cause__ else str(error)


async def _push(settings: Settings, *, full: bool) -> None:
    from api.services import open_services  # noqa: PLC0415 - `api migrate` needs none

    async with open_services(settings) as services:
        await (services.policy_sync.resend_all() if full else services.policy_sync.sync_all())


async def _migrate(url: str) -> None:
    database = Database(url)
    try:
        await migrate(database)
    finally:
        await database.close()
