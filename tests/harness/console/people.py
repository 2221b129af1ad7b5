"""Those who sign in to the console in tests: owners, of the account and of another one.

api = await add_account(layer)                 # of this test, in a REST layer of many tests
owner = await add_owner(api)                   # with all scopes, of the account of `api`
other = await add_owner(api, other=True)       # of another account, which is created
await owner.rest("PUT", "/srmain/voice/agents/1001", {"endpoint": "PJSIP/1001"})
"""

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from api.accounts.store import Account, AccountStore
from api.auth.key_store import Credentials, KeyStore, KeyTerms, generate_credentials
from api.common.clock import now_ms
from api.db.database import Database
from tests.harness.api.databases import sqlite_url
from tests.harness.servers.api import AccountClient, Api

MARKUP = "<img src=x onerror=alert(1)>"  # what no page may take for markup


class Person(Struct, frozen=True):
    """Who signs in to an account, with a key's pair."""

    api: AccountClient
    account: str
    url: str
    api_key: str
    api_secret: str

    def endpoint(self, user: str) -> str:
        """Return an endpoint that no agent of another account has."""
        return f"PJSIP/{self.account}-{user}"

    async def rest(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send a request and return its JSON; raises RequestError."""
        return await self.api.request(method, path, body, token=self.api_key)


class AddedAccount(AccountClient):
    """A further account of a REST layer."""

    def __init__(self, api: Api, account: str, number: str, key: Credentials) -> None:
        self.url = api.url
        self.folder = api.folder
        self.account = account
        self.number = number
        self.api_key = key.api_key
        self.api_secret = key.api_secret


async def add_account(
    api: Api, account: str = "", scopes: Sequence[str] = ("owner", "operations")
) -> AddedAccount:
    """Create an account that owns a number and may call any, with a key that sees every page."""
    account = account or f"console-{secrets.token_hex(4)}"
    number = f"+1556{secrets.randbelow(10**7):07}"
    async with _opened(api) as database:
        accounts = AccountStore(database, now_ms)
        await accounts.add(Account(account, account, destinations=None))
        await accounts.add_number(account, number)
        return AddedAccount(api, account, number, await _add_key(database, account, scopes))


async def add_owner(api: AccountClient, *, other: bool = False) -> Person:
    """Create a key with all scopes; for another account than that of `api` also the account."""
    account = f"{api.account}-other" if other else api.account
    async with _opened(api) as database:
        if other:
            await AccountStore(database, now_ms).add(Account(account, account, destinations=None))
        key = await _add_key(database, account, ("owner",))
    return Person(api, account, api.url, key.api_key, key.api_secret)


async def _add_key(database: Database, account: str, scopes: Sequence[str]) -> Credentials:
    credentials = generate_credentials()
    await KeyStore(database, now_ms).add(account, credentials, KeyTerms(scopes=scopes))
    return credentials


@asynccontextmanager
async def _opened(api: AccountClient) -> AsyncIterator[Database]:
    database = Database(sqlite_url(api.folder))
    try:
        yield database
    finally:
        await database.close()


def with_key(person: Person, api_key: str, api_secret: str) -> Person:
    """Return who signs in with another key of the same REST layer."""
    return Person(person.api, person.account, person.url, api_key, api_secret)
