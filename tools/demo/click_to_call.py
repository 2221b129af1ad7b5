"""Click-to-call over REST: calls a customer, then the shop with hold music, and mutes the shop."""

import asyncio

from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tools.demo.context import DemoContext
from tools.demo.measure import (
    Check,
    has_record,
    hears_tone,
    is_completed,
    is_muted,
    music_heard,
    nothing_left,
)

CUSTOMER_HZ, SHOP_HZ = 400, 700
RINGS_MS = 2_500
TALK_S = 1.5


async def play(context: DemoContext) -> list[Check]:
    """Run the scenario, save its results and check them."""
    async with (
        Phone.answering(context.trunk_port, tone_hz=CUSTOMER_HZ, after_ms=800) as customer,
        Phone.answering(free_port(), tone_hz=SHOP_HZ, after_ms=RINGS_MS) as shop,
    ):
        dial = {"number": shop.address, "moh": {"enable": True}}
        call_id = await context.rest.originate(
            {
                "from": "+4721930000",
                "to": "+4722222222",
                "action": {"type": "dial", "data": dial, "timeout": 20},
            }
        )
        timeline = await context.run_call(call_id, _talk(context, call_id, customer, shop))
    record = await context.rest.record(call_id)
    context.save("click-to-call", timeline, {"customer": customer, "shop": shop})
    return [
        is_completed(timeline),
        music_heard(customer, timeline),
        hears_tone("customer", customer, SHOP_HZ, "shop"),
        hears_tone("shop", shop, CUSTOMER_HZ, "customer"),
        is_muted(customer, SHOP_HZ, "shop"),
        has_record(record),
        nothing_left(await context.channels_left(call_id)),
    ]


async def _talk(context: DemoContext, call_id: str, customer: Phone, shop: Phone) -> None:
    await customer.until_hears(SHOP_HZ, timeout_s=20)
    await shop.until_hears(CUSTOMER_HZ)
    await asyncio.sleep(TALK_S)  # the parties talk
    leg = {"callId": call_id, "channelId": await context.rest.leg(call_id, shop.address)}
    await context.rest.post("mute", **leg)
    await asyncio.sleep(TALK_S)  # while it is muted
    await context.rest.post("unmute", **leg)
    await customer.until_hears(SHOP_HZ)
    await shop.hang_up()
    await customer.wait_ended()
