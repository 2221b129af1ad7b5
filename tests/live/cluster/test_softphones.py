"""Softphones of others (baresip) at both nodes: registration, calls between nodes."""

from functools import partial
from pathlib import Path

import pytest

from tests.harness.live_lab import Lab
from tests.harness.pbx.two_nodes import TwoNodes
from tests.harness.phones.parties import TONES_HZ, Parties
from tests.harness.phones.registered_contact import RegisteredContact
from tests.harness.phones.softphone import Softphone
from tests.harness.until import MAX_WAIT_S, until

AGENT = "1002"


@pytest.mark.parametrize("registrar", [0, 1])
@pytest.mark.parametrize("home", [0, 1])
async def test_a_softphone_is_reached_from_both_nodes(
    two: TwoNodes, home: int, registrar: int
) -> None:
    """Whichever node it is registered at; the caller hears it, and the call ends with it."""
    tone_hz = TONES_HZ["source"]
    async with (
        Softphone.agent(two.nodes[registrar], AGENT, tone_hz=tone_hz) as softphone,
        Parties(two.lab(home)) as parties,
    ):
        await _expect_call(parties, softphone)
        ended = await two.engine.wait_for_event(parties.call, "leg-completed")
        assert (ended["agent_id"], ended["hangupCause"]) == (AGENT, 16)


async def test_a_dead_phone_is_not_preferred(tmp_path: Path) -> None:
    """It died without unregistering; its successor at the other node is called."""
    two = TwoNodes(tmp_path, agent_qualify_s=1)
    try:
        await two.ensure_running()
        async with Softphone.agent(two.nodes[0], AGENT, tone_hz=TONES_HZ["target"]) as dead:
            await dead.kill()
            async with (
                Softphone.agent(two.nodes[1], AGENT, tone_hz=TONES_HZ["source"]) as softphone,
                Parties(two.lab(0)) as parties,
            ):
                is_offline = partial(_has_state, two.lab(0), "offline")
                await until(is_offline, what="the dead phone to be offline")
                await _expect_call(parties, softphone)
    finally:
        await two.stop()


async def test_a_phone_that_returns_is_called_at_once(tmp_path: Path) -> None:
    """It registers again from the same address, long before the node's next qualify."""
    two = TwoNodes(tmp_path, agent_qualify_s=600)
    try:
        await two.ensure_running()
        pbx, lab = two.nodes[0], two.lab(0)
        async with RegisteredContact.of(pbx, AGENT) as phone:
            await until(partial(_has_state, lab, "online"), what="the phone to be online")
            phone.is_unplugged = True
            await pbx.cli(f"pjsip qualify {AGENT}")
            await until(partial(_has_state, lab, "offline"), what="the phone to be offline")
            phone.is_unplugged = False
            await phone.register()
            await until(partial(_has_state, lab, "online"), what="the phone to be online again")
    finally:
        await two.stop()


async def test_a_phone_that_has_moved_is_called_at_once(tmp_path: Path) -> None:
    """It lost its network and registered at the other node; the first node does not know it yet."""
    two = TwoNodes(tmp_path, agent_qualify_s=600)
    try:
        await two.ensure_running()
        async with RegisteredContact.of(two.nodes[0], AGENT) as before:
            before.is_unplugged = True
            async with (
                Softphone.agent(two.nodes[1], AGENT, tone_hz=TONES_HZ["source"]) as softphone,
                Parties(two.lab(0)) as parties,
            ):
                await until(partial(_has_state, two.lab(1), "online"), what="the new phone")
                await _expect_call(parties, softphone)
    finally:
        await two.stop()


async def _expect_call(parties: Parties, softphone: Softphone) -> None:
    """Call the agent; the customer must hear the softphone, which then hangs up."""
    dial = {"type": "dial", "data": {"agent_id": AGENT}, "timeout": MAX_WAIT_S}
    await parties.call_in(await parties.lab.add_number(dial))
    await parties.expect_audio(customer="source")
    softphone.command("hangup")
    await parties.lab.wait_ended(parties.call)


async def _has_state(lab: Lab, state: str) -> bool:
    return bool((await lab.ari(f"endpoints/PJSIP/{AGENT}"))["state"] == state)
