"""Voicemail: callers leave a message, and GET /messages lists them."""

import os
from typing import Any

import uvicorn
from fastapi import FastAPI
from switchroom_sdk import ActionRequest, RecordResult, Verb, record, say
from switchroom_sdk.fastapi import Webhooks

app = FastAPI()
webhooks = Webhooks(app)
callers: dict[str, str] = {}  # a real application keeps both in a database
messages: dict[str, dict[str, Any]] = {}  # by call: a webhook may be repeated


@webhooks.post("/answer")
async def answer(call: ActionRequest) -> Verb:
    callers[call.call_id] = call.from_
    text = "Please leave a message after the tone, and press the hash key when you are done."
    return record(text, max_length_s=120, silence_s=5, action="/recorded")


@webhooks.post("/recorded")
async def recorded(result: RecordResult) -> Verb:
    messages[result.call_id] = {
        "from": callers.get(result.call_id),
        "url": result.recording_url,
        "seconds": result.duration,
    }
    return say("Thank you. Goodbye.")


@app.get("/messages")
async def listed() -> list[dict[str, Any]]:
    return list(messages.values())


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "3000")))
