"""An IVR: one for sales, two for the opening hours; what is neither is repeated."""

import os

import uvicorn
from fastapi import FastAPI
from switchroom_sdk import ActionRequest, Gather, GatherResult, Verb, gather, say
from switchroom_sdk.fastapi import Webhooks

SALES = os.environ.get("SALES", "agent:1001")
HOURS = "We are open from nine to five, Monday to Friday."

app = FastAPI()
webhooks = Webhooks(app)


def menu() -> Gather:
    text = "Press one for sales, or two for our opening hours."
    return gather(text, max_digits=1, action="/menu", fallback=say("Goodbye."))


@webhooks.post("/answer")
async def answer(call: ActionRequest) -> Verb:
    return say("Welcome.").then(menu())


@webhooks.post("/menu")
async def choose(result: GatherResult) -> Verb:
    match result.dtmf:
        case "1":
            return say("One moment, please.").dial(SALES, timeout_s=20, action="/after-sales")
        case "2":
            return say(HOURS).then(menu())
        case _:
            return say("Please press one or two.").then(menu())


@webhooks.post("/after-sales")
async def after_sales(call: ActionRequest) -> Verb:
    if call.dial is not None and call.dial.status == "completed":
        return say("Thank you for calling. Goodbye.")
    return say("All our agents are busy. Goodbye.")


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "3000")))
