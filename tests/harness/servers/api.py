"""A REST layer in front of engines, with an account and its requests.

async with Api(tmp_path / "api", engines=[engine]) as api:
    call = await api.request("POST", "/srmain/voice/call", {"from": …})
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from tests.harness.servers.api_process import ApiProcess
from tests.harness.servers.engine import Engine, RequestError

ACCOUNT, NUMBER = "rest", "+15550001"


class AccountClient:
    """Sends requests with the key of an account, which owns one number."""

    url: str
    folder: Path  # of the REST layer
    account: str
    number: str
    api_key: str
    api_secret: str

    async def token(self, agent: str | None = None) -> str:
        """Return an access token, optionally of an agent."""
        body = {"apiKey": self.api_key, "apiSecret": self.api_secret, "agentId": agent}
        path = f"/auth/get-access-token/{self.account}"
        return str((await self.request("POST", path, body, token=""))["accessToken"])

    async def request(
        self, method: str, path: str, body: object = None, *, token: str
    ) -> dict[str, Any]:
        """Send a request and return its JSON; raises RequestError."""
        headers = {"Authorization": token} if token else {}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.request(method, self.url + path, json=body) as reply,
        ):
            answer: dict[str, Any] = await reply.json(content_type=None)
            if not reply.ok:
                raise RequestError(reply.status, answer)
            return answer


class Api(ApiProcess, AccountClient):
    """A REST layer, and the account that it creates at start."""

    def __init__(
        self,
        folder: Path,
        *,
        engines: Sequence[Engine],
        settings: Mapping[str, str] | None = None,
        account: str = ACCOUNT,
        number: str = NUMBER,
    ) -> None:
        self.account = account
        self.number = number
        super().__init__(
            folder,
            engine_urls=[each.url for each in engines],
            rpc_token=engines[0].token,
            account=account,
            settings={
                "SWITCHROOM_SIP_HOSTS": '["127.0.0.1"]',
                "SWITCHROOM_ALLOW_INSECURE_WEBHOOKS": "true",
                "SWITCHROOM_CALLER_IDS": json.dumps([number]),
                **(settings or {}),
            },
        )
