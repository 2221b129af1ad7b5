"""A REST layer over any database, with or without an engine.

async with RecordsApi(folder, database_url=url, engine_url=engine.url, rpc_token=token) as api:
    status, page = await api.request("GET", "/srmain/cdr", …)
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp

from tests.harness.servers.api_process import ACCOUNT, ApiProcess
from tests.harness.settings import SECRET


class RecordsApi(ApiProcess):
    """It is ready without an engine."""

    ready_path = "/healthz"

    def __init__(  # noqa: PLR0913 - all are keywords
        self,
        folder: Path,
        *,
        database_url: str,
        engine_url: str,
        rpc_token: str = SECRET,
        account: str = ACCOUNT,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            folder,
            engine_urls=[engine_url],
            rpc_token=rpc_token,
            settings={"SWITCHROOM_DATABASE_URL": database_url, **(settings or {})},
            account=account,
        )

    async def request(
        self, method: str, path: str, body: object = None, **query: object
    ) -> tuple[int, Any]:
        """Send a request as the account; returns status and JSON."""
        params = {name: str(value) for name, value in query.items()}
        async with (
            self._session() as http,
            http.request(method, f"{self.url}{path}", params=params, json=body) as reply,
        ):
            return reply.status, await reply.json(content_type=None)

    async def text(self, path: str) -> str:
        """Return a text that the account downloads."""
        async with self._session() as http, http.get(f"{self.url}{path}") as reply:
            assert reply.status == 200, await reply.text()
            return await reply.text()

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(headers={"Authorization": self.api_key})
