"""Act one: a customer is called and answers; the shop is called, with music for the wait."""

import asyncio

from tests.demo.measure import Check, completed, crossed, music, nothing_left
from tests.demo.stage import Stage
from tests.harness.phone import Phone
from tests.harness.ports import free_port

CUSTOMER_HZ, SHOP_HZ = 400, 700
RINGS_MS = 2_500
TALK_S = 1.5


async def play(stage: Stage) -> list[Check]:
    """Play it, keep what came of it, and check that."""
    async with (
        Phone.answering(stage.trunk_port, tone_hz=CUSTOMER_HZ, after_ms=800) as customer,
        Phone.answering(free_port(), tone_hz=SHOP_HZ, after_ms=RINGS_MS) as shop,
    ):
        dial = {"number": shop.address, "moh": {"enable": True}}
        call_id = await stage.client.originate(
            {
                "account": "demo",
                "from": "+4721930000",
                "to": "+4722222222",
                "node": stage.pbx.name,
                "action": {"type": "dial", "data": dial, "timeout": 20},
            }
        )
        timeline = await stage.played(call_id, _talk(customer, shop))
    stage.keep("click-to-call", timeline, {"customer": customer, "shop": shop})
    return [
        completed(timeline),
        music(customer, timeline),
        crossed("customer", customer, SHOP_HZ, "shop"),
        crossed("shop", shop, CUSTOMER_HZ, "customer"),
        nothing_left(await stage.channels_left(call_id)),
    ]


async def _talk(customer: Phone, shop: Phone) -> None:
    await customer.until_hears(SHOP_HZ, timeout_s=20)
    await shop.until_hears(CUSTOMER_HZ)
    await asyncio.sleep(TALK_S)
    await shop.hang_up()
    await customer.ended()
