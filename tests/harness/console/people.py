"""Those who sign in to the console in tests: owners, of the account and of another one.

owner = await add_owner(api)                   # with all scopes, of the account of `api`
other = await add_owner(api, other=True)       # of another account, which is created
await owner.rest("PUT", "/srmain/voice/agents/1001", {"endpoint": "PJSIP/1001"})
"""

from typing import Any

from msgspec import Struct

from api.accounts.store import Account, AccountStore
from api.auth.store import KeyStore, KeyTerms, generate_credentials
from api.common.clock import now_ms
from api.db.database import Database
from tests.harness.api.databases import sqlite_url
from tests.harness.servers.api import Api

MARKUP = "<img src=x onerror=alert(1)>"  # what no page may take for markup


class Person(Struct, frozen=True):
    """Who signs in, with a key's pair."""

    api: Api
    url: str
    api_key: str
    api_secret: str

    def endpoint(self, user: str) -> str:
        """Return an endpoint that no agent of another account has."""
        return f"PJSIP/{self.api.account}-{user}"

    async def rest(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send a request and return its JSON; raises RequestError."""
        return await self.api.request(method, path, body, token=self.api_key)


async def add_owner(api: Api, *, other: bool = False) -> Person:
    """Create a key with all scopes; for another account than that of `api` also the account."""
    account = f"{api.account}-other" if other else api.account
    database = Database(sqlite_url(api.folder))
    try:
        if other:
            await AccountStore(database, now_ms).add(Account(account, account, destinations=None))
        credentials = generate_credentials()
        await KeyStore(database, now_ms).add(account, credentials, KeyTerms(scopes=("owner",)))
    finally:
        await database.close()
    return Person(api, api.url, credentials.api_key, credentials.api_secret)


def with_key(person: Person, api_key: str, api_secret: str) -> Person:
    """Return who signs in with another key of the same REST layer."""
    return Person(person.api, person.url, api_key, api_secret)
