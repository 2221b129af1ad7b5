"""Who reaches ARI and AMI of a real PBX, and what the engine's manager user may do."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio

from engine.ami.client import open_ami
from tests.harness.pbx.asterisk import Pbx

STRANGER = "127.0.0.2"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pbx(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pbx]:
    async with Pbx(tmp_path_factory.mktemp("access") / "pbx1") as node:
        yield node


@pytest.mark.parametrize("path", ["ari/asterisk/ping", "rawman?action=ping", "arawman"])
async def test_a_stranger_gets_nothing_over_http(pbx: Pbx, path: str) -> None:
    """Another address than the engines' gets 403, also with the password."""
    headers = {"Authorization": aiohttp.encode_basic_auth(pbx.ari_user, pbx.ari_password)}
    connector = aiohttp.TCPConnector(local_addr=(STRANGER, 0))
    async with (
        aiohttp.ClientSession(headers=headers, connector=connector) as http,
        http.get(f"{pbx.url}/{path}") as reply,
    ):
        assert reply.status == 403


@pytest.mark.parametrize(("address", "answer"), [("127.0.0.1", "Success"), (STRANGER, "Error")])
async def test_a_login_to_ami(pbx: Pbx, address: str, answer: str) -> None:
    """The right password counts from an engine's address only."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", pbx.ami_port, local_addr=(address, 0)
    )
    await reader.readline()  # the banner
    login = f"Action: Login\r\nUsername: {pbx.ami_user}\r\nSecret: {pbx.passwords.ami}\r\n\r\n"
    writer.write(login.encode())
    assert (await reader.readline()).decode().strip() == f"Response: {answer}"
    writer.close()


async def test_the_manager_user_has_no_console(pbx: Pbx) -> None:
    """A console command is denied; what the engine uses is listed."""
    async with open_ami(pbx.url, pbx.ami_user, pbx.passwords.ami) as ami:
        denied = await ami.ask("Command", {"Command": "core show uptime"})
        listed = (await ami.ask("ListCommands", {})).fields
    assert denied.message == "Permission denied"
    used = {"MixMonitor", "StopMixMonitor", "MixMonitorMute", "CoreStatus", "PJSIPShowContacts"}
    assert used <= listed.keys()
