"""`switchroom account dnc-token` and `switchroom account dnc`: do-not-call lists, their tokens."""

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.types import ExistingFile

from api.accounts.store import AccountStore
from api.cli.runtime import change_database, fail, read_database
from api.cli.validators import AccountId
from api.common.clock import now_ms
from api.common.timestamps import format_ms
from api.db.database import Database
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokenStore, parse_token_id
from wire.phone_numbers.e164 import e164
from wire.phone_numbers.written_number import InvalidNumber
from wire.programs.named_commands import with_example
from wire.programs.output import Column, OutputFlag, rows_shown, shown, write_shown

dnc_token = App(
    name="dnc-token",
    help=with_example(
        "Tokens that change an account's do-not-call list.", "account dnc-token list acme"
    ),
    version_flags=(),
)
dnc = App(
    name="dnc",
    help=with_example(
        "An account's do-not-call list.", "account dnc import acme numbers.txt --provider telco"
    ),
    version_flags=(),
)
_COLUMNS: tuple[Column, ...] = (
    ("token", lambda row: f"swd_{row['id']}_…"),
    ("created", lambda row: row["createdTime"][:16].replace("T", " ")),
)
CHUNK_ROWS = 10_000
MAX_PROVIDER_CHARS = 64  # as in the REST API


@dnc.command(name="import")
def import_file(
    account: AccountId,
    file: Annotated[ExistingFile, Parameter(help="Text file with one number per line.")],
    *,
    provider: Annotated[str, Parameter(help="Telecom provider of the entries.")],
    output: OutputFlag = "table",
) -> None:
    """Add the numbers of a file, one per line; invalid lines are reported and skipped.

    Example: switchroom account dnc import acme numbers.txt --provider telco
    """
    if not 0 < len(provider) <= MAX_PROVIDER_CHARS:
        fail(f"--provider: 1 to {MAX_PROVIDER_CHARS} characters are expected")

    async def command(database: Database) -> None:
        region = (await AccountStore(database, now_ms).get(account)).region
        store, count = DncStore(database, now_ms), 0
        with file.open(encoding="utf-8", errors="replace") as lines:
            numbers = _numbers(lines, region)
            while chunk := list(itertools.islice(numbers, CHUNK_ROWS)):
                await store.put(account, chunk, provider)
                count += len(chunk)
        write_shown(shown({"numbers": count}, f"{count} numbers"), output)

    change_database("account dnc import", account, command)


def _numbers(lines: Iterable[str], region: str | None) -> Iterator[str]:
    for place, line in enumerate(lines, 1):
        try:
            if text := line.strip():
                yield e164(text, region)
        except InvalidNumber as error:
            sys.stderr.write(f"line {place}: {error}\n")


@dnc_token.command
def create(account: AccountId, *, output: OutputFlag = "table") -> None:
    """Create a token; it is shown only once.

    Example: switchroom account dnc-token create acme
    """

    async def command(database: Database) -> None:
        token = await DncTokenStore(database, now_ms).add(account)
        write_shown(shown({"token": token}, token), output)

    change_database("account dnc-token create", account, command)


@dnc_token.command(name="list")
def list_tokens(account: AccountId, *, output: OutputFlag = "table") -> None:
    """List an account's tokens.

    Example: switchroom account dnc-token list acme
    """

    async def command(database: Database) -> None:
        await AccountStore(database, now_ms).get(account)
        tokens = await DncTokenStore(database, now_ms).all(account)
        rows = [{"id": each.id, "createdTime": format_ms(each.created_ms)} for each in tokens]
        write_shown(rows_shown(rows, _COLUMNS, "no tokens"), output)

    read_database(command)


@dnc_token.command
def revoke(
    account: AccountId,
    token: Annotated[str, Parameter(help="Token, or its id in the list of tokens.")],
    *,
    output: OutputFlag = "table",
) -> None:
    """Revoke a token.

    Example: switchroom account dnc-token revoke acme 3f9a12
    """

    async def command(database: Database) -> None:
        token_id = parse_token_id(token)
        await DncTokenStore(database, now_ms).revoke(account, token_id)
        write_shown(shown({"id": token_id}), output)

    change_database("account dnc-token revoke", account, command)
