"""The shipped configuration of coturn: an agent's login reaches the PBX nodes, and nothing else."""

import asyncio
import re
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from api.agents.ice_servers import ice_servers
from tests.harness.ports import free_port
from tests.harness.until import until

pytestmark = pytest.mark.skipif(shutil.which("turnserver") is None, reason="coturn is missing")

SHIPPED = Path(__file__).parents[3] / "docs/operations/turnserver.conf"
NODE, SECRET = "127.0.0.2", "a secret of the operator"
OF_A_HOST = ("listening-port", "tls-listening-port", "cert", "pkey", "static-auth-secret")
REFUSED = "error 403 (Forbidden IP)"


class Echo(asyncio.DatagramProtocol):
    """A PBX node, which sends back what arrives."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._transport.sendto(data, addr)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[int]:
    """Run coturn as it is shipped, with the address of a node; loopback is one here."""
    lines = SHIPPED.read_text().splitlines()
    kept = [line for line in lines if line.partition("=")[0] not in {*OF_A_HOST, "allowed-peer-ip"}]
    port = free_port()
    own = (f"listening-port={port}", f"static-auth-secret={SECRET}", f"allowed-peer-ip={NODE}",
           "no-tls", "no-dtls", "allow-loopback-peers", "listening-ip=127.0.0.1",
           "relay-ip=127.0.0.1", "log-file=stdout", f"pidfile={tmp_path}/pid")  # fmt: skip
    config = tmp_path / "turnserver.conf"
    config.write_text("\n".join((*kept, *own)))
    async with running("turnserver", "-c", str(config)):
        await until(lambda: answers(port), what="coturn to listen")
        yield port


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


@asynccontextmanager
async def running(*command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet)
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()


async def relayed(server: int, peer: str, port: int) -> str:
    """Send a message to a peer with the login of an agent's phone; return what the client says."""
    expires_ms = int(time.time() + 600) * 1_000
    (turn,) = ice_servers((f"turn:127.0.0.1:{server}",), SECRET, "acme-ada", expires_ms)
    login = ("-u", str(turn.username), "-w", str(turn.credential))
    to_peer = ("-e", peer, "-r", str(port), "-n", "1", "-m", "1", "-c", "-v")
    client = await asyncio.create_subprocess_exec(
        *("turnutils_uclient", "-p", str(server), *login, *to_peer, "127.0.0.1"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await client.communicate()
    return printed.decode()


async def test_a_node_is_reached(server: int) -> None:
    """The audio of a call passes in both directions."""
    port = free_port()
    node, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        Echo, local_addr=(NODE, port)
    )
    try:
        said = await relayed(server, NODE, port)
    finally:
        node.close()
    assert REFUSED not in said
    assert re.search(r"tot_send_msgs=1, tot_recv_msgs=1", said), said


@pytest.mark.parametrize(
    "peer", ["127.0.0.1", "10.0.0.5", "192.168.1.1", "169.254.169.254", "8.8.8.8", "::1", "fe80::1"]
)
async def test_nothing_else_is_reached(server: int, peer: str) -> None:
    """Neither the operator's network nor a cloud's metadata nor the internet."""
    assert "error" in await relayed(server, peer, 80)
