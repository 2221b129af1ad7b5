"""Act two: a customer calls in, hears a text, keys in a code; a webhook says whom to call next."""

import asyncio

from tests.demo.context import DemoContext
from tests.demo.measure import (
    Check,
    hears_tone,
    is_completed,
    music_heard,
    nothing_left,
    prompt_heard,
)
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.phone import Phone

CUSTOMER_HZ, SALES_HZ = 400, 700
RINGS_MS = 2_500
TALK_S = 1.5
NUMBER = "+15550100"
CODE = "1234"
ANSWER = {
    "type": "dial",
    "data": {"number": "+4733333333", "moh": {"enable": True}},
    "timeout": 20,
    "action": {"type": "say", "data": {"text": "Thank you for calling. Goodbye."}},
}


async def play(stage: DemoContext) -> list[Check]:
    """Play it, keep what came of it, and check that."""
    async with WebhookServer() as hooks:
        await stage.client.put_route(
            NUMBER, {"account": stage.rest.account, "action": _tree(hooks.answers("/menu", ANSWER))}
        )
        try:
            return await _run(stage, hooks)
        finally:
            await stage.client.delete_route(NUMBER)


async def _run(stage: DemoContext, hooks: WebhookServer) -> list[Check]:
    known = {each.call_id for each in await stage.client.calls()}
    async with (
        Phone.answering(stage.trunk_port, tone_hz=SALES_HZ, after_ms=RINGS_MS) as sales,
        Phone.calling(stage.pbx, NUMBER, tone_hz=CUSTOMER_HZ) as customer,
    ):
        call_id = await stage.wait_for_call(known)
        timeline = await stage.run_call(call_id, _talk(stage, call_id, customer, sales))
    stage.save("ivr", timeline, {"customer": customer, "sales": sales})
    media = f"{stage.client.url}/media"
    return [
        is_completed(timeline),
        await prompt_heard(customer, timeline, 0, "the spoken prompt", media),
        *_webhook_checks(hooks),
        music_heard(customer, timeline),
        hears_tone("customer", customer, SALES_HZ, "sales phone"),
        hears_tone("sales phone", sales, CUSTOMER_HZ, "customer"),
        await prompt_heard(
            customer, timeline, 1, "the goodbye (the action nested in the dial)", media
        ),
        nothing_left(await stage.channels_left(call_id)),
    ]


async def _talk(stage: DemoContext, call_id: str, customer: Phone, sales: Phone) -> None:
    await stage.wait_for_state(call_id, "gathering")
    await customer.press(CODE)
    await customer.until_hears(SALES_HZ, timeout_s=20)
    await sales.until_hears(CUSTOMER_HZ)
    await asyncio.sleep(TALK_S)
    await sales.hang_up()
    await customer.wait_ended(timeout_s=20)


def _webhook_checks(hooks: WebhookServer) -> list[Check]:
    digits = hooks.requests[0].body.get("dtmf", "") if hooks.requests else ""
    times = len(hooks.requests)
    return [
        Check(f"the digits {CODE} are collected", digits == CODE, f"“{digits}”"),
        Check("the webhook is asked once", times == 1, "once" if times == 1 else f"{times} times"),
    ]


def _tree(menu: str) -> dict[str, object]:
    return {
        "type": "say",
        "data": {"text": "Welcome. Please enter your four digit code."},
        "action": {
            "type": "gather",
            "data": {"maxDigits": len(CODE), "timeout": 8000},
            "action": menu,
        },
    }
