"""The REST layer over HTTP with an engine, and clients of the SDK with an owner's key."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import Struct
from switchroom_sdk import AsyncSwitchroom

from api.accounts.store import Account
from api.auth.key_store import Credentials, KeyStore, KeyTerms, generate_credentials
from tests.harness.api.databases import sqlite_url
from tests.harness.api.serving import Served, serve_rest
from tests.harness.rpc.scene import RpcScene

ACCOUNT, NUMBER = "shop", "+4721930000"


class Server(Struct):
    """A REST layer, and the key of its account."""

    served: Served
    credentials: Credentials

    @property
    def url(self) -> str:
        return self.served.url

    @property
    def key(self) -> str:
        return self.credentials.api_key


@pytest.fixture
async def server(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Server]:
    """Run the REST layer; its account has a number and may call anybody."""
    async with serve_rest(sqlite_url(tmp_path), scene.url) as served:
        services = served.services
        await services.accounts.add(Account(ACCOUNT, "Shop", destinations=None))
        await services.accounts.add_number(ACCOUNT, NUMBER)
        given = generate_credentials()
        keys = KeyStore(services.database, services.now_ms)
        await keys.add(ACCOUNT, given, KeyTerms(scopes=("owner",)))
        yield Server(served, given)


@pytest.fixture
async def switchroom(server: Server) -> AsyncIterator[AsyncSwitchroom]:
    """Return a client for asyncio."""
    client = AsyncSwitchroom(
        base_url=server.url, api_key=server.key, public_url="https://example.com"
    )
    async with client:
        yield client
