"""`switchroom account create`, `set`, `list` and so on: accounts and their limits."""

from typing import Annotated

import msgspec
from cyclopts import Parameter
from pydantic.alias_generators import to_camel
from rich.console import Console
from rich.table import Table

from api.accounts.store import Account, AccountStore
from api.auth.store import KeyStore
from api.cli.account_limits import AccountLimits, leg_limits, retention, with_limits
from api.cli.runtime import change_stores, read_stores
from api.cli.validators import (
    NUMBER_TYPES,
    AccountId,
    check_name,
    parse_denied,
    parse_email,
    parse_number_types,
    parse_prefixes,
    parse_region,
    parse_trunks,
)
from wire.programs.output import OutputFlag, shown, write_shown

COLUMNS = (
    "account", "name", "active", "calls", "calls/s", "region", "may call", "legs", "keeps"
)  # fmt: skip
# The id, so that it can be copied, and what is short; the others take several lines.
UNBROKEN = {"account", "active", "calls", "calls/s", "region"}
Limits = Annotated[AccountLimits | None, Parameter(name="*")]
Allow = Annotated[
    list[str] | None,
    Parameter(help="Prefixes that the account may call, such as +47; `any`; `none`. Repeatable."),
]


Deny = Annotated[
    list[str] | None,
    Parameter(help="Prefixes that are never called although allowed; `none`. Repeatable."),
]
Types = Annotated[
    list[str] | None,
    Parameter(help=f"Types of costly numbers to allow: {', '.join(NUMBER_TYPES)}; `none`."),
]


def create(  # noqa: PLR0913 - one parameter for each option
    account: AccountId,
    *,
    name: Annotated[str, Parameter(help="Display name; default: the id.")] = "",
    limits: Limits = None,
    allow: Allow = None,
    deny: Deny = None,
    allow_type: Types = None,
) -> None:
    """Create an account; without --allow it may call no number."""
    new = with_limits(Account(check_name(account), name or account), limits)
    created = _with_destinations(new, allow, deny, allow_type)

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        await accounts.add(created)

    change_stores("account create", account, command)


def change(  # noqa: PLR0913 - one parameter for each option
    account: AccountId,
    *,
    limits: Limits = None,
    allow: Allow = None,
    deny: Deny = None,
    allow_type: Types = None,
    active: Annotated[bool | None, Parameter(help="Enable or disable the account.")] = None,
) -> None:
    """Change the limits of an account; options that are not given keep their value."""

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        found = await accounts.get(account)
        limited = with_limits(found, limits)
        changed = _with_destinations(limited, allow, deny, allow_type)
        if active is not None:
            await accounts.set_active(account, active)
        await accounts.change(changed, found)

    change_stores("account set", account, command)


def trunks(
    account: AccountId,
    names: Annotated[list[str], Parameter(help="Trunks in order of preference, or `any`.")],
) -> None:
    """Set the trunks over which an account calls; `any` means all, in the engines' order."""
    _change("trunks", account, trunks=() if names == ["any"] else parse_trunks(names))


def start(account: AccountId) -> None:
    """Let a stopped account call and be called again."""

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        await accounts.set_active(account, True)

    change_stores("account start", account, command)


def region(
    account: AccountId,
    country: Annotated[str, Parameter(help="Country code such as NO, or `none`.")],
) -> None:
    """Set the country of an account's numbers without a +; `none` removes it."""
    _change("region", account, region=parse_region(country))


def email(
    account: AccountId, address: Annotated[str, Parameter(help="E-mail address, or `none`.")]
) -> None:
    """Set the e-mail address of an account; `none` removes it."""
    _change("email", account, email=parse_email(address))


def list_accounts(*, output: OutputFlag = "table") -> None:
    """List the accounts."""

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        if output != "table":
            rows = [msgspec.to_builtins(each) for each in await accounts.all()]
            write_shown(shown([{to_camel(k): v for k, v in row.items()} for row in rows]), output)
            return
        table = Table(*COLUMNS, box=None, pad_edge=False)
        for column in table.columns:
            column.overflow = "fold"
            column.no_wrap = column.header in UNBROKEN
        for each in await accounts.all():
            may_call = _may_call(each)
            limits = (each.max_calls or "any", each.max_calls_per_s or "any")
            active = "yes" if each.is_active else "no"
            described = (each.region or "", may_call, leg_limits(each), retention(each))
            table.add_row(each.id, each.name, active, *map(str, limits), *described)
        Console(highlight=False).print(table)

    read_stores(command)


def _may_call(account: Account) -> str:
    allowed = ("any",) if account.destinations is None else account.destinations
    denied = [f"not {prefix}" for prefix in account.denied]
    return " ".join([*allowed, *denied, *account.number_types]) or "none"


def _change(action: str, account: str, **values: str | tuple[str, ...] | None) -> None:
    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        found = await accounts.get(account)
        await accounts.change(msgspec.structs.replace(found, **values), found)

    change_stores(f"account {action}", account, command)


def _with_destinations(
    account: Account, allow: list[str] | None, deny: list[str] | None, types: list[str] | None
) -> Account:
    return msgspec.structs.replace(
        account,
        destinations=account.destinations if allow is None else parse_prefixes(allow),
        denied=account.denied if deny is None else parse_denied(deny),
        number_types=account.number_types if types is None else parse_number_types(types),
    )
