"""SIP over TLS with SRTP: baresip as an agent's phone, encrypted on both legs."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tests.harness.phones.softphone import Softphone
from tests.harness.ports import free_port
from tests.harness.servers.certificate import certificate
from tests.harness.until import until

DIAL = {"type": "dial", "data": {"agent_id": "1004"}}


class Encrypted:
    """A lab whose agents' phones must use SRTP, and may use TLS."""

    def __init__(self, lab: Lab, tls_port: int, ca: Path) -> None:
        self.lab = lab
        self.tls_port = tls_port
        self.ca = ca


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def encrypted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Encrypted]:
    folder = tmp_path_factory.mktemp("encrypted")
    key, cert = folder / "key.pem", folder / "cert.pem"
    for path, text in zip((key, cert), certificate(), strict=True):
        path.write_bytes(text)
    port = free_port()
    settings = {
        "TLS_CERT": str(cert),
        "TLS_KEY": str(key),
        "TLS_CA": str(cert),
        "TLS_PORT": str(port),
        "AGENT_SRTP": "required",
    }
    async with open_lab(folder / "lab", settings=settings) as lab:
        yield Encrypted(lab, port, cert)


async def test_a_phone_over_tls_with_srtp(encrypted: Encrypted) -> None:
    """It registers over TLS, is called over that connection, and both sides hear each other."""
    lab = encrypted.lab
    number = await lab.add_number(DIAL)
    phone = Softphone.agent(
        lab.pbx,
        "1004",
        tone_hz=700,
        transport="tls",
        tls_port=encrypted.tls_port,
        ca=encrypted.ca,
        encryption="srtp-mand",
    )
    async with phone as agent:
        contacts = await lab.pbx.cli("database show registrar")
        assert ";transport=tls" in contacts.lower()
        async with Phone.calling(lab.pbx, number, tone_hz=900) as caller:
            await caller.until_hears(700)
            assert await secure_legs(lab) == {"1004"}
            await caller.hang_up()
        await agent.wait_for("CALL_CLOSED")


async def test_a_phone_without_srtp_gets_no_call(encrypted: Encrypted) -> None:
    """Where SRTP is required, audio in the clear is not an alternative."""
    lab = encrypted.lab
    number = await lab.add_number(DIAL)
    async with (
        Phone.agent(lab.pbx, "1004") as agent,
        Phone.calling(lab.pbx, number) as caller,
    ):
        await until(lambda: bool(agent.messages), what="the call to reach the phone")
        offer = next(each.text for each in agent.messages if each.method == "INVITE")
        assert "RTP/SAVP" in offer
        assert "a=crypto:" in offer
        await caller.hang_up()


async def secure_legs(lab: Lab) -> set[str]:
    """Return the endpoints of the channels whose audio is encrypted."""
    found = set()
    for channel in await lab.ari("channels"):
        path = f"channels/{channel['id']}/variable?variable=CHANNEL(rtp,secure,audio)"
        if (await lab.ari(path)).get("value") == "1":
            found.add(channel["name"].partition("/")[2].partition("-")[0])
    return found
