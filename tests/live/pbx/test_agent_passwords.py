"""A password for each agent's phone, given to a running PBX without a reload."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.digest_login import Login, try_login
from tests.harness.until import until
from wire.agents import phone_name

AGENT, PASSWORD, NEXT_PASSWORD = "anna", "first-password-of-anna", "second-password-of-anna"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Run a PBX that offers SHA-256 first."""
    settings = {"AGENT_DIGESTS": "SHA-256,MD5"}
    async with open_lab(tmp_path_factory.mktemp("passwords"), settings=settings) as lab:
        yield lab


@pytest.fixture
async def anna(lab: Lab) -> AsyncIterator[Lab]:
    """Add an agent whose phone has a password of its own."""
    await lab.engine.documents.agent("acme", AGENT, {"endpoint": f"PJSIP/{AGENT}"})
    await set_password(lab, PASSWORD)
    await until(lambda: registers(lab, PASSWORD), what="the phone to register")
    yield lab
    await lab.engine.documents.delete("acme", "agent", AGENT)
    await lab.engine.documents.delete("acme", "phone", phone_name(f"PJSIP/{AGENT}"))
    await until(lambda: is_unknown(lab), what="the endpoint to be deleted")


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
async def test_a_phone_has_its_own_password(anna: Lab, algorithm: str) -> None:
    """It registers with either digest, and with no other password, also not the shared one."""
    assert await registers(anna, PASSWORD, algorithm=algorithm)
    assert not await registers(anna, anna.pbx.passwords.agents, algorithm=algorithm)
    assert not await registers(anna, PASSWORD, agent="1001", algorithm=algorithm)


async def test_a_new_password_replaces_the_old_one(anna: Lab) -> None:
    """The PBX takes it over without a reload."""
    await set_password(anna, NEXT_PASSWORD)
    await until(lambda: registers(anna, NEXT_PASSWORD), what="the new password")
    assert not await registers(anna, PASSWORD)


async def test_a_restarted_pbx_gets_its_phones_again(anna: Lab) -> None:
    """The engine makes them again, and the phone need not register again to be called."""
    await anna.pbx.stop()  # a kill could lose the last second of Asterisk's database
    await anna.ensure_running()

    async def is_online() -> bool:
        found = await anna.ari(f"endpoints/PJSIP/{AGENT}")
        return bool(found.get("state") == "online")

    await until(is_online, what="the phone to be online")
    kept = await anna.pbx.cli("database show agent-aor")
    own = [line for line in kept.splitlines() if "~" not in line.partition(":")[0]]
    assert own
    assert "sip:" not in "".join(own)  # an address of its own would never expire
    await until(lambda: registers(anna, PASSWORD), what="the password of the phone")


async def test_a_reload_keeps_the_phones(anna: Lab) -> None:
    """An operator may reload the configuration."""
    await anna.pbx.cli("module reload res_pjsip.so")
    assert await registers(anna, PASSWORD)


async def test_an_agent_with_a_browser(tmp_path: Path) -> None:
    """The endpoint has what the template says: DTLS and ICE, where phones are browsers."""
    settings = {"PHONE_WEBSOCKET": "yes", "AGENT_SRTP": "webrtc", "AGENT_DIGESTS": "SHA-256"}
    async with open_lab(tmp_path, settings=settings) as lab:
        await lab.engine.documents.agent("acme", AGENT, {"endpoint": f"PJSIP/{AGENT}"})
        await set_password(lab, PASSWORD)
        await until(lambda: registers(lab, PASSWORD), what="the registration")
        shown = await lab.pbx.cli(f"pjsip show endpoint {AGENT}")
    found = dict(re.findall(r"^ *(\w+) +: (\S*)", shown, re.MULTILINE))
    expected = {"webrtc": "yes", "media_encryption": "dtls", "dtls_auto_generate_cert": "Yes"}
    assert expected.items() <= found.items()


async def test_the_template_is_no_phone(anna: Lab) -> None:
    """What phones are made from accepts no registration, with any password."""
    for password in ("", PASSWORD, anna.pbx.passwords.agents):
        assert not await registers(anna, password, agent="agent-template")


async def test_the_copy_equals_its_template(anna: Lab) -> None:
    """But for name, password and address."""
    path = "asterisk/config/dynamic/res_pjsip/endpoint"
    template = await anna.ari(f"{path}/agent-template")
    copy = await anna.ari(f"{path}/{AGENT}")
    differs = {each["attribute"] for each in copy if each not in template}
    assert differs == {"aors", "auth", "callerid", "identify_by"}


async def set_password(lab: Lab, password: str) -> None:
    agent = {"endpoint": f"PJSIP/{AGENT}"}
    await lab.engine.documents.password("acme", AGENT, agent, password)


async def is_unknown(lab: Lab) -> bool:
    found = await lab.ari("endpoints/PJSIP")
    return AGENT not in {each["resource"] for each in found}


async def registers(
    lab: Lab, password: str, *, agent: str = AGENT, algorithm: str = "SHA-256"
) -> bool:
    """Register a phone; returns whether the PBX accepts it."""
    return await try_login(lab.pbx, Login(agent, password, algorithm)) == 200
