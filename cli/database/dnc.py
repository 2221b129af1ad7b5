"""`switchroom account dnc-token` and `switchroom account dnc`: do-not-call lists, their tokens."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.types import ExistingFile
from msgspec.structs import replace

from api.accounts.store import AccountStore
from api.common.clock import now_ms
from api.common.timestamps import format_ms
from api.contacts.imports import reader_client
from api.contacts.imports.reader.messages import (
    FileHints,
    ReadRequest,
    RejectedRow,
    UnreadableFile,
)
from api.contacts.imports.reader.open import detect_format
from api.contacts.imports.reader.row_parser import PHONE
from api.db.database import Database
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokenStore, parse_token_id
from base.exit_status import ExitStatus
from cli.database.runtime import change_database, fail, read_database
from cli.database.validators import AccountId, check_line
from cli.help import with_example
from cli.output import Column, OutputFlag, rows_shown, shown, write_shown

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
_NO_DELIMITER = "\0"  # a line is one number
MAX_PROVIDER_CHARS = 64  # as in the REST API


@dnc.command(name="import")
def import_file(
    account: AccountId,
    file: Annotated[ExistingFile, Parameter(help="Text or workbook with one number per line.")],
    *,
    provider: Annotated[str, Parameter(help="Telecom provider of the entries.")],
    output: OutputFlag = "table",
) -> None:
    """Add the numbers of a file, one per line; it fails if a line is not a number.

    The other lines are added. A text may be in UTF-8, UTF-16 or a usual 8-bit encoding.

    A workbook (xlsx, xls, ods) has a single column of numbers in its first visible sheet.

    Example: switchroom account dnc import acme numbers.txt --provider telco
    """
    check_line(provider, "--provider", MAX_PROVIDER_CHARS)

    async def command(database: Database) -> None:
        region = await AccountStore(database, now_ms).region(account)
        store, count, refused = DncStore(database, now_ms), 0, 0
        try:
            async with reader_client.batches(_request(file, region)) as batches:
                async for batch in batches:
                    await store.put(account, batch.phone_number, provider)
                    count += len(batch.phone_number) + batch.duplicates
                    refused += len(batch.rejects)
                    _report(batch.rejects)
        except UnreadableFile as error:
            fail(f"{file}: {error}")
        found = {"numbers": count, "refused": refused}
        write_shown(shown(found, f"{count} numbers"), output)
        if refused:  # these numbers may still be called
            sys.stderr.write(f"switchroom: lines left out: {refused}; import them again\n")
            sys.exit(ExitStatus.NEGATIVE)

    change_database("account dnc import", account, command)


def _request(file: Path, region: str | None) -> ReadRequest:
    """Return the request to read a file as contacts that are numbers only, without a header."""
    found = replace(detect_format(FileHints(str(file), region=region)), header_row=0)
    if found.kind == "csv":
        found = replace(found, delimiter=_NO_DELIMITER)
    return ReadRequest(str(file), found, [PHONE], {PHONE: PHONE}, region, "skip", skip=0)


def _report(rejects: list[RejectedRow]) -> None:
    for each in rejects:
        sys.stderr.write(f"line {each.line}: {each.reason.removeprefix(f'{PHONE}: ')}\n")


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
