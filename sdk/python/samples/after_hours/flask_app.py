"""After hours: calls ring an agent while the office is open; else callers ask to be called back."""

import os
from datetime import datetime
from zoneinfo import ZoneInfo

from flask import Flask
from switchroom_sdk import ActionRequest, GatherResult, Switchroom, Verb, dial, gather, say
from switchroom_sdk.flask import Webhooks

AGENT = os.environ.get("AGENT", "agent:1001")
OPENS, CLOSES = (int(each) for each in os.environ.get("HOURS", "9-17").split("-"))
ZONE = ZoneInfo(os.environ.get("ZONE", "UTC"))
SATURDAY = 5

app = Flask(__name__)
webhooks = Webhooks(app)
callers: dict[str, str] = {}  # a real application keeps both in a database
waiting: dict[str, str] = {}  # by call: a webhook may be repeated


def is_open(now: datetime) -> bool:
    return now.weekday() < SATURDAY and OPENS <= now.hour < CLOSES


@webhooks.post("/answer")
def answer(call: ActionRequest) -> Verb:
    if is_open(datetime.now(ZONE)):
        return dial(AGENT, timeout_s=20, action="/after-agent")
    return offer(call, "We are closed.")


@webhooks.post("/after-agent")
def after_agent(call: ActionRequest) -> Verb:
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
def call_back(result: GatherResult) -> Verb:
    caller = callers.get(result.call_id)
    if result.dtmf != "1" or caller is None:
        return say("Goodbye.")
    waiting[result.call_id] = caller
    return say("Thank you. We will call you back. Goodbye.")


@app.get("/waiting")
def listed() -> list[str]:
    return list(waiting.values())


@app.post("/waiting/next")
def call_next() -> tuple[dict[str, str], int]:
    """Call the agent, then the caller who has waited longest, and connect them."""
    if not waiting:
        return {"detail": "no caller waits"}, 404
    key, number = next(iter(waiting.items()))
    with Switchroom() as switchroom:
        call = switchroom.calls.create(from_=AGENT, to=number, idempotency_key=key)
    waiting.pop(key, None)
    return {"number": number, "callId": call.call_id}, 201


if __name__ == "__main__":
    app.run("127.0.0.1", int(os.environ.get("PORT", "3000")))
