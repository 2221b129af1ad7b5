"""`switchroom account key`: made, listed, rotated, revoked; a secret is shown once."""

import sys
import time
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from api.accounts.store import AccountStore
from api.auth.store import Credentials, KeyStore, generate_credentials
from api.cli.runtime import run_with_stores
from api.cli.validators import check_name
from api.common.clock import now_ms
from api.common.errors import NotFound

key = App(name="key", help="An account's API keys.", version_flags=())


@key.command
def create(
    account: str,
    *,
    agent: Annotated[str, Parameter(help="Let it stand for one agent.")] = "",
) -> None:
    """Make a key and show it, this once."""
    bound = check_name(agent) if agent else None

    async def deed(accounts: AccountStore, keys: KeyStore) -> None:
        await accounts.get(account)
        given = generate_credentials()
        await keys.add(account, given, bound)
        _show(given)

    run_with_stores(deed)


@key.command(name="list")
def listed(account: str) -> None:
    """List an account's keys."""

    async def deed(accounts: AccountStore, keys: KeyStore) -> None:
        await accounts.get(account)
        table = Table("key", "agent", "made", "ends", box=None)
        for each in await keys.all(account):
            ends = _day(each.expires_ms) if each.expires_ms else "never"
            table.add_row(f"swk_{each.id}_…", each.agent_id or "", _day(each.created_ms), ends)
        Console(highlight=False).print(table)

    run_with_stores(deed)


@key.command
def rotate(
    account: str,
    key_id: str,
    *,
    overlap_s: Annotated[int, Parameter(help="How long the old one still opens.")] = 3_600,
) -> None:
    """Make a key like another, and let the other end soon."""

    async def deed(_accounts: AccountStore, keys: KeyStore) -> None:
        old = await keys.get(_id(key_id))
        if old is None or old.account_id != account:
            raise NotFound(f"no key {key_id} of {account}")
        given = generate_credentials()
        await keys.add(account, given, old.agent_id)
        await keys.expire(account, old.id, now_ms() + overlap_s * 1_000)
        _show(given)

    run_with_stores(deed)


@key.command
def revoke(account: str, key_id: str) -> None:
    """Let a key, and every token that it gave, open nothing any more."""

    async def deed(_accounts: AccountStore, keys: KeyStore) -> None:
        await keys.expire(account, _id(key_id), now_ms())

    run_with_stores(deed)


def _id(text: str) -> str:
    """Read a key's id, also off the key or off a line of the list."""
    return text.removeprefix("swk_").partition("_")[0]


def _show(given: Credentials) -> None:
    sys.stdout.write(f"apiKey    {given.api_key}\napiSecret {given.api_secret}\n")


def _day(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at_ms / 1_000))
