"""A port that another program has."""

import io
import socket
from pathlib import Path

import pytest
from rich.console import Console

from dev.errors import PortTaken
from dev.lab.lifecycle import Lab
from dev.lab.plan import Plan
from dev.progress import Progress
from tests.harness.ports import free_port


async def test_a_port_is_taken(tmp_path: Path) -> None:
    """The server and the port are named, and no server was started."""
    port = free_port()
    lab = Lab.create(tmp_path, Plan(port_base=port - 2, pbx="debian"))
    with socket.create_server(("127.0.0.1", port)), pytest.raises(PortTaken) as fault:
        await lab.start(Progress(Console(file=io.StringIO())))
    assert str(fault.value).startswith(f"Valkey needs port {port}, which another program uses")
    assert not lab.is_running()
