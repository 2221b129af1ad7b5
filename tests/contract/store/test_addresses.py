"""The real store over TLS, with a password, and through a sentinel during a failover.

The server itself does not use TLS: a proxy in front of it does.
"""

import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from engine.store.errors import StoreDown
from engine.store.redis.store import RedisStore
from tests.contract.store.durable_server import change, open_store
from tests.harness.servers.certificate import certificate
from tests.harness.servers.sentinel import NAME, Sentinel
from tests.harness.servers.valkey import Valkey
from tests.harness.shards import at
from tests.harness.store.lossy_connection import LossyProxy
from tests.harness.store.stores import claim_shard
from tests.harness.until import until

PASSWORD = "open-sesame"  # noqa: S105 - of a test server


class LockedValkey(Valkey):
    """A server with a password."""

    def command(self) -> Sequence[str]:
        """Return its command line."""
        return [*super().command(), "--requirepass", PASSWORD]

    async def is_ready(self) -> bool:
        """Return whether it accepts the password."""
        async with Redis(port=self.port, password=PASSWORD) as client:
            try:
                return bool(await client.ping())
            except (RedisError, OSError):
                return False


async def test_over_tls_with_a_password(tmp_path: Path) -> None:
    """Scripts and commands use TLS; an unverified server gets no request."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    key, signed = certificate()
    (pair := tmp_path / "pair.pem").write_bytes(key + signed)
    tls.load_cert_chain(pair)
    async with LockedValkey(tmp_path / "valkey") as valkey:
        proxy = LossyProxy(valkey.port, tls)
        async with proxy.listening():
            address = f"rediss://:{PASSWORD}@localhost:{proxy.port}/0"
            async with open_store(f"{address}?ssl_ca_certs={pair}") as store:
                token = await claim_shard(store, at(3), "engine1")
                await store.commit(at(3), token, [change(0)])
                proxy.lose_next = True
                await store.commit(at(3), token, [change(1)])
                assert await store.log(at(3), "c1") == [b"0", b"1"]
            async with open_store(address) as store:
                with pytest.raises(StoreDown, match="certificate"):
                    await store.claim(at(3), "engine1", 1_000)
            async with open_store(
                f"rediss://localhost:{proxy.port}/0?ssl_ca_certs={pair}"
            ) as store:
                with pytest.raises(StoreDown, match="Authentication"):
                    await store.claim(at(3), "engine1", 1_000)


async def test_a_sentinel_failover(tmp_path: Path) -> None:
    """The primary crashes, and the next commit reaches the replica."""
    async with Valkey(tmp_path / "one") as one, Valkey(tmp_path / "two") as two:
        async with Redis(port=two.port) as client:
            await client.replicaof("127.0.0.1", str(one.port))
        async with Sentinel(tmp_path / "sentinel", one) as sentinel:
            await until(lambda: _knows_replica(sentinel), what="a replica")
            async with open_store(sentinel.address) as store:
                token = await claim_shard(store, at(3), "engine1")
                await store.commit(at(3), token, [change(0)])
                await until(lambda: _has(two, 1), what="the replica to have it")
                await one.kill()
                await until(lambda: _commits(store, token), timeout_s=30, what="another primary")
                assert await store.log(at(3), "c1") == [b"0", b"1"]
                assert await store.read(at(3), "c1") == b"1"


async def _knows_replica(sentinel: Sentinel) -> bool:
    async with Redis(port=sentinel.port, decode_responses=True) as client:
        return bool(await client.sentinel_slaves(NAME))


async def _has(server: Valkey, lines: int) -> bool:
    async with Redis(port=server.port) as client:
        return await client.llen("{pbx1:3}:log:c1") == lines


async def _commits(store: RedisStore, token: int) -> bool:
    try:
        await store.commit(at(3), token, [change(1)])
    except StoreDown:
        return False
    return True
