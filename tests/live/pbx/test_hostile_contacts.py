"""Phones that register with what would send their calls elsewhere, or would be events of AMI."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from engine.ami.messages import Message
from engine.ami.session import AmiSession, open_session
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.digest_login import Login, try_login
from tests.harness.phones.phone import Phone
from tests.harness.phones.recorded_datagrams import HOST
from tests.harness.until import until
from tools.drills.forged_events import LONG, contact_of, send_forgeries, via_of
from tools.drills.hostile_phone import TARGET
from tools.drills.trunk import open_trunk

AGENT = "1008"
RULE = re.compile(r"^match_header = (?:Contact|From|To|Via): /\[\[:cntrl.*$", re.MULTILINE)
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


@pytest.mark.parametrize("with_rules", [True, False])
async def test_forged_events(tmp_path: Path, *, with_rules: bool) -> None:
    """No action is injected, no carrier called, and neither node nor trunk counts as away."""
    async with open_lab(tmp_path) as lab, open_trunk(lab.trunk_port) as trunk:
        if not with_rules:
            await _remove_rules(lab)
        carrier = f"127.0.0.1:{lab.trunk_port}"
        await lab.engine.documents.agent("acme", AGENT, {"endpoint": f"PJSIP/{AGENT}"})
        login = Login(AGENT, lab.pbx.passwords.agents)
        statuses = await send_forgeries(lab.pbx, login, carrier, TARGET)
        # without the rules the stranger is known by its address, as the trunk
        expected = [401] * 17 + [200] * 10 if with_rules else [404] + [200] * 26  # long ones pass
        assert statuses == expected
        await lab.wait_ended(await lab.call(to=f"agent:{AGENT}"))
        assert "forged" not in await lab.pbx.cli("database show")
        assert trunk.calls == []
        await lab.wait_ended(await lab.call(to="+4721930009"))
        assert [each.partition("@")[0] for each in trunk.calls] == ["sip:+4721930009"]
        assert "node not monitored" not in lab.engine.log.read_text()


@pytest.mark.parametrize(
    "sent",
    [
        {"via": via_of("\r\n\r\nEvent: Foo\r\n\r\n", LONG)},
        {"via": via_of("\r\nStatus: Reachable\r\nX: ", LONG)},
        {"headers": ("User-Agent: a\x01b",)},
        {"parameters": contact_of("\r\nX: ", f'"{LONG}" ')},
    ],
    ids=["via", "via-lines", "user-agent", "contact"],
)
async def test_a_contact_that_cannot_be_read(lab: Lab, sent: dict[str, Any]) -> None:
    """It is deleted: it could be at any address, and would hide there."""
    login = Login("1006", lab.pbx.passwords.agents)
    assert await try_login(lab.pbx, replace(login, **sent)) == 200
    await until(lambda: _has_no(lab, "1006;@"), what="the contact to be deleted")


async def test_no_event_stands_in_a_list(lab: Lab) -> None:
    """A connection that reads lists gets as many events as one that does not."""
    login = Login("1005", lab.pbx.passwords.agents)
    async with _listening(lab) as (busy, all_events), _listening(lab) as (quiet, expected):
        async with asyncio.TaskGroup() as tasks:
            lists = tasks.create_task(_read_lists(busy))
            logins = [tasks.create_task(try_login(lab.pbx, login)) for _ in range(30)]
            assert {await each for each in logins} == {200}
            lists.cancel()
        await quiet.ask("Ping")
        await busy.ask("Ping")
        assert len(expected) > 30
        assert all_events == expected


@asynccontextmanager
async def _listening(lab: Lab) -> AsyncIterator[tuple[AmiSession, list[Message]]]:
    """Yield a connection to the manager interface, and the events that it has reported."""
    events: list[Message] = []

    def on_event(event: Message) -> None:
        if event.event != "FullyBooted":
            events.append(event)

    session = AmiSession(on_event, lambda: None)
    await open_session(("127.0.0.1", lab.pbx.ami_port), session, None)
    user = {"Username": lab.pbx.ami_user, "Secret": lab.pbx.passwords.ami}
    await session.ask("Login", {**user, "Events": "security,system"})
    try:
        yield session, events
    finally:
        session.close()


async def _read_lists(session: AmiSession) -> None:
    """Read lists without a pause."""
    while True:
        await asyncio.gather(
            *(session.ask_list("PJSIPShowEndpoint", {"Endpoint": "1005"}) for _ in range(20))
        )


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
        assert await _has(lab, "1007;@")
        await lab.engine.start()
        await until(lambda: _has_no(lab, "1007;@"), what="its contact to be deleted")
        assert await _has(lab, f"{AGENT};@")
        assert await _has(lab, f"{AGENT}~")


async def _has(lab: Lab, text: str) -> bool:
    return text in await lab.pbx.cli("pjsip show aors") + await lab.pbx.cli("database show")


async def _has_no(lab: Lab, text: str) -> bool:
    return not await _has(lab, text)
