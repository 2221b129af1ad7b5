"""Hangups at any moment, by the caller or over RPC: all legs end, nothing is left on the PBX."""

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer, silent
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.engine import RequestError
from tests.harness.testbed import TestBed

LONG_MS = 20_000


async def test_hangup_over_rpc_in_each_state(
    lab: TestBed, sounds: MediaServer, hooks: WebhookServer
) -> None:
    """A call ends at once, whatever it is doing; unanswered it is canceled. Then 409."""
    async with Phone.ringing(free_port()) as far:
        trees = _long_trees(sounds, hooks, far)
        for state, action in {**trees, "bridged": trees["dialing"]}.items():
            async with Phone.answering(lab.trunk_port) as phone:
                if state == "bridged":
                    await _hang_up_while_bridged(lab, phone)
                    continue
                call = await lab.call(to="+15550100", action=action)
                await lab.doing(call, state)
                await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
                await phone.ended()
                view = await lab.ended(call)
                assert (view["status"], view["endedBy"]) == ("completed", "api")
    async with Phone.ringing(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100")
        await phone.rung()
        await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.ended()
        assert (await lab.ended(call))["status"] == "canceled"
        with pytest.raises(RequestError) as refused:
            await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        assert refused.value.status == 409


@pytest.mark.parametrize("state", ["playing", "gathering", "dialing", "awaiting-instructions"])
async def test_the_caller_hangs_up(
    lab: TestBed, sounds: MediaServer, hooks: WebhookServer, state: str
) -> None:
    """Whatever a call is doing, its caller's BYE ends it and all its other legs."""
    async with Phone.ringing(free_port()) as far:
        number = await lab.number(_long_trees(sounds, hooks, far)[state])
        async with Phone.calling(lab.pbx, number) as caller:
            await caller.answered()
            call = await lab.only_call()
            await lab.doing(call, state)
            if state == "dialing":
                await far.rung()
            await caller.hang_up()
        view = await lab.ended(call)
        assert (view["status"], view["endedBy"]) == ("completed", "caller")
        if state == "dialing":
            await far.ended()
    await lab.emptied()


async def test_the_caller_hangs_up_while_talking(lab: TestBed) -> None:
    """The caller's BYE ends the bridged party too."""
    async with Phone.answering(free_port(), tone_hz=600) as far:
        number = await lab.number({"type": "dial", "data": {"number": far.address}})
        async with Phone.calling(lab.pbx, number) as caller:
            await caller.until_hears(600)
            call = await lab.only_call()
            await caller.hang_up()
            await far.ended()
    assert (await lab.ended(call))["endedBy"] == "caller"
    await lab.emptied()


async def _hang_up_while_bridged(lab: TestBed, phone: Phone) -> None:
    async with Phone.answering(free_port(), tone_hz=600) as far:
        action = {"type": "dial", "data": {"number": far.address}}
        call = await lab.call(to="+15550100", action=action)
        await phone.until_hears(600)
        await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.ended()
        await far.ended()
        assert (await lab.ended(call))["endedBy"] == "api"


def _long_trees(sounds: MediaServer, hooks: WebhookServer, far: Phone) -> dict[str, object]:
    """Give for each state a tree that stays in it."""
    return {
        "playing": {"type": "play", "data": {"audioUrl": sounds.tone(600, LONG_MS)}},
        "gathering": {"type": "gather", "data": {"timeout": LONG_MS}},
        "awaiting-instructions": hooks.answers("/never", silent()),
        "dialing": {"type": "dial", "data": {"number": far.address}},
    }
