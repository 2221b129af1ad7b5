"""An agent whose phone is a browser, and the tabs that register for it."""

from typing import Any

from tests.harness.live_lab import Lab
from tests.harness.phones.digest_login import Login
from tests.harness.phones.websocket_phone import WebsocketPhone
from tests.harness.servers.api import Api

ACCOUNT, NUMBER = "browsers", "+15550005"  # of no other test
BASE = "/srmain/voice/agents"
AGENT, ENDPOINT = "nora", "browsers-nora"


class BrowserAgent:
    """An agent whose phone is a browser."""

    def __init__(self, lab: Lab, api: Api) -> None:
        self.lab = lab
        self.api = api

    async def put(self, agent: str = AGENT, **body: str) -> None:
        """Change an agent with the account's key."""
        await self.api.request("PUT", f"{BASE}/{agent}", body, token=self.api.api_key)

    async def credentials(self, agent: str = AGENT) -> dict[str, Any]:
        """Create credentials."""
        path = f"{BASE}/{agent}/phone-credentials"
        found: dict[str, Any] = await self.api.request("POST", path, {}, token=self.api.api_key)
        return found

    async def login(self, agent: str = AGENT) -> Login:
        """Create credentials, as a phone uses them."""
        return as_login(await self.credentials(agent))


def as_login(credentials: dict[str, Any]) -> Login:
    """Return credentials as a phone uses them."""
    agent = credentials["uri"].removeprefix("sip:").partition("@")[0]
    return Login(agent, credentials["password"], username=credentials["username"])


async def is_unknown(lab: Lab, endpoint: str = ENDPOINT) -> bool:
    found = await lab.ari("endpoints/PJSIP")
    return endpoint not in {each["resource"] for each in found}


async def registers(agent: BrowserAgent, login: Login) -> bool:
    """Register a tab; returns whether the PBX accepts it."""
    async with WebsocketPhone.connected(agent.lab.pbx, login) as phone:
        return await phone.register() == "SIP/2.0 200 OK"
