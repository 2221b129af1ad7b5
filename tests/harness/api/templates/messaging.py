"""The REST layer with a simulated messaging platform; both accounts have a number there."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from api.common.clock import Clock, now_ms
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.customers.msgapp import SimulatedMsgapp
from tests.harness.customers.msgapp_names import phone_id
from tests.harness.customers.msgapp_templates import PlatformTemplates
from tests.harness.rpc.scene import RpcScene

BASE = "/srmain/msgapp_templates"
HELLO: dict[str, Any] = {
    "name": "hello",
    "language": "en_US",
    "category": "UTILITY",
    "phoneNumberId": phone_id("acme"),
    "components": [
        {
            "type": "BODY",
            "text": "Hello {{1}}, {{2}} is on its way.",
            "example": {"body_text": [["Ada", "4711"]]},
        }
    ],
}
LISTED = f"{BASE}?name=&category=&status="


class Messaging:
    """A client of account `acme`, with the platform."""

    def __init__(self, rest: Rest, platform: SimulatedMsgapp) -> None:
        self.rest = rest
        self.platform = platform

    @property
    def there(self) -> PlatformTemplates:
        """The templates of the account on the platform."""
        return self.platform.business("acme")

    async def create(self, **more: Any) -> Any:
        """Create a template; return it."""
        answer = await self.rest.request("POST", BASE, {**HELLO, **more})
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def approved(self, **more: Any) -> Any:
        """Create a template that may be sent; return it."""
        made = await self.create(**more)
        self.there.all[made["platformTemplateId"]]["status"] = "APPROVED"
        return made

    async def get(self, template_id: str) -> Any:
        """Return a template."""
        answer = await self.rest.request("GET", f"{BASE}/{template_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def sync(self) -> Any:
        """Synchronize the statuses."""
        return await self.rest.post(f"{BASE}/sync-status")

    async def rejected(
        self, method: str = "POST", path: str = BASE, body: object = None, **more: Any
    ) -> tuple[int, str, list[str]]:
        """Send a request that must fail; by default it creates the template `hello`."""
        request_body = HELLO if body is None and path == BASE else body
        return await self.rest.rejected(method, path, request_body, **more)


@asynccontextmanager
async def messaging(
    database_url: str,
    scene: RpcScene,
    clock: Clock = now_ms,
    limits: Mapping[str, Any] | None = None,
    **more: Any,
) -> AsyncIterator[Messaging]:
    """Run both, with limits of the REST layer and settings of the platform."""
    async with SimulatedMsgapp() as platform:
        settings = platform.settings("acme", "other", **more)
        known = settings_for(database_url, scene.url, msgapp=settings, **(limits or {}))
        async with run_rest(known, scene, clock) as rest:
            for account in ("acme", "other"):
                number = {
                    "businessName": account,
                    "phoneNumberId": phone_id(account),
                    "businessMsgappNumber": "+4721930000",
                }
                token = await rest.token_of(account, account)
                answer = await rest.request("POST", "/srmain/msgapp-numbers", number, token=token)
                assert answer.status_code == 201, answer.text
            yield Messaging(rest, platform)
