"""Phones that register with what would send their calls elsewhere."""

import pytest
from msgspec.structs import replace

from tests.harness.live_lab import Lab
from tests.harness.phones.digest_login import Login, try_login
from tests.harness.phones.recorded_datagrams import HOST

AGENT = "1008"
HARMLESS = ";transport=udp;line=a;ob"
REDIRECTIONS = (
    f";maddr={HOST}",
    f";transport=udp;maddr={HOST}",
    f";MADDR={HOST}",
    f"?Route=%3Csip%3A{HOST}%3A5060%3Blr%3E",
    f";%6daddr={HOST}",
    f">;expires=0, <sip:1008@127.0.0.1:5060;maddr={HOST}",
    f"?X-A=b&Route=%3Csip%3A{HOST}%3A5060%3Blr%3E",
)


@pytest.mark.parametrize("redirection", REDIRECTIONS, ids=range(len(REDIRECTIONS)))
async def test_an_address_that_names_another_one(lab: Lab, redirection: str) -> None:
    """A REGISTER with a part that outlasts the rewriting of its host is refused."""
    login = Login(AGENT, lab.pbx.passwords.agents, parameters=redirection)
    assert await try_login(lab.pbx, login) == 401
    assert HOST not in await lab.pbx.cli("database show registrar/contact")
    assert await try_login(lab.pbx, replace(login, parameters=HARMLESS)) == 200


async def test_a_path_that_names_another_address(lab: Lab) -> None:
    """`Path` (RFC 3327) is not followed: a phone chooses it, and could name a carrier."""
    path = ("Supported: path", f"Path: <sip:{HOST}:5060;lr>")
    login = Login(AGENT, lab.pbx.passwords.agents, headers=path)
    assert await try_login(lab.pbx, login) == 200
    contacts = await lab.pbx.cli("database show registrar/contact")
    assert '"path":""' in contacts
    assert HOST not in contacts
