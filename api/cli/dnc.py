"""`switchroom account dnc-token`: who may change an account's do-not-call list; shown once.

`switchroom account dnc import`: a whole list at once.
"""

import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.types import ExistingFile
from rich.console import Console
from rich.table import Table

from api.accounts.store import AccountStore
from api.cli.runtime import fail, run_with_database
from api.common.clock import now_ms
from api.contacts.phone_numbers import InvalidNumber, e164
from api.db.database import Database
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokenStore

dnc_token = App(
    name="dnc-token", help="Tokens that change an account's do-not-call list.", version_flags=()
)
dnc = App(name="dnc", help="An account's do-not-call list.", version_flags=())
CHUNK = 10_000
LONGEST = 64  # as in the interface


@dnc.command(name="import")
def imported(
    account: str,
    file: ExistingFile,
    *,
    provider: Annotated[str, Parameter(help="Whose entries they are.")],
) -> None:
    """Put the numbers of a file on the list, one a line; what is no number is told, and left."""
    if not 0 < len(provider) <= LONGEST:
        fail(f"--provider: 1 to {LONGEST} letters are expected")

    async def deed(database: Database) -> None:
        region = (await AccountStore(database, now_ms).get(account)).region
        store, count = DncStore(database, now_ms), 0
        with file.open(encoding="utf-8", errors="replace") as lines:
            numbers = _numbers(lines, region)
            while chunk := list(itertools.islice(numbers, CHUNK)):
                await store.put(account, chunk, provider)
                count += len(chunk)
        sys.stdout.write(f"{count} numbers\n")

    run_with_database(deed)


def _numbers(lines: Iterable[str], region: str | None) -> Iterator[str]:
    for place, line in enumerate(lines, 1):
        try:
            if text := line.strip():
                yield e164(text, region)
        except InvalidNumber as error:
            sys.stderr.write(f"line {place}: {error}\n")


@dnc_token.command
def create(account: str) -> None:
    """Make a token and show it, this once."""

    async def deed(database: Database) -> None:
        sys.stdout.write(f"{await DncTokenStore(database, now_ms).add(account)}\n")

    run_with_database(deed)


@dnc_token.command(name="list")
def listed(account: str) -> None:
    """List an account's tokens."""

    async def deed(database: Database) -> None:
        await AccountStore(database, now_ms).get(account)
        table = Table("token", "made", box=None)
        for each in await DncTokenStore(database, now_ms).all(account):
            made = time.strftime("%Y-%m-%d %H:%M", time.gmtime(each.created_ms / 1_000))
            table.add_row(f"swd_{each.id}_…", made)
        Console(highlight=False).print(table)

    run_with_database(deed)


@dnc_token.command
def revoke(account: str, token: str) -> None:
    """Let a token change nothing any more."""

    async def deed(database: Database) -> None:
        token_id = token.removeprefix("swd_").partition("_")[0]
        await DncTokenStore(database, now_ms).revoke(account, token_id)

    run_with_database(deed)
