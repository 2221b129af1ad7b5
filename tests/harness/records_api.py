"""A REST layer as a process over any database, before whatever speaks an engine's RPC, or nothing.

async with RecordsApi(folder, database_url=url, engine_url=engine.url, rpc_token=token) as api:
    status, page = await api.ask("GET", "/srmain/cdr", …)
"""

import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from tests.harness.ports import free_port
from tests.harness.server import Server


class RecordsApi(Server):
    """One process on a free port, with an account `acme` and its key."""

    def __init__(self, folder: Path, *, database_url: str, engine_url: str, rpc_token: str) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.key = f"swk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
        self._settings = {
            "SWITCHROOM_DATABASE_URL": database_url,
            "SWITCHROOM_ENGINE_URLS": f'["{engine_url}"]',
            "SWITCHROOM_RPC_TOKEN": rpc_token,
            "SWITCHROOM_TOKEN_SECRET": secrets.token_hex(32),
            "SWITCHROOM_API_PORT": str(self.port),
            "SWITCHROOM_ACCOUNT": "acme",
            "SWITCHROOM_API_KEY": self.key,
            "SWITCHROOM_API_SECRET": secrets.token_hex(32),
        }

    def command(self) -> Sequence[str]:
        """Return the command that operators use."""
        return (sys.executable, "-m", "engine", "api")

    def environment(self) -> Mapping[str, str]:
        """Return the settings."""
        return self._settings

    async def answers(self) -> bool:
        """Tell whether it serves."""
        try:
            async with aiohttp.ClientSession() as http, http.get(self.url + "/healthz") as got:
                return got.status == 200
        except aiohttp.ClientError:
            return False

    async def ask(
        self, method: str, path: str, body: object = None, **query: object
    ) -> tuple[int, Any]:
        """Ask as the account; give status and answer."""
        words = {name: str(value) for name, value in query.items()}
        headers = {"Authorization": self.key}
        async with (
            aiohttp.ClientSession(headers=headers) as http,
            http.request(method, f"{self.url}{path}", params=words, json=body) as reply,
        ):
            return reply.status, await reply.json(content_type=None)

    async def text(self, path: str) -> str:
        """Download a text as the account."""
        headers = {"Authorization": self.key}
        async with (
            aiohttp.ClientSession(headers=headers) as http,
            http.get(f"{self.url}{path}") as reply,
        ):
            assert reply.status == 200, await reply.text()
            return await reply.text()
