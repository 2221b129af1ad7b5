"""SIP over TLS with SRTP between a node and its carrier, which another node plays."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.tls_files import TlsFiles
from tests.live.pbx.test_encryption import secure_legs

HERE_HZ, THERE_HZ = 700, 900


def dial(agent: str) -> Mapping[str, object]:
    """Return an action that connects an agent."""
    return {"type": "dial", "data": {"agent_id": agent}}


class Sides:
    """A node and its carrier, which trust one CA; each is the other's trunk."""

    def __init__(self, folder: Path) -> None:
        self.files = TlsFiles(folder / "tls", ["pbx"])
        self.folder = folder
        self.ports = {"node": free_port(), "carrier": free_port()}

    @asynccontextmanager
    async def open(
        self, name: str, other: str, settings: Mapping[str, str] | None = None, trunk: str = "trunk"
    ) -> AsyncIterator[Lab]:
        """Run one side, which calls numbers over a trunk."""
        tls = {
            "TLS_CERT": str(self.files.cert("pbx")),
            "TLS_KEY": str(self.files.key("pbx")),
            "TLS_CA": str(self.files.ca),
            "TLS_PORT": str(self.ports[name]),
            "TRUNK": f"sip:127.0.0.1:{self.ports[other]};transport=tls",
            "TRUNK_SRTP": "required",
        }
        engine = {"SWITCHROOM_TRUNK_ENDPOINT": f"PJSIP/{{number}}@{trunk}"}
        given = {**tls, **(settings or {})}
        async with open_lab(self.folder / name, settings=given, engine_settings=engine) as lab:
            yield lab


@pytest.fixture
async def sides(tmp_path: Path) -> Sides:
    return await asyncio.to_thread(Sides, tmp_path)


async def talk(node: Lab, carrier: Lab) -> None:
    """Call a number of the carrier; an agent at each side must hear the other one."""
    number = await carrier.add_number(dial("1001"))
    async with (
        Phone.agent(carrier.pbx, "1001", tone_hz=THERE_HZ) as there,
        Phone.agent(node.pbx, "1004", tone_hz=HERE_HZ) as here,
    ):
        call = await node.call(to=f"+{number}", action=dial("1004"))
        await here.until_hears(THERE_HZ)
        await there.until_hears(HERE_HZ)
        assert len(await secure_legs(node)) == len(await secure_legs(carrier)) == 1
        await here.hang_up()
        await node.wait_ended(call)


async def test_a_call_over_an_encrypted_trunk(sides: Sides) -> None:
    """The trunk's legs are encrypted at both ends, and both parties hear each other."""
    async with (
        sides.open("carrier", "node") as carrier,
        sides.open("node", "carrier") as node,
    ):
        await talk(node, carrier)


async def test_a_further_trunk_over_tls(sides: Sides) -> None:
    """It has an address with TLS, and a login for a carrier that asks for one."""
    address = f"sip:us:a%3Bb@127.0.0.1:{sides.ports['carrier']};transport=tls"
    settings = {
        "TRUNK": f"sip:127.0.0.1:{free_port()};transport=tls",
        "FURTHER_TRUNKS": f"backup={address}",
    }
    async with (
        sides.open("carrier", "node") as carrier,
        sides.open("node", "carrier", settings, trunk="backup") as node,
    ):
        await talk(node, carrier)
        login = await node.pbx.cli("pjsip show auth backup")
        assert {"us", "a;b"} <= {*login.split()}
