"""`switchroom account number`: the caller ids of an account."""

from typing import Annotated

from cyclopts import App, Parameter

from api.accounts.store import AccountStore
from api.auth.key_store import KeyStore
from api.common.clock import now_ms
from api.common.errors import NotFound
from api.db.database import Database
from api.documents.cipher import DocumentCipher
from api.documents.store import DocumentStore
from api.routing.number_removal import remove_number
from cli.database.runtime import change_database, change_stores, fail_not_found, read_stores
from cli.database.validators import AccountId, parse_caller_id
from cli.help import with_example
from cli.output import OutputFlag, shown, write_shown
from wire.phone_numbers.e164 import canonical

PhoneNumber = Annotated[
    str,
    Parameter(help="Number such as +4721930000; without a + it is of the account's region."),
]

number = App(
    name="number",
    help=with_example("An account's caller ids.", "account number list acme"),
    version_flags=(),
)


@number.command
def add(account: AccountId, number: PhoneNumber, *, output: OutputFlag = "table") -> None:
    """Add a number to an account; the first is the default caller id.

    Example: switchroom account number add acme +4721930000
    """

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        caller_id = parse_caller_id(number, await accounts.region(account))
        await accounts.add_number(account, caller_id)
        write_shown(shown({"number": caller_id}), output)

    change_stores("account number add", account, command)


@number.command(name="list")
def list_numbers(account: AccountId, *, output: OutputFlag = "table") -> None:
    """List an account's numbers.

    Example: switchroom account number list acme
    """

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        await accounts.get(account)
        found = await accounts.numbers(account)
        write_shown(shown(found, *found), output)

    read_stores(command)


@number.command(name="rm", alias="remove")
def remove(account: AccountId, number: PhoneNumber, *, output: OutputFlag = "table") -> None:
    """Remove a number from an account, with its route.

    Example: switchroom account number rm acme +4721930000
    """

    async def command(database: Database) -> None:
        documents = DocumentStore(database, now_ms, DocumentCipher(()))  # routes are not encrypted
        accounts = AccountStore(database, now_ms)
        try:
            caller_id = canonical(number, await accounts.region(account))
            await remove_number(accounts, documents, account, caller_id)
        except NotFound:
            fail_not_found("number", f"{number} of account {account}")
        write_shown(shown({"number": caller_id}), output)

    change_database("account number rm", account, command)
