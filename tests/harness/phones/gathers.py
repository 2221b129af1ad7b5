"""Key presses of a phone into the gather of a real call."""

from typing import Any

from tests.harness.customers.webhook_server import WebhookRequest, WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.phones.rtp import Press


async def press_into_gather(
    lab: Lab, hooks: WebhookServer, action: Any, keys: str, *, path: str = "/result", **timing: int
) -> tuple[list[Press], WebhookRequest]:
    """Call a phone, press keys once the call gathers; returns them and the webhook's request."""
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await lab.wait_for_state(call, "gathering")
        presses = await phone.press(keys, **timing)
        result = await hooks.wait_for_request(path)
        await phone.wait_ended()
    return presses, result
