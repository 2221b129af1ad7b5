"""Connections to addresses do not wait for lookups of names."""

import subprocess
import sys

PROGRAM = """
import asyncio, os, socket, sys
from base.program import EventLoop

def threads():
    return len(os.listdir("/proc/self/task"))

async def connect(family, host):
    with socket.create_server((host, 0), family=family) as server, socket.socket(family) as client:
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, server.getsockname())
    return threads()

with asyncio.Runner(loop_factory=EventLoop) as runner:
    before = threads()
    assert runner.run(connect(socket.AF_INET, "127.0.0.1")) == before
    assert runner.run(connect(socket.AF_INET6, "::1")) == before
"""


def test_a_connection_to_an_address_needs_no_thread() -> None:
    """Uvloop has threads for names, all of which two slow ones hold: none has started."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
