"""A REST layer as a process."""

import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dev.servers.server import Server, is_well
from tests.harness.ports import free_port

ACCOUNT = "acme"


class ApiProcess(Server):
    """One process on a free port, with an account and its key.

    It publishes the dial policy of its account to the engines, so tests that share engines use
    different accounts.
    """

    ready_path = "/readyz"

    def __init__(
        self,
        folder: Path,
        *,
        engine_urls: Sequence[str],
        rpc_token: str,
        settings: Mapping[str, str],
        account: str = ACCOUNT,
    ) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        metrics_port = free_port()
        self.metrics_url = f"http://127.0.0.1:{metrics_port}"
        self.api_key = f"swk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
        self.api_secret = secrets.token_urlsafe(32)
        self._settings = {
            "SWITCHROOM_API_PORT": str(self.port),
            "SWITCHROOM_API_METRICS_PORT": str(metrics_port),
            "SWITCHROOM_KEYS_AS_TOKENS": "true",
            "SWITCHROOM_DATABASE_URL": f"sqlite+aiosqlite:///{self.folder / 'switchroom.db'}",
            "SWITCHROOM_ENGINE_URLS": json.dumps(engine_urls),
            "SWITCHROOM_RPC_TOKEN": rpc_token,
            "SWITCHROOM_TOKEN_SECRET": secrets.token_urlsafe(32),
            "SWITCHROOM_API_PHONE_URL": f"ws://127.0.0.1:{self.port}",
            "SWITCHROOM_CORS_ORIGINS": json.dumps([self.url]),  # its pages, also behind a proxy
            "SWITCHROOM_ACCOUNT": account,
            "SWITCHROOM_ACCOUNT_IS_LIMITED": "false",
            "SWITCHROOM_ALLOW": '["any"]',
            "SWITCHROOM_API_REQUESTS_PER_S": "1e6",  # tests and benchmarks send as fast as they can
            "SWITCHROOM_API_MAX_REQUESTS_OF_ACCOUNT": "100000",
            "SWITCHROOM_API_LOOP_SHARE": "1e6",
            "SWITCHROOM_API_STRANGER_REQUESTS_PER_S": "1e6",
            "SWITCHROOM_API_KEY": self.api_key,
            "SWITCHROOM_API_SECRET": self.api_secret,
            **settings,
        }

    def command(self) -> Sequence[str]:
        return (sys.executable, "-m", "switchroom", "api")

    def environment(self) -> Mapping[str, str]:
        return self._settings

    async def is_ready(self) -> bool:
        """Return whether `ready_path` answers 200."""
        return await is_well(self.metrics_url + self.ready_path)
