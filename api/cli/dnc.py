"""`switchroom account dnc-token`: who may change an account's do-not-call list; shown once."""

import sys
import time

from cyclopts import App
from rich.console import Console
from rich.table import Table

from api.cli.run import run_on
from api.clock import now_ms
from api.db import Database
from api.dnc.tokens import DncTokens

dnc_token = App(
    name="dnc-token", help="Tokens that change an account's do-not-call list.", version_flags=()
)


@dnc_token.command
def create(account: str) -> None:
    """Make a token and show it, this once."""

    async def deed(database: Database) -> None:
        sys.stdout.write(f"{await DncTokens(database, now_ms).add(account)}\n")

    run_on(deed)


@dnc_token.command(name="list")
def listed(account: str) -> None:
    """List an account's tokens."""

    async def deed(database: Database) -> None:
        table = Table("token", "made", box=None)
        for each in await DncTokens(database, now_ms).all(account):
            made = time.strftime("%Y-%m-%d %H:%M", time.gmtime(each.created_ms / 1_000))
            table.add_row(f"swd_{each.id}_…", made)
        Console(highlight=False).print(table)

    run_on(deed)


@dnc_token.command
def revoke(account: str, token: str) -> None:
    """Let a token change nothing any more."""

    async def deed(database: Database) -> None:
        token_id = token.removeprefix("swd_").partition("_")[0]
        await DncTokens(database, now_ms).revoke(account, token_id)

    run_on(deed)
