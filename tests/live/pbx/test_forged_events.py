"""Text of phones that would be an event of the manager interface."""

import re
from pathlib import Path

import pytest

from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.digest_login import Login, try_login
from tests.harness.phones.phone import Phone
from tests.harness.until import until
from tools.drills.forged_events import send_forgeries
from tools.drills.trunk import open_trunk

AGENT, TARGET = "1008", "+18765551234"
RULE = re.compile(r"^match_header = (?:Contact|From|To): /\[\[:cntrl.*$", re.MULTILINE)


@pytest.mark.parametrize("with_rules", [True, False])
async def test_nothing_is_believed(tmp_path: Path, *, with_rules: bool) -> None:
    """No action is injected, no carrier called, and neither node nor trunk counts as away."""
    async with open_lab(tmp_path) as lab, open_trunk(lab.trunk_port) as trunk:
        if not with_rules:
            await _remove_rules(lab)
        carrier = f"127.0.0.1:{lab.trunk_port}"
        await lab.engine.rpc("PUT", f"/agents/acme/{AGENT}", {"endpoint": f"PJSIP/{AGENT}"})
        login = Login(AGENT, lab.pbx.passwords.agents)
        statuses = await send_forgeries(lab.pbx, login, carrier, TARGET)
        # without the rules the stranger is known by its address, as the trunk
        expected = [401] * 9 + [200] * 2 if with_rules else [404] + [200] * 10  # long ones pass
        assert statuses == expected
        await lab.wait_ended(await lab.call(to=f"agent:{AGENT}"))
        assert "forged" not in await lab.pbx.cli("database show")
        assert trunk.calls == []
        await lab.wait_ended(await lab.call(to="+4721930009"))
        assert [each.partition("@")[0] for each in trunk.calls] == ["sip:+4721930009"]
        assert lab.engine.log.read_text().count("node monitored") == 1


async def _remove_rules(lab: Lab) -> None:
    """Let a node take what its rules refuse."""
    for path in lab.pbx.folder.rglob("pjsip.conf"):
        text = path.read_text()
        path.write_text(RULE.sub("match_header = X-None: /x/", text))
    await lab.pbx.cli("module reload res_pjsip_endpoint_identifier_ip.so")
    assert "[:cntrl:]" not in await lab.pbx.cli("pjsip show identifies")


async def test_what_was_registered_while_no_engine_listened(tmp_path: Path) -> None:
    """It is deleted when one does; what had been registered before that stays."""
    async with open_lab(tmp_path) as lab, Phone.agent(lab.pbx, AGENT):
        await until(lambda: _has(lab, f"{AGENT}~"), what="the phone's address record")
        await lab.engine.stop()
        stranger = Login("1007", lab.pbx.passwords.agents)
        assert await try_login(lab.pbx, stranger) == 200
        await lab.engine.start()
        await until(lambda: _has_no(lab, "1007;@"), what="its contact to be deleted")
        assert await _has(lab, f"{AGENT};@")
        assert await _has(lab, f"{AGENT}~")


async def _has(lab: Lab, text: str) -> bool:
    return text in await lab.pbx.cli("pjsip show aors") + await lab.pbx.cli("database show")


async def _has_no(lab: Lab, text: str) -> bool:
    return not await _has(lab, text)
