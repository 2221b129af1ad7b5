"""A node that registers at its carrier, which another node plays."""

from pathlib import Path

import aiohttp
import pytest

from tests.harness.pbx.asterisk import Pbx
from tests.harness.until import until


@pytest.mark.parametrize("parameter", ["", ";transport=tcp"])
async def test_a_node_registers_at_its_carrier(tmp_path: Path, parameter: str) -> None:
    """With its user name and password, so the carrier knows where to call it."""
    async with Pbx(tmp_path / "carrier") as carrier:
        settings = {
            "TRUNK_USER": "1001",
            "TRUNK_PASSWORD": carrier.passwords.agents,
            "TRUNK_REGISTER": "yes",
        }
        trunk = f"sip:127.0.0.1:{carrier.sip_port}{parameter}"
        async with Pbx(tmp_path / "pbx1", trunk=trunk, settings=settings):
            await until(lambda: is_registered(carrier), what="the node to register")
            contacts = (await carrier.cli("database show registrar")).lower()
            assert (";transport=tcp" in contacts) is bool(parameter)


async def is_registered(carrier: Pbx) -> bool:
    login = aiohttp.encode_basic_auth(carrier.ari_user, carrier.ari_password)
    async with (
        aiohttp.ClientSession(headers={"Authorization": login}) as http,
        http.get(f"{carrier.url}/ari/endpoints/PJSIP/1001") as reply,
    ):
        return bool((await reply.json())["state"] == "online")
