"""`switchroom account number`: which caller ids are an account's own."""

import sys

from cyclopts import App

from api.accounts.store import AccountStore
from api.auth.store import KeyStore
from api.cli.runtime import fail_not_found, run_with_stores
from api.cli.validators import parse_caller_id
from api.common.errors import NotFound

number = App(name="number", help="An account's caller ids.", version_flags=())


@number.command
def add(account: str, number: str) -> None:
    """Give a number to an account; the first is shown where a call names none."""
    given = parse_caller_id(number)

    async def deed(accounts: AccountStore, _keys: KeyStore) -> None:
        await accounts.add_number(account, given)

    run_with_stores(deed)


@number.command(name="list")
def listed(account: str) -> None:
    """List an account's numbers."""

    async def deed(accounts: AccountStore, _keys: KeyStore) -> None:
        await accounts.get(account)
        sys.stdout.writelines(f"{each}\n" for each in await accounts.numbers(account))

    run_with_stores(deed)


@number.command(name="rm", alias="remove")
def remove(account: str, number: str) -> None:
    """Take a number from an account."""

    async def deed(accounts: AccountStore, _keys: KeyStore) -> None:
        try:
            await accounts.remove_number(account, number)
        except NotFound:
            fail_not_found("number", f"{number} of account {account}")

    run_with_stores(deed)
