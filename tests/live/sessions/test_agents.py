"""Agents with real registrations: presence, busy state and endpoints."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.phone import Phone
from tests.harness.phones.registration import register
from tests.harness.ports import free_port
from tests.harness.servers.engine import Engine, RequestError
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until

SALES7 = "/agents/acme/sales7"
EXPIRES_S = 10  # long enough to be seen on a busy machine


@pytest.fixture
async def sales7(lab: Lab) -> AsyncIterator[Lab]:
    """Register agent sales7 at endpoint 1002 for one test."""
    await lab.engine.documents.agent("acme", "sales7", {"endpoint": "PJSIP/1002", "name": "Ada"})
    yield lab
    await register(lab.pbx, "1002", free_port(), 0)
    await lab.engine.documents.delete("acme", "agent", "sales7")


async def show_agent(lab: Lab, path: str = SALES7) -> dict[str, Any]:
    return await lab.engine.rpc("GET", path)


async def wait_for_presence(lab: Lab, presence: str) -> None:
    """Wait for the presence of sales7."""

    async def has_presence() -> bool:
        return bool((await show_agent(lab))["presence"] == presence)

    await until(has_presence, what=f"sales7 to be {presence}")


async def test_presence_follows_registration(sales7: Lab) -> None:
    """An agent is online after registration, and offline after unregistration."""
    port = free_port()
    await register(sales7.pbx, "1002", port)
    await wait_for_presence(sales7, "online")
    assert (await show_agent(sales7))["nodes"] == ["pbx1"]
    await register(sales7.pbx, "1002", port, 0)
    await wait_for_presence(sales7, "offline")


async def test_presence_is_restored_after_an_outage(sales7: Lab) -> None:
    """A new engine reads registrations; without the PBX presence is unknown."""
    await register(sales7.pbx, "1002", free_port())
    await sales7.engine.kill()
    await sales7.ensure_running()
    await wait_for_presence(sales7, "online")
    await sales7.pbx.kill()
    await wait_for_presence(sales7, "unknown")
    await sales7.ensure_running()
    await wait_for_presence(sales7, "online")  # Asterisk keeps registrations

    async def is_heard() -> bool:
        nodes = (await sales7.engine.rpc("GET", "/nodes"))["nodes"]
        return all(each.get("amiConnected") for each in nodes)

    await until(is_heard, what="the manager interface, without which a new phone is not called")


async def test_an_agent_is_called_at_the_directory_endpoint(sales7: Lab) -> None:
    """Agent sales7 is called at endpoint 1002, and is busy during the call."""
    async with Phone.agent(sales7.pbx, "1002", after_ms=300) as phone:
        await wait_for_presence(sales7, "online")
        call = await sales7.call(to="agent:sales7", action=_gather())
        await phone.wait_ringing()
        view = await show_agent(sales7)
        assert (view["busy"], view["callId"], view["presence"]) == (True, call, "online")
        await phone.wait_answered()
        await phone.hang_up()
        await sales7.wait_ended(call)
        assert not (await show_agent(sales7))["busy"]


async def test_a_call_from_an_agent_makes_the_agent_busy(sales7: Lab) -> None:
    """A call from endpoint 1002 is a leg of sales7, who is busy; 1001 has no such agent.

    Neither has a caller id, so the call has none: what a phone sends does not count.
    """
    for phone, agent in (("1002", "sales7"), ("1001", "1001")):
        number = await sales7.add_number(_gather())
        async with Phone.calling(sales7.pbx, number, agent=phone) as caller:
            await caller.wait_answered()
            call = await sales7.engine.call(await sales7.wait_for_call())
            assert (call["from"], call["legs"][0]["agent_id"]) == ("", agent)
            assert (await show_agent(sales7))["busy"] == (agent == "sales7")
            await caller.hang_up()
        await sales7.wait_ended(call["callId"])


async def test_the_trunk_is_not_an_agent(lab: Lab) -> None:
    """The trunk cannot be called as an agent or be set as an endpoint."""
    async with Phone.answering(lab.trunk_port) as phone:
        with pytest.raises(RequestError) as unknown:
            await lab.call(to="agent:trunk")
        assert unknown.value.status == 400
        assert phone.messages == []
    with pytest.raises(RequestError) as refused:
        await lab.engine.rpc("POST", f"{SALES7}/check", {"endpoint": "PJSIP/trunk"})
    assert refused.value.status == 400


class ShortRegistrationPbx(Pbx):
    """A PBX that accepts registrations of one second."""

    def prepare(self) -> None:
        """Set the minimum expiration."""
        super().prepare()
        file = self.folder / "etc/pjsip.conf"
        aor = "remove_existing = yes\n"
        file.write_text(file.read_text().replace(aor, f"{aor}minimum_expiration = 1\n"))


async def test_an_expired_registration_is_offline(tmp_path: Path) -> None:
    """An agent is offline a few seconds after its registration expires."""
    async with (
        Valkey(tmp_path / "valkey") as valkey,
        ShortRegistrationPbx(tmp_path / "pbx1") as pbx,
        Engine(tmp_path / "engine", valkey=valkey, nodes=[pbx]) as engine,
    ):
        lab = Lab(valkey, pbx, engine, free_port())
        await engine.documents.agent("acme", "sales7", {"endpoint": "PJSIP/1002"})
        await wait_for_presence(lab, "offline")  # the engine has read all registrations
        await register(pbx, "1002", free_port(), EXPIRES_S)
        await wait_for_presence(lab, "online")
        await wait_for_presence(lab, "offline")


def _gather() -> dict[str, Any]:
    return {"type": "gather", "data": {"timeout": 60_000}, "action": {"type": "hangup"}}
