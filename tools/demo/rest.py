"""A customer of the REST layer: gets a token, then makes calls."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.harness.until import until

BASE = "/srmain/voice"
NOT_FOUND = 404


class Rest:
    """Requests of a customer with a token."""

    def __init__(self, http: aiohttp.ClientSession, account: str) -> None:
        self.account = account
        self._http = http

    async def originate(self, body: Mapping[str, Any]) -> str:
        """Make a call; returns its id."""
        return str((await self.post("call", **body))["callId"])

    async def post(self, path: str, **body: Any) -> dict[str, Any]:
        """Send a request for a call."""
        async with self._http.post(f"{BASE}/{path}", json=body) as reply:
            return await _decode(reply)

    async def leg(self, call_id: str, party: str) -> str:
        """Return the channel id of a party."""
        async with self._http.get(f"{BASE}/call-details/{call_id}") as reply:
            legs = (await _decode(reply))["legs"]
        return next(str(each["channelId"]) for each in legs if each["party"] == party)

    async def record(self, call_id: str) -> dict[str, Any]:
        """Wait for the record of a call and return it."""
        found: dict[str, Any] = {}

        async def is_there() -> bool:
            async with self._http.get(f"/srmain/cdr/{call_id}") as reply:
                if reply.status != NOT_FOUND:
                    found.update(await _decode(reply))
                return bool(found)

        await until(is_there, what="the call's record")
        return found


@asynccontextmanager
async def open_rest(url: str, settings: Mapping[str, str]) -> AsyncIterator[Rest]:
    """Get a token for the account of the lab."""
    account = settings["SWITCHROOM_ACCOUNT"]
    body = {
        "apiKey": settings["SWITCHROOM_API_KEY"],
        "apiSecret": settings["SWITCHROOM_API_SECRET"],
    }
    async with (
        aiohttp.ClientSession(url) as http,
        http.post(f"/auth/get-access-token/{account}", json=body) as reply,
    ):
        token = (await _decode(reply))["accessToken"]
    async with aiohttp.ClientSession(url, headers={"Authorization": token}) as http:
        yield Rest(http, account)


async def _decode(reply: aiohttp.ClientResponse) -> dict[str, Any]:
    answer: dict[str, Any] = await reply.json(content_type=None)
    if not reply.ok:
        raise RuntimeError(f"REST refused: {answer}")
    return answer
