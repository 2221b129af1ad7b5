"""The PBX as installed: boots without faults, and refuses calls without an engine."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.harness.pbx.asterisk import Pbx
from tests.harness.ports import free_port, media_port
from tests.harness.until import until

REFUSED = Path(__file__).with_name("refused.xml")
REGISTER = Path(__file__).with_name("register.xml")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pbx(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pbx]:
    """Run a node for all tests that leave it as it was."""
    async with Pbx(tmp_path_factory.mktemp("pbx") / "pbx1") as node:
        yield node


@pytest.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[Pbx]:
    """Run a node for one test."""
    async with Pbx(tmp_path / "pbx1") as node:
        yield node


async def test_every_listed_module_runs(pbx: Pbx) -> None:
    """Exactly the modules in modules.conf are loaded and running."""
    modules = await ari(pbx, "asterisk/modules")
    loaded = {module["name"]: module["status"] for module in modules}
    files = {name: status for name, status in loaded.items() if name.endswith(".so")}
    assert files == dict.fromkeys(listed_modules(pbx), "Running")


async def test_boots_without_warnings(fresh: Pbx) -> None:
    """Asterisk logs no warning and no error until it is ready."""
    log = fresh.messages.read_text()
    assert "WARNING" not in log
    assert "ERROR" not in log


async def test_ids_name_their_node(pbx: Pbx) -> None:
    """The node name is Asterisk's system name, which prefixes the ids that it generates."""
    info = await ari(pbx, "asterisk/info")
    assert info["config"]["name"] == "pbx1"


async def test_music_on_hold_has_a_file(pbx: Pbx) -> None:
    """The default class plays an existing file."""
    assert "music/loop" in await pbx.cli("moh show files")


@pytest.mark.parametrize("dialled", ["+15550100", "100", "sales"])
async def test_refuses_a_call_when_no_engine_is_connected(
    pbx: Pbx, tmp_path: Path, dialled: str
) -> None:
    """An inbound call without an app gets 503 and leaves no channel."""
    assert await sipp(pbx, tmp_path, REFUSED, "-s", dialled) == 0

    async def is_empty() -> bool:
        return bool(await ari(pbx, "channels") == [])

    await until(is_empty, what="no channel")


async def test_an_agent_registers(pbx: Pbx, tmp_path: Path) -> None:
    """A phone with the agents' password registers and can be called."""
    login = ("-s", "1001", "-au", "1001", "-ap", pbx.passwords.agents)
    assert await sipp(pbx, tmp_path, REGISTER, *login) == 0

    async def is_online() -> bool:
        return bool((await ari(pbx, "endpoints/PJSIP/1001"))["state"] == "online")

    await until(is_online, what="the agent to be online")


async def test_a_wrong_password_cannot_register(pbx: Pbx, tmp_path: Path) -> None:
    """A phone with a wrong password is refused."""
    login = ("-s", "1002", "-au", "1002", "-ap", "wrong")
    assert await sipp(pbx, tmp_path, REGISTER, *login) != 0
    assert (await ari(pbx, "endpoints/PJSIP/1002"))["state"] == "offline"


async def test_two_nodes_run_side_by_side(pbx: Pbx, tmp_path: Path) -> None:
    """A second node on the same machine uses its own ports, and both take calls."""
    async with Pbx(tmp_path / "pbx2", name="pbx2") as other:
        assert await sipp(pbx, tmp_path, REFUSED, "-s", "100") == 0
        assert await sipp(other, tmp_path, REFUSED, "-s", "100") == 0


async def test_a_node_restarts_after_a_crash(fresh: Pbx) -> None:
    """A killed node starts again on the same ports."""
    await fresh.kill()
    assert not await fresh.is_ready()
    await fresh.start()
    assert await fresh.is_ready()


def listed_modules(pbx: Pbx) -> set[str]:
    """Return the modules in the node's modules.conf."""
    lines = (pbx.folder / "etc/modules.conf").read_text().splitlines()
    return {line.removeprefix("load = ") for line in lines if line.startswith("load = ")}


async def ari(pbx: Pbx, path: str) -> Any:
    """Return the JSON that ARI answers."""
    login = aiohttp.encode_basic_auth(pbx.ari_user, pbx.ari_password)
    async with (
        aiohttp.ClientSession(headers={"Authorization": login}) as session,
        session.get(f"{pbx.url}/ari/{path}") as reply,
    ):
        reply.raise_for_status()
        return await reply.json()


async def sipp(pbx: Pbx, folder: Path, scenario: Path, *options: str) -> int:
    """Run a scenario once; returns SIPp's exit code, 0 on success."""
    process = await asyncio.create_subprocess_exec(
        *("sipp", f"127.0.0.1:{pbx.sip_port}", "-sf", str(scenario), "-m", "1", *options),
        *("-i", "127.0.0.1", "-p", str(free_port()), "-mp", str(media_port()), "-nostdin"),
        cwd=folder,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    return await process.wait()
