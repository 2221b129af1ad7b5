"""A REST layer of our own, as a process before an engine: killed and started like an operator's.

async with Api(tmp_path / "api", engines=[engine]) as api:
    call = await api.ask("POST", "/srmain/voice/call", {"from": …})
"""

import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from tests.harness.engine import Engine, Refused
from tests.harness.ports import free_port
from tests.harness.server import Server

ACCOUNT = "acme"
NUMBER = "+15550001"


class Api(Server):
    """One process on a free port, with an account, its key and a number."""

    def __init__(
        self,
        folder: Path,
        *,
        engines: Sequence[Engine],
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.api_key = f"swk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
        self.api_secret = secrets.token_urlsafe(32)
        self._token_secret = secrets.token_urlsafe(32)
        self._engines = engines
        self._settings = settings or {}

    def command(self) -> Sequence[str]:
        """Return the command that operators use."""
        return (sys.executable, "-m", "engine", "api")

    def environment(self) -> Mapping[str, str]:
        """Return the settings."""
        return {
            "SWITCHROOM_API_PORT": str(self.port),
            "SWITCHROOM_DATABASE_URL": f"sqlite+aiosqlite:///{self.folder / 'switchroom.db'}",
            "SWITCHROOM_ENGINE_URLS": json.dumps([each.url for each in self._engines]),
            "SWITCHROOM_RPC_TOKEN": self._engines[0].token,
            "SWITCHROOM_TOKEN_SECRET": self._token_secret,
            "SWITCHROOM_SIP_HOSTS": '["127.0.0.1"]',
            "SWITCHROOM_ALLOW_INSECURE_WEBHOOKS": "true",
            "SWITCHROOM_ACCOUNT": ACCOUNT,
            "SWITCHROOM_API_KEY": self.api_key,
            "SWITCHROOM_API_SECRET": self.api_secret,
            "SWITCHROOM_CALLER_IDS": json.dumps([NUMBER]),
            **self._settings,
        }

    async def answers(self) -> bool:
        """Tell whether it can do its work."""
        try:
            async with aiohttp.ClientSession() as session, session.get(self.url + "/readyz") as got:
                return got.status == 200
        except aiohttp.ClientError:
            return False

    async def token(self, agent: str | None = None) -> str:
        """Get an access token, of an agent if named."""
        body = {"apiKey": self.api_key, "apiSecret": self.api_secret, "agentId": agent}
        path = f"/auth/get-access-token/{ACCOUNT}"
        return str((await self.ask("POST", path, body, token=""))["accessToken"])

    async def ask(
        self, method: str, path: str, body: object = None, *, token: str
    ) -> dict[str, Any]:
        """Ask; raises Refused."""
        headers = {"Authorization": token} if token else {}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.request(method, self.url + path, json=body) as reply,
        ):
            answer: dict[str, Any] = await reply.json(content_type=None)
            if not reply.ok:
                raise Refused(reply.status, answer)
            return answer
