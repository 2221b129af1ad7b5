"""An IVR: a customer calls in, hears a prompt and enters a code; a webhook answers with a dial."""

import asyncio

from dev.phone.caller import CALLER_PORTS
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.phone import Phone
from tools.demo.context import DemoContext
from tools.demo.measure import (
    Check,
    hears_tone,
    is_completed,
    music_heard,
    nothing_left,
    prompt_heard,
)

CUSTOMER_HZ, SALES_HZ = 400, 700
RINGS_MS = 2_500
TALK_S = 1.5
CODE = "1234"
ANSWER = {
    "type": "dial",
    "data": {"number": "+4733333333", "moh": {"enable": True}},
    "timeout": 20,
    "action": {"type": "say", "data": {"text": "Thank you for calling. Goodbye."}},
}


async def play(context: DemoContext) -> list[Check]:
    """Run the scenario, save its results and check them."""
    async with WebhookServer() as hooks, context.routed(_tree(hooks.answers("/menu", ANSWER))):
        return await _run(context, hooks)


async def _run(context: DemoContext, hooks: WebhookServer) -> list[Check]:
    existing = await context.live_calls()
    async with (
        Phone.answering(context.trunk_port, tone_hz=SALES_HZ, after_ms=RINGS_MS) as sales,
        Phone.calling(
            context.pbx, context.number, tone_hz=CUSTOMER_HZ, port=CALLER_PORTS[0]
        ) as customer,
    ):
        call_id = await context.wait_for_call(existing)
        timeline = await context.run_call(call_id, _talk(context, call_id, customer, sales))
    context.save("ivr", timeline, {"customer": customer, "sales": sales})
    media = f"{context.engine.url}/media"
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
        nothing_left(await context.channels_left(call_id)),
    ]


async def _talk(context: DemoContext, call_id: str, customer: Phone, sales: Phone) -> None:
    await context.wait_for_state(call_id, "gathering")
    await customer.press(CODE)
    await customer.until_hears(SALES_HZ, timeout_s=20)
    await sales.until_hears(CUSTOMER_HZ)
    await asyncio.sleep(TALK_S)  # the parties talk
    await sales.hang_up()
    await customer.wait_ended(timeout_s=20)


def _webhook_checks(hooks: WebhookServer) -> list[Check]:
    digits = hooks.requests[0].body.get("dtmf", "") if hooks.requests else ""
    times = len(hooks.requests)
    return [
        Check(f"the digits {CODE} are collected", digits == CODE, f"“{digits}”"),
        Check(
            "the webhook gets one request", times == 1, "once" if times == 1 else f"{times} times"
        ),
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
