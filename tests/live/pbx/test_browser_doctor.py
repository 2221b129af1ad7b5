"""What doctor finds of a node that serves phones in browsers: it is called like one of them."""

import asyncio
from pathlib import Path

import pytest

from cli.doctor.pbx import AriNode, check_node
from cli.doctor.result import Finding
from tests.harness.pbx.asterisk import Pbx
from tests.harness.pbx.tls_node import TlsPbx
from tests.harness.servers.tls_files import TlsFiles


async def findings(folder: Path, **settings: str) -> dict[str, str]:
    """Return the texts of what doctor finds of phones, by code; `ok` for what is well."""
    async with Pbx(folder / "pbx1", settings=settings) as pbx:
        node = AriNode("pbx1", pbx.url, pbx.ari_user, pbx.ari_password)
        found = await check_node(node, "doctor-of-test", 4)
        left = await pbx.cli("pjsip show endpoints")
    assert "switchroom-doctor" not in left
    about = [each for each in found if "browser" in each.text or each.code.startswith("phone_")]
    return {each.code or "ok": each.text for each in about}


async def test_a_certificate_that_ends_soon(tmp_path: Path) -> None:
    """It names who has signed it, and the days that are left; a renewed one is seen."""
    files = await asyncio.to_thread(TlsFiles, tmp_path / "tls", ["pbx"])
    files.renew("pbx", days=10)
    async with TlsPbx(tmp_path / "pbx1", files, settings={"PHONE_WEBSOCKET": "yes"}) as pbx:
        node = AriNode("pbx1", pbx.url, pbx.ari_user, pbx.ari_password, files.trust)
        (soon,) = [each for each in await check_node(node, "doctor-of-test", 4) if is_of_tls(each)]
        files.renew("pbx", days=90)
        await pbx.cli("module reload http")
        (later,) = [each for each in await check_node(node, "doctor-of-test", 4) if is_of_tls(each)]
    text = "its certificate is for 127.0.0.1, by switchroom CA, and valid for"
    assert (soon.code, soon.text) == ("phone_certificate", f"{text} 9 days")
    assert (later.code, later.text) == ("", f"{text} 89 days")


def is_of_tls(finding: Finding) -> bool:
    return "its certificate" in finding.text


async def test_a_node_that_browsers_can_use(tmp_path: Path) -> None:
    """It names addresses, ports and codecs of the offer."""
    found = await findings(tmp_path, PHONE_WEBSOCKET="yes")
    assert found.keys() == {"ok"}
    assert "offers browsers pcmu, pcma" in found["ok"]
    assert "port 2" in found["ok"]  # of the node's range


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"PHONE_WEBSOCKET": "no"}, "ok"),
        ({"PHONE_WEBSOCKET": "yes", "BROWSER_CODECS": "gsm"}, "phone_offer"),
        ({"PHONE_WEBSOCKET": "yes", "PHONE_PROXIES": "127.0.0.9"}, "phone_websocket"),
        (
            {"PHONE_WEBSOCKET": "yes", "PHONE_PROXIES": "127.0.0.0/8", "TRUNK_MATCH": "192.0.2.1"},
            "phone_websocket_open",
        ),
    ],
)
async def test_a_node_that_they_cannot_use(
    tmp_path: Path, settings: dict[str, str], code: str
) -> None:
    """Without the setting or a codec of browsers, or at an address that is refused; or all may."""
    found = await findings(tmp_path, **settings)
    assert code in found


async def test_two_runs_at_once(tmp_path: Path) -> None:
    """An engine and a command may check a node at the same time: neither disturbs the other."""
    async with Pbx(tmp_path / "pbx1", settings={"PHONE_WEBSOCKET": "yes"}) as pbx:
        node = AriNode("pbx1", pbx.url, pbx.ari_user, pbx.ari_password)
        runs = await asyncio.gather(*(check_node(node, f"doctor-{n}", 4) for n in range(3)))
    for found in runs:
        assert not [each.text for each in found if each.code.startswith("phone_")]
