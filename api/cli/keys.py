"""`switchroom account key`: create, list, rotate, revoke; a secret is shown only once."""

import sys
import time
from typing import Annotated

from cyclopts import App, Parameter, validators
from rich.console import Console
from rich.table import Table

from api.accounts.store import AccountStore
from api.auth.key_schemas import MAX_DAYS, MAX_OVERLAP_S, key_view
from api.auth.key_service import DAY_MS
from api.auth.scopes import BUNDLES
from api.auth.store import Credentials, KeyStore, KeyTerms, generate_credentials
from api.cli.runtime import change_stores, read_stores
from api.cli.validators import AccountId, check_name, check_networks, check_scopes
from api.common.clock import now_ms
from wire.programs.output import OutputFlag, shown, write_shown

KeyId = Annotated[str, Parameter(help="Key, or its id in the list of keys.")]

_DAYS = validators.Number(gte=0, lte=MAX_DAYS)

key = App(name="key", help="An account's API keys.", version_flags=())


@key.command
def create(
    account: AccountId,
    *,
    agent: Annotated[str, Parameter(help="Agent that the key acts for.")] = "",
    scope: Annotated[
        tuple[str, ...],
        Parameter(help=f"Scope, or one of the bundles {', '.join(BUNDLES)}; repeatable."),
    ] = (),
    network: Annotated[
        tuple[str, ...],
        Parameter(help="Network that may use it, such as 192.0.2.0/24; repeatable."),
    ] = (),
    days: Annotated[
        int,
        Parameter(help=f"Days until it expires, {MAX_DAYS} at most; 0: never.", validator=_DAYS),
    ] = 0,
) -> None:
    """Create a key; it is shown only once."""
    terms = KeyTerms(
        agent_id=check_name(agent) if agent else None,
        scopes=check_scopes(scope),
        networks=check_networks(network),
        expires_ms=now_ms() + days * DAY_MS if days else None,
    )

    async def command(accounts: AccountStore, keys: KeyStore) -> None:
        await accounts.get(account)
        credentials = generate_credentials()
        await keys.add(account, credentials, terms)
        _show(credentials)

    change_stores("account key create", account, command)


@key.command(name="list")
def list_keys(account: AccountId, *, output: OutputFlag = "table") -> None:
    """List an account's keys."""

    async def command(accounts: AccountStore, keys: KeyStore) -> None:
        await accounts.get(account)
        if output != "table":
            found = [key_view(each, now_ms()) for each in await keys.all(account)]
            write_shown(shown(found), output)
            return
        names = ("key", "agent", "scopes", "networks", "created", "expires", "last used")
        table = Table(*names, box=None)
        table.columns[0].no_wrap = True  # so that it can be copied
        for column in table.columns[1:4]:
            column.overflow = "fold"
        for each in await keys.all(account):
            table.add_row(
                f"swk_{each.id}_…",
                each.agent_id or "",
                " ".join(each.scopes),
                " ".join(each.networks) or "any",
                _day(each.created_ms),
                _day(each.expires_ms) if each.expires_ms else "never",
                _day(each.last_used_ms) if each.last_used_ms else "never",
            )
        Console(highlight=False).print(table)

    read_stores(command)


@key.command
def rotate(
    account: AccountId,
    key_id: KeyId,
    *,
    overlap_s: Annotated[
        int,
        Parameter(
            help="Seconds until the old key expires, a month at most.",
            validator=validators.Number(gte=0, lte=MAX_OVERLAP_S),
        ),
    ] = 3_600,
    days: Annotated[
        int,
        Parameter(
            help=f"Days until the new key expires, {MAX_DAYS} at most; 0: when the old one would.",
            validator=_DAYS,
        ),
    ] = 0,
) -> None:
    """Create a replacement of a key, with its rights, and let the old key expire."""

    async def command(_accounts: AccountStore, keys: KeyStore) -> None:
        credentials = generate_credentials()
        expires_ms = now_ms() + days * DAY_MS if days else None
        await keys.rotate(account, _id(key_id), credentials, overlap_s * 1_000, expires_ms)
        _show(credentials)

    change_stores("account key rotate", account, command)


@key.command
def revoke(account: AccountId, key_id: KeyId) -> None:
    """Revoke a key and all tokens issued for it."""

    async def command(_accounts: AccountStore, keys: KeyStore) -> None:
        await keys.expire(account, _id(key_id), now_ms())

    change_stores("account key revoke", account, command)


def _id(text: str) -> str:
    """Return a key's id; a whole key, or a line of the list, is accepted too."""
    return text.removeprefix("swk_").partition("_")[0]


def _show(credentials: Credentials) -> None:
    sys.stdout.write(f"apiKey    {credentials.api_key}\napiSecret {credentials.api_secret}\n")
    sys.stderr.write("switchroom: the secret is shown only once\n")


def _day(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at_ms / 1_000))
