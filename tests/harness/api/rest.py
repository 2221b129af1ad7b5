"""The REST layer with an engine's real RPC: two accounts, their keys, and a client."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
from pydantic import SecretStr

from api.accounts.store import Account
from api.app import create_app
from api.auth.key_store import Credentials, KeyStore, KeyTerms, generate_credentials
from api.common.clock import Clock, now_ms
from api.config import Settings
from api.services import Services, open_services
from tests.harness.api.databases import migrate_new
from tests.harness.rpc.scene import TOKEN, RpcScene

OURS, OTHERS = "+4721930000", "+4721930001"
GRANTED = ("1001", "1002", "1003", "1004")  # endpoints that acme may have
SECRET = "s" * 32
CUSTOMER = "+4722222222"


class Rest:
    """A client of account `acme`, with the services behind it."""

    def __init__(self, parts: Services, client: httpx2.AsyncClient, scene: RpcScene) -> None:
        self.services = parts
        self.client = client
        self.scene = scene
        self.credentials: dict[str, Credentials] = {}
        self.token = ""

    async def request(
        self, method: str, path: str, body: object = None, *, token: str | None = None, **more: Any
    ) -> httpx2.Response:
        """Send a request; bytes are sent unchanged, anything else as JSON."""
        headers = {"Authorization": self.token if token is None else token}
        headers |= more.pop("headers", {})
        sent = {"content": body} if isinstance(body, bytes) else {"json": body} if body else {}
        return await self.client.request(method, path, headers=headers, **sent, **more)

    async def post(self, path: str, **body: Any) -> Any:
        """Send a POST that must succeed; return the response."""
        answer = await self.request("POST", path, body)
        assert answer.is_success, answer.text
        return answer.json()

    async def rejected(
        self, method: str, path: str, body: object = None, **more: Any
    ) -> tuple[int, str, list[str]]:
        """Send a request that must fail; return status, code and paths of the problem."""
        answer = await self.request(method, path, body, **more)
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        reported = answer.json()
        assert reported["status"] == answer.status_code
        assert answer.headers["x-request-id"]
        assert answer.status_code != 429 or answer.headers["retry-after"]
        return (
            answer.status_code,
            reported["code"],
            [each["path"] for each in reported.get("errors", ())],
        )

    async def token_of(self, who: str, account: str = "acme", **more: Any) -> str:
        """Get an access token."""
        given = self.credentials[who]
        body = {"apiKey": given.api_key, "apiSecret": given.api_secret, **more}
        answer = await self.client.post(f"/auth/get-access-token/{account}", json=body)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["accessToken"])

    async def owner(self) -> str:
        """Create a key with all scopes of acme, and return a token of it."""
        self.credentials["owner"] = generate_credentials()
        keys = KeyStore(self.services.database, self.services.now_ms)
        await keys.add("acme", self.credentials["owner"], KeyTerms(scopes=("owner",)))
        return await self.token_of("owner")


def settings_for(database_url: str, engine_url: str, **more: Any) -> Settings:
    """Return settings of a test; a key is a token, and there are docs, as in the lab."""
    usual = {
        "keys_as_tokens": True,
        "api_docs": True,
        "api_stranger_requests_per_s": 1e6,
        "api_loop_share": 1e6,  # of a busy machine, too
    }
    return Settings(
        **{**usual, **more},
        _env_file=None,
        database_url=database_url,
        engine_urls=(engine_url,),
        rpc_token=SecretStr(TOKEN),
        token_secret=SecretStr(SECRET),
    )


@asynccontextmanager
async def run_rest(
    settings: Settings, scene: RpcScene, clock: Clock = now_ms
) -> AsyncIterator[Rest]:
    """Run the REST layer with two accounts: `acme`, whose agent 1001 has a key, and `other`."""
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(open_services(settings, clock))
        await migrate_new(parts.database, settings.database_url)
        transport = httpx2.ASGITransport(create_app(parts))
        client = httpx2.AsyncClient(transport=transport, base_url="http://api")
        rest = Rest(parts, await stack.enter_async_context(client), scene)
        keys = KeyStore(parts.database, parts.now_ms)
        for account, number in (("acme", OURS), ("other", OTHERS)):
            await parts.accounts.add(Account(account, account, destinations=None))
            await parts.accounts.add_number(account, number)
        for phone in GRANTED:
            await parts.endpoints.grant("acme", f"PJSIP/{phone}")
        for who, account, agent in (
            ("acme", "acme", None),
            ("1001", "acme", "1001"),
            ("other", "other", None),
        ):
            rest.credentials[who] = generate_credentials()
            await keys.add(account, rest.credentials[who], KeyTerms(agent))
        rest.token = await rest.token_of("acme")
        yield rest
