"""Keys that Asterisk reports several times, and equal keys that are pressed quickly."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.gathers import press_into_gather
from tests.harness.phones.info_keys import InfoKeys
from tests.harness.phones.phone import Phone

KEYS = "15599"
HOLD_MS, GAP_MS = 200, 500
NAMED_MS = 250  # in INFO, where many phones name a fixed time


def gather(hooks: WebhookServer) -> dict[str, Any]:
    action = hooks.answers("/result", {"type": "hangup"})
    return {"type": "gather", "data": {"terminator": "#"}, "action": action}


@asynccontextmanager
async def gathering_phone(lab: Lab, hooks: WebhookServer) -> AsyncIterator[Phone]:
    """Call a phone, and let it press keys when Asterisk reports their beginnings."""
    async with Phone.answering(lab.trunk_port, tone_hz=400) as phone:
        call = await lab.call(to="+15550100", action=gather(hooks))
        await phone.wait_answered()
        await lab.wait_for_state(call, "gathering")
        await phone.wait_spoken(1_200)  # docs/asterisk.md
        yield phone
        await phone.wait_ended()


@pytest.mark.parametrize("is_meanwhile", [True, False], ids=["meanwhile", "at the release"])
async def test_keys_as_info_and_as_events(
    lab: Lab, hooks: WebhookServer, is_meanwhile: bool
) -> None:
    """Each counts once, and two equal ones count twice."""
    async with gathering_phone(lab, hooks) as phone:
        info = InfoKeys(phone)
        for key in f"{KEYS}#":
            async with asyncio.TaskGroup() as both:
                pressing = both.create_task(phone.press(key, hold_ms=HOLD_MS))
                await phone.wait_spoken(HOLD_MS // 2)
                if not is_meanwhile:
                    await pressing
                await info.send(key, NAMED_MS)
            await phone.wait_spoken(GAP_MS)
        assert (await hooks.wait_for_request("/result")).body["dtmf"] == KEYS


async def test_equal_keys_pressed_quickly(lab: Lab, hooks: WebhookServer) -> None:
    """As telephone-events, at the speed of a person who is quick."""
    _, result = await press_into_gather(lab, hooks, gather(hooks), f"{KEYS}11#")
    assert result.body["dtmf"] == f"{KEYS}11"


async def test_equal_keys_as_info(lab: Lab, hooks: WebhookServer) -> None:
    """Without telephone-events nothing is a repetition."""
    async with gathering_phone(lab, hooks) as phone:
        info = InfoKeys(phone)
        for key in f"{KEYS}#":
            await info.send(key, NAMED_MS)
        assert (await hooks.wait_for_request("/result")).body["dtmf"] == KEYS
