"""Agents on real registrations: presence, what keeps them busy, where they are called."""

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


@pytest.fixture
async def sales7(lab: Lab) -> AsyncIterator[Lab]:
    """Put agent sales7 at 1002's phone, for one test."""
    await lab.engine.rpc("PUT", SALES7, {"endpoint": "PJSIP/1002", "name": "Ada"})
    yield lab
    await register(lab.pbx, "1002", free_port(), 0)
    await lab.engine.rpc("DELETE", SALES7)


async def show_agent(lab: Lab, path: str = SALES7) -> dict[str, Any]:
    """Show an agent."""
    return await lab.engine.rpc("GET", path)


async def wait_for_presence(lab: Lab, presence: str, timeout_s: float = 1.0) -> None:
    """Wait for an agent's presence."""

    async def is_so() -> bool:
        return bool((await show_agent(lab))["presence"] == presence)

    await until(is_so, timeout_s=timeout_s, what=f"sales7 to be {presence}")


async def test_presence_follows_registration(sales7: Lab) -> None:
    """Within a second of its registration an agent is online, and offline when it is taken back."""
    port = free_port()
    await register(sales7.pbx, "1002", port)
    await wait_for_presence(sales7, "online")
    assert (await show_agent(sales7))["nodes"] == ["pbx1"]
    await register(sales7.pbx, "1002", port, 0)
    await wait_for_presence(sales7, "offline")


async def test_presence_is_restored_after_an_outage(sales7: Lab) -> None:
    """A new engine knows who registered before it; without the PBX nobody knows."""
    await register(sales7.pbx, "1002", free_port())
    await sales7.engine.kill()
    await sales7.ensure_running()
    await wait_for_presence(sales7, "online", 5.0)
    await sales7.pbx.kill()
    await wait_for_presence(sales7, "unknown", 10.0)
    await sales7.ensure_running()
    await wait_for_presence(sales7, "online", 10.0)  # Asterisk keeps registrations


async def test_an_agent_is_called_at_the_directory_endpoint(sales7: Lab) -> None:
    """Agent sales7 is 1002's phone, and busy for as long as the call has it."""
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
    """A call from 1002's phone is a leg of sales7, who is busy; 1001's is 1001's."""
    for phone, agent in (("1002", "sales7"), ("1001", "1001")):
        number = await sales7.add_number(_gather())
        async with Phone.calling(sales7.pbx, number, agent=phone) as caller:
            await caller.wait_answered()
            call = await sales7.engine.call(await sales7.wait_for_call())
            assert (call["from"], call["legs"][0]["agent_id"]) == (phone, agent)
            assert (await show_agent(sales7))["busy"] == (agent == "sales7")
            await caller.hang_up()
        await sales7.wait_ended(call["callId"])


async def test_the_trunk_is_not_an_agent(lab: Lab) -> None:
    """Neither by its name nor by the directory: nothing is dialled."""
    async with Phone.answering(lab.trunk_port) as phone:
        view = await lab.wait_ended(await lab.call(to="agent:trunk"))
        assert view["status"] == "failed"
        assert phone.messages == []
    with pytest.raises(RequestError) as refused:
        await lab.engine.rpc("PUT", SALES7, {"endpoint": "PJSIP/trunk"})
    assert refused.value.status == 400


class ShortRegistrationPbx(Pbx):
    """A PBX that takes registrations of a second."""

    def prepare(self) -> None:
        """Allow them."""
        super().prepare()
        file = self.folder / "etc/pjsip.conf"
        aor = "remove_existing = yes\n"
        file.write_text(file.read_text().replace(aor, f"{aor}minimum_expiration = 1\n"))


async def test_an_expired_registration_is_offline(tmp_path: Path) -> None:
    """An agent whose phone is silent is offline a few seconds after the registration's end."""
    async with (
        Valkey(tmp_path / "valkey") as valkey,
        ShortRegistrationPbx(tmp_path / "pbx1") as pbx,
        Engine(tmp_path / "engine", valkey=valkey, nodes=[pbx]) as engine,
    ):
        lab = Lab(valkey, pbx, engine, free_port())
        await engine.rpc("PUT", SALES7, {"endpoint": "PJSIP/1002"})
        await register(pbx, "1002", free_port(), 1)
        await wait_for_presence(lab, "online")
        await wait_for_presence(lab, "offline", 10.0)


def _gather() -> dict[str, Any]:
    return {"type": "gather", "data": {"timeout": 60_000}, "action": {"type": "hangup"}}
