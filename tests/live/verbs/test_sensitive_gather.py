"""A sensitive gather on a real call, whose engine dies in the middle of the digits."""

import json
from pathlib import Path

from engine.calls.model.sealed_digits import DOT
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.engine import Engine
from tests.harness.until import until


async def digits_in_timeline(lab: Lab, call: str) -> list[str]:
    events = await lab.timeline_events(call)
    return [each["digit"] for each in events if each.get("type") == "digit-pressed"]


async def test_the_digits_survive_the_engine_and_reach_the_webhook_only(
    lab: Lab, hooks: WebhookServer, tmp_path: Path
) -> None:
    """The next engine opens what the first one has sealed, also while the RPC's token changes.

    The timeline shows no digit.
    """
    further = {"SWITCHROOM_FURTHER_RPC_TOKENS": json.dumps([lab.engine.token])}
    following = Engine(tmp_path, valkey=lab.valkey, nodes=[lab.pbx], settings=further)
    data = {"sensitive": True, "timeout": 300_000, "digitTimeout": 300_000}
    action = {"type": "gather", "data": data, "action": hooks.answers("/card", None)}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await lab.wait_for_state(call, "gathering")
        await phone.press("4929")

        async def has_four_digits() -> bool:
            return len(await digits_in_timeline(lab, call)) == len("4929")

        await until(has_four_digits)
        await lab.engine.kill()
        async with following:
            await phone.press("7710#")
            result = await hooks.wait_for_request("/card")
            await phone.wait_ended()
    await lab.ensure_running()
    assert (result.body["dtmf"], result.body["reason"]) == ("49297710", "terminator")
    pressed = await digits_in_timeline(lab, call)
    assert len(pressed) == len("49297710#")
    assert set(pressed) == {DOT, "#"}
