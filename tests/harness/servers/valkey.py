"""A Valkey server of tests.

async with Valkey(tmp_path / "valkey") as valkey:
    client = redis.asyncio.from_url(valkey.url)
    await valkey.kill()      # acknowledged writes are kept
    await valkey.start()
"""

from pathlib import Path

from redis.asyncio import Redis

from dev.servers.valkey import ValkeyServer
from tests.harness.ports import free_port


class Valkey(ValkeyServer):
    """One server on 127.0.0.1, on a free port unless `port` is given."""

    def __init__(self, folder: Path, *, port: int | None = None, bound: bool = True) -> None:
        super().__init__(folder, port=port or free_port(), bound=bound)

    async def flush(self) -> None:
        """Delete everything."""
        client = Redis.from_url(self.url)
        await client.flushall()
        await client.aclose()
