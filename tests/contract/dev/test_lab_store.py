"""The store of a lab, as another program on the machine reaches it."""

from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError

from dev.lab.plan import Plan
from dev.lab.servers import servers
from dev.lab.settings import ensure_settings
from dev.servers.valkey import ValkeyServer
from tests.harness.ports import free_port


async def test_it_wants_the_lab_s_password(tmp_path: Path) -> None:
    """The address in the settings has it; no command line has, and no other user reads the file."""
    plan = Plan(port_base=free_port())
    settings = ensure_settings(tmp_path, plan, {})
    (store,) = [each for each in servers(tmp_path, plan, settings)
                if isinstance(each, ValkeyServer)]  # fmt: skip
    url, password = settings["SWITCHROOM_REDIS_URL"], settings["SWITCHROOM_STORE_PASSWORD"]
    async with store, Redis.from_url(url) as known, Redis.from_url(without_login(url)) as stranger:
        assert await known.ping()
        with pytest.raises(AuthenticationError):
            await stranger.ping()
    assert password not in " ".join(store.command())
    assert modes_of_files_with(password, tmp_path) == {0o600}


def without_login(url: str) -> str:
    return f"redis://{url.rpartition('@')[2]}"


def modes_of_files_with(text: str, folder: Path) -> set[int]:
    files = [each for each in folder.rglob("*") if each.is_file()]
    found = [each for each in files if text in each.read_text(errors="replace")]
    return {each.stat().st_mode & 0o777 for each in found}
