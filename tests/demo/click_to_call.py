"""Act one, over REST: a customer is called, then the shop, with music for the wait; one is mute."""

import asyncio

from tests.demo.context import DemoContext
from tests.demo.measure import (
    Check,
    has_record,
    hears_tone,
    is_completed,
    is_muted,
    music_heard,
    nothing_left,
)
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port

CUSTOMER_HZ, SHOP_HZ = 400, 700
RINGS_MS = 2_500
TALK_S = 1.5


async def play(stage: DemoContext) -> list[Check]:
    """Play it, keep what came of it, and check that."""
    async with (
        Phone.answering(stage.trunk_port, tone_hz=CUSTOMER_HZ, after_ms=800) as customer,
        Phone.answering(free_port(), tone_hz=SHOP_HZ, after_ms=RINGS_MS) as shop,
    ):
        dial = {"number": shop.address, "moh": {"enable": True}}
        call_id = await stage.rest.originate(
            {
                "from": "+4721930000",
                "to": "+4722222222",
                "action": {"type": "dial", "data": dial, "timeout": 20},
            }
        )
        timeline = await stage.run_call(call_id, _talk(stage, call_id, customer, shop))
    record = await stage.rest.record(call_id)
    stage.save("click-to-call", timeline, {"customer": customer, "shop": shop})
    return [
        is_completed(timeline),
        music_heard(customer, timeline),
        hears_tone("customer", customer, SHOP_HZ, "shop"),
        hears_tone("shop", shop, CUSTOMER_HZ, "customer"),
        is_muted(customer, SHOP_HZ, "shop"),
        has_record(record),
        nothing_left(await stage.channels_left(call_id)),
    ]


async def _talk(stage: DemoContext, call_id: str, customer: Phone, shop: Phone) -> None:
    await customer.until_hears(SHOP_HZ, timeout_s=20)
    await shop.until_hears(CUSTOMER_HZ)
    await asyncio.sleep(TALK_S)
    leg = {"callId": call_id, "channelId": await stage.rest.leg(call_id, shop.address)}
    await stage.rest.post("mute", **leg)
    await asyncio.sleep(TALK_S)
    await stage.rest.post("unmute", **leg)
    await customer.until_hears(SHOP_HZ)
    await shop.hang_up()
    await customer.wait_ended()
