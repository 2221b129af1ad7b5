"""Click to call: a page that calls an agent, then the number that you enter, and connects both."""

import os
from pathlib import Path

import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from switchroom_sdk import ApiError, AsyncSwitchroom, InvalidField

AGENT = os.environ.get("AGENT", "agent:1001")
PAGE = Path(__file__).with_name("page.html").read_text()

app = FastAPI()


class Target(BaseModel):
    number: str


@app.get("/", response_class=HTMLResponse)
async def page() -> str:
    return PAGE


@app.post("/calls", status_code=201)
async def call(target: Target) -> dict[str, str]:
    async with AsyncSwitchroom() as switchroom:
        try:
            created = await switchroom.calls.create(from_=AGENT, to=target.number)
        except ApiError as error:
            raise HTTPException(error.status, str(error)) from None
    return {"callId": created.call_id}


@app.get("/calls/{call_id}")
async def status(call_id: str) -> dict[str, str]:
    async with AsyncSwitchroom() as switchroom:
        try:
            found = await switchroom.calls.get(call_id)
        except InvalidField:  # such as `..`, which is no id
            raise HTTPException(404, "no such call") from None
        except ApiError as error:
            raise HTTPException(error.status, str(error)) from None
    return {"status": found.status}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "3000")))
