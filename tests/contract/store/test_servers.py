"""What operators see of the store's servers."""

import pytest
from redis.asyncio import Redis

from engine.store.errors import StoreDown
from engine.store.store import Store
from tests.contract.store.durable_server import open_store
from tests.harness.servers.valkey import Valkey


async def test_the_servers_of_a_store(store: Store) -> None:
    """Each primary of a cluster is one; the memory of this process is one, too."""
    found = await store.servers()
    kinds = {each.kind for each in found}
    assert len(kinds) == 1
    if kinds == {"memory"}:
        return
    assert kinds <= {"redis", "valkey"}
    for each in found:
        assert each.address
        assert each.version
        assert each.role == "primary"
        assert each.used_bytes > 0
        assert each.clients > 0
    assert len({each.address for each in found}) == len(found)


async def test_the_address_of_a_server(valkey: Valkey) -> None:
    """It is that of the settings, without user, password and options."""
    async with open_store(f"{valkey.url}?socket_keepalive=true") as store:
        (server,) = await store.servers()
    assert server.address == valkey.url.removeprefix("redis://").rpartition("@")[2]


async def test_the_limit_of_a_server(valkey: Valkey) -> None:
    """It is that of the server's settings; none is none."""
    async with open_store(valkey.url) as store:
        (unlimited,) = await store.servers()
        async with Redis(port=valkey.port) as client:
            await client.config_set("maxmemory", "100mb")
        (limited,) = await store.servers()
    assert unlimited.max_bytes is None
    assert limited.max_bytes == 100 * 1024 * 1024


async def test_a_server_that_is_down(valkey: Valkey) -> None:
    """It is down for this, too."""
    async with open_store(valkey.url) as store:
        await valkey.kill()
        with pytest.raises(StoreDown):
            await store.servers()
