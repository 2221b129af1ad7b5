"""Doctor checks of manager interfaces and of recording archives."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from cli.doctor.ami import check_ami
from cli.doctor.machine import check_archive
from engine.config import Settings
from engine.settings.nodes import NodeSettings
from tests.harness.ports import free_port
from tests.harness.settings import SECRET, read_settings

SETTINGS = read_settings({"ami_password": SECRET})
COMMANDS = "Response: Success\r\nMixMonitor: Record a call. (Priv: system)\r\n"


@asynccontextmanager
async def manager(
    commands: str = COMMANDS, status: int = 200, login: str = "Success"
) -> AsyncIterator[NodeSettings]:
    """Serve a node's manager interface, over HTTP and TCP."""

    async def arawman(_request: web.Request) -> web.Response:
        return web.Response(text=commands, status=status)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"Asterisk Call Manager/11.0.0\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"Response: {login}\r\n\r\n".encode())
        writer.close()

    app = web.Application()
    app.router.add_post("/arawman", arawman)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    tcp = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield node(runner.addresses[0][1], tcp.sockets[0].getsockname()[1])
    finally:
        tcp.close()
        await runner.cleanup()


def node(port: int, ami_port: int) -> NodeSettings:
    """Return the settings of a node at these ports."""
    return NodeSettings.model_validate(
        {
            "name": "pbx1",
            "url": f"http://127.0.0.1:{port}",
            "password": SECRET,
            "ami_port": ami_port,
        }
    )


async def levels(given: NodeSettings, settings: Settings = SETTINGS) -> list[str]:
    """Check a node; return the level of each finding."""
    return [each.level for each in await check_ami(settings, given, None)]


async def test_a_manager_user_with_the_console() -> None:
    """A user that may run console commands has more rights than the engine needs."""
    async with manager(f"{COMMANDS}Command: Execute a command. (Priv: command)\r\n") as found:
        assert await levels(found) == ["WARN", "OK"]


async def test_a_good_manager() -> None:
    """A suitable manager records, and reports the node's health."""
    async with manager() as given:
        assert await levels(given) == ["OK", "OK"]


@pytest.mark.parametrize(
    ("commands", "status", "login", "found"),
    [
        ("Response: Success\r\n", 200, "Success", ["FAIL", "OK"]),
        (COMMANDS, 404, "Success", ["FAIL", "OK"]),
        (COMMANDS, 401, "Error", ["FAIL", "WARN"]),
    ],
)
async def test_a_managers_faults(commands: str, status: int, login: str, found: list[str]) -> None:
    """A missing right or missing HTTP fails recording; a wrong password affects health, too."""
    async with manager(commands, status, login) as given:
        assert await levels(given) == found


async def test_no_manager() -> None:
    """Without a manager recording fails and health warns; without a password nothing is checked."""
    assert await levels(node(free_port(), free_port())) == ["FAIL", "WARN"]
    without = read_settings({})
    assert await levels(node(free_port(), free_port()), without) == ["WARN"]


async def test_an_archive(tmp_path: Path) -> None:
    """The check creates the directory and a file; an impossible directory or bucket fails."""
    assert (await check_archive(f"file://{tmp_path}/new", {})).level == "OK"
    assert (tmp_path / "new/switchroom-doctor").is_file()
    (tmp_path / "taken").touch()
    assert (await check_archive(f"file://{tmp_path}/taken", {})).level == "FAIL"
    away = {"endpoint": f"http://127.0.0.1:{free_port()}", "region": "x", "access_key_id": "x"}
    found = await check_archive("s3://calls", {**away, "secret_access_key": "y"})
    assert found.level == "FAIL"
