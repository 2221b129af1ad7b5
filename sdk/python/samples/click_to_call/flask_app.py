"""Click to call: a page that calls an agent, then the number that you enter, and connects both."""

import os
from pathlib import Path

from flask import Flask, request
from switchroom_sdk import ApiError, InvalidField, Switchroom

AGENT = os.environ.get("AGENT", "agent:1001")
PAGE = Path(__file__).with_name("page.html").read_text()

app = Flask(__name__)


@app.get("/")
def page() -> str:
    return PAGE


@app.post("/calls")
def call() -> tuple[dict[str, str], int]:
    number = str(request.get_json().get("number", ""))
    with Switchroom() as switchroom:
        created = switchroom.calls.create(from_=AGENT, to=number)
    return {"callId": created.call_id}, 201


@app.get("/calls/<call_id>")
def status(call_id: str) -> dict[str, str]:
    with Switchroom() as switchroom:
        return {"status": switchroom.calls.get(call_id).status}


@app.errorhandler(ApiError)
def rejected(error: ApiError) -> tuple[dict[str, str], int]:
    return {"detail": str(error)}, error.status


@app.errorhandler(InvalidField)
def no_id(_error: InvalidField) -> tuple[dict[str, str], int]:
    return {"detail": "no such call"}, 404


if __name__ == "__main__":
    app.run("127.0.0.1", int(os.environ.get("PORT", "3000")))
