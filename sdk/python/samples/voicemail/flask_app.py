"""Voicemail: callers leave a message, and GET /messages lists them."""

import os
from typing import Any

from flask import Flask
from switchroom_sdk import ActionRequest, RecordResult, Verb, record, say
from switchroom_sdk.flask import Webhooks

app = Flask(__name__)
webhooks = Webhooks(app)
callers: dict[str, str] = {}  # a real application keeps both in a database
messages: dict[str, dict[str, Any]] = {}  # by call: a webhook may be repeated


@webhooks.post("/answer")
def answer(call: ActionRequest) -> Verb:
    callers[call.call_id] = call.from_
    text = "Please leave a message after the tone, and press the hash key when you are done."
    return record(text, max_length_s=120, silence_s=5, action="/recorded")


@webhooks.post("/recorded")
def recorded(result: RecordResult) -> Verb:
    messages[result.call_id] = {
        "from": callers.get(result.call_id),
        "url": result.recording_url,
        "seconds": result.duration,
    }
    return say("Thank you. Goodbye.")


@app.get("/messages")
def listed() -> list[dict[str, Any]]:
    return list(messages.values())


if __name__ == "__main__":
    app.run("127.0.0.1", int(os.environ.get("PORT", "3000")))
