"""Hangups in each state, by the caller or over RPC: all legs end, and the PBX is empty."""

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer, silent
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.engine import RequestError

LONG_MS = 60_000


async def test_hangup_over_rpc_in_each_state(
    lab: Lab, sounds: MediaServer, hooks: WebhookServer
) -> None:
    """A call ends in each state; an unanswered one is canceled; a second hangup gets 409."""
    async with Phone.ringing(free_port()) as far:
        trees = _long_trees(sounds, hooks, far)
        for state, action in {**trees, "bridged": trees["dialing"]}.items():
            async with Phone.answering(lab.trunk_port) as phone:
                if state == "bridged":
                    await _hang_up_while_bridged(lab, phone)
                    continue
                call = await lab.call(to="+15550100", action=action)
                await lab.wait_for_state(call, state)
                await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
                await phone.wait_ended()
                view = await lab.wait_ended(call)
                assert (view["status"], view["endedBy"]) == ("completed", "api")
    async with Phone.ringing(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100")
        await phone.wait_ringing()
        await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.wait_ended()
        assert (await lab.wait_ended(call))["status"] == "canceled"
        with pytest.raises(RequestError) as refused:
            await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        assert refused.value.status == 409


@pytest.mark.parametrize("state", ["playing", "gathering", "dialing", "awaiting-instructions"])
async def test_the_caller_hangs_up(
    lab: Lab, sounds: MediaServer, hooks: WebhookServer, state: str
) -> None:
    """In each state the caller's BYE ends the call and all its legs."""
    async with Phone.ringing(free_port()) as far:
        number = await lab.add_number(_long_trees(sounds, hooks, far)[state])
        async with Phone.calling(lab.pbx, number) as caller:
            await caller.wait_answered()
            call = await lab.wait_for_call()
            await lab.wait_for_state(call, state)
            if state == "dialing":
                await far.wait_ringing()
            await caller.hang_up()
        view = await lab.wait_ended(call)
        assert (view["status"], view["endedBy"]) == ("completed", "caller")
        if state == "dialing":
            await far.wait_ended()
    await lab.wait_empty()


async def test_the_caller_hangs_up_while_bridged(lab: Lab) -> None:
    """The caller's BYE also ends the bridged leg."""
    async with Phone.answering(free_port(), tone_hz=600) as far:
        number = await lab.add_number({"type": "dial", "data": {"number": far.address}})
        async with Phone.calling(lab.pbx, number) as caller:
            await caller.until_hears(600)
            call = await lab.wait_for_call()
            await caller.hang_up()
            await far.wait_ended()
    assert (await lab.wait_ended(call))["endedBy"] == "caller"
    await lab.wait_empty()


async def _hang_up_while_bridged(lab: Lab, phone: Phone) -> None:
    async with Phone.answering(free_port(), tone_hz=600) as far:
        action = {"type": "dial", "data": {"number": far.address}}
        call = await lab.call(to="+15550100", action=action)
        await phone.until_hears(600)
        await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.wait_ended()
        await far.wait_ended()
        assert (await lab.wait_ended(call))["endedBy"] == "api"


def _long_trees(sounds: MediaServer, hooks: WebhookServer, far: Phone) -> dict[str, object]:
    """Return, for each state, a tree that stays in it."""
    return {
        "playing": {"type": "play", "data": {"audioUrl": sounds.tone(600, LONG_MS)}},
        "gathering": {"type": "gather", "data": {"timeout": LONG_MS}},
        "awaiting-instructions": hooks.answers("/never", silent()),
        "dialing": {"type": "dial", "data": {"number": far.address}},
    }
