"""After hours: calls ring an agent while the office is open; else callers ask to be called back."""

import os
from datetime import datetime
from zoneinfo import ZoneInfo

import uvicorn
from fastapi import FastAPI, HTTPException
from switchroom_sdk import ActionRequest, AsyncSwitchroom, GatherResult, Verb, dial, gather, say
from switchroom_sdk.fastapi import Webhooks

AGENT = os.environ.get("AGENT", "agent:1001")
OPENS, CLOSES = (int(each) for each in os.environ.get("HOURS", "9-17").split("-"))
ZONE = ZoneInfo(os.environ.get("ZONE", "UTC"))
SATURDAY = 5

app = FastAPI()
webhooks = Webhooks(app)
callers: dict[str, str] = {}  # a real application keeps both in a database
waiting: dict[str, str] = {}  # by call: a webhook may be repeated


def is_open(now: datetime) -> bool:
    return now.weekday() < SATURDAY and OPENS <= now.hour < CLOSES


@webhooks.post("/answer")
async def answer(call: ActionRequest) -> Verb:
    if is_open(datetime.now(ZONE)):
        return dial(AGENT, timeout_s=20, action="/after-agent")
    return offer(call, "We are closed.")


@webhooks.post("/after-agent")
async def after_agent(call: ActionRequest) -> Verb:
    if call.dial is not None and call.dial.status == "completed":
        return say("Thank you for calling. Goodbye.")
    return offer(call, "All our agents are busy.")


def offer(call: ActionRequest, text: str) -> Verb:
    callers[call.call_id] = call.from_
    return gather(
        f"{text} Press one, and we call you back.",
        max_digits=1,
        action="/call-back",
        fallback=say("Goodbye."),
    )


@webhooks.post("/call-back")
async def call_back(result: GatherResult) -> Verb:
    caller = callers.get(result.call_id)
    if result.dtmf != "1" or caller is None:
        return say("Goodbye.")
    waiting[result.call_id] = caller
    return say("Thank you. We will call you back. Goodbye.")


@app.get("/waiting")
async def listed() -> list[str]:
    return list(waiting.values())


@app.post("/waiting/next", status_code=201)
async def call_next() -> dict[str, str]:
    """Call the agent, then the caller who has waited longest, and connect them."""
    if not waiting:
        raise HTTPException(404, "no caller waits")
    key, number = next(iter(waiting.items()))
    async with AsyncSwitchroom() as switchroom:
        call = await switchroom.calls.create(from_=AGENT, to=number, idempotency_key=key)
    waiting.pop(key, None)
    return {"number": number, "callId": call.call_id}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "3000")))
