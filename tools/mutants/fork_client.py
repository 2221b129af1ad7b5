"""The other side of the servers: starts the process that collects all tests, and asks."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from tools.mutants import fork_server
from tools.mutants.fork_server import DESCRIPTORS, Answer, Request
from tools.mutants.packages import ROOT


class ForkClient:
    """One server; it runs the tests of one mutant at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def start(self, request: Request) -> "ServedRun":
        """Ask for a run."""
        self._connection.send_bytes(msgspec.json.encode(request))
        return ServedRun(self._connection)

    def wait_ready(self) -> None:
        """Wait until all tests are collected."""
        self._connection.recv_bytes()

    def close(self) -> None:
        """Let the server end."""
        self._connection.close()


class ServedRun:
    """A request that a server has not answered yet."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def poll(self) -> Answer | None:
        """Return the answer once there is one."""
        if not self._connection.poll():
            return None
        return self.wait()

    def wait(self) -> Answer:
        """Wait for the answer."""
        return msgspec.json.decode(self._connection.recv_bytes(), type=Answer)


def start_servers(count: int, options: Sequence[str], log: Path) -> list[ForkClient]:
    """Start servers that know the tests which pytest collects with these options."""
    pairs = [socket.socketpair() for _ in range(count)]
    theirs = [other.fileno() for _, other in pairs]
    command = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-s",
        "--tb",
        "line",
        "-p",
        fork_server.__name__,
        *options,
    )
    environment = {**os.environ, DESCRIPTORS: " ".join(map(str, theirs))}
    with log.open("wb") as output:
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=theirs,
        )
    for _, other in pairs:
        other.close()
    clients = [ForkClient(Connection(own.detach())) for own, _ in pairs]
    for client in clients:
        client.wait_ready()
    return clients
