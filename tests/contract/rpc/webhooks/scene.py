"""A customer's server, and the clients of an engine that logs their attempts."""

import time
from typing import Any

from engine.callbacks.transports.http import HttpTransport
from engine.runtime.io.custom_http_requests import ApiRequestRunner
from engine.webhooks.action_client import ActionClient
from engine.webhooks.api_sender import ApiSender
from tests.harness.rpc.scene import RpcScene
from tests.harness.signing import fixed_signer
from tests.harness.webhooks.customer import Server
from wire.tree import Limits

CALL = "3-pbx1-aaaaaaaa"
GATHERED = b'{"callId":"3-pbx1-aaaaaaaa","dtmf":"4711","event":"gather"}'
EVENT = b'{"event":"answered","timestamp":1}'
REQUEST_ID = "0123456789abcdef01234567"
SECRET = 'a-secret"/+&='  # noqa: S105 - with characters that JSON and addresses write differently


class WebhookScene:
    """A scene, a customer's server, and the clients that the engine has for it."""

    def __init__(self, scene: RpcScene, server: Server, url: str) -> None:
        self.scene, self.server, self.url = scene, server, url
        limits, signer, log = Limits(allow_insecure=True), fixed_signer(), scene.attempts
        session = scene.session
        self.actions = ActionClient(
            lambda _: session, limits, signer, time.time, lambda: 0.5, log=log
        )
        sender = ApiSender(lambda _: session, time.time, lambda: 0.5, log=log)
        self.requests = ApiRequestRunner(scene.store, sender, signer)
        self.callbacks = HttpTransport(lambda _: session, log=log)

    async def ask(self, number: int = 0, body: bytes = b"{}", sensitive: str = "") -> None:
        """Request an action for a call."""
        await self.actions.ask("acme", self.url, body, f"{CALL}.r{number}", sensitive)
        await self.scene.attempts.flush()

    async def list(self, **query: str) -> list[dict[str, Any]]:
        """Return the attempts that match."""
        status, page = await self.scene.request("GET", "/webhooks/acme", params=query)
        assert status == 200, page
        return list(page["attempts"])

    async def show(self, attempt: str) -> dict[str, Any]:
        """Return an attempt in full."""
        status, view = await self.scene.request("GET", f"/webhooks/acme/{attempt}")
        assert status == 200, view
        return dict(view)

    async def retry(self, attempt: str) -> dict[str, Any]:
        """Repeat an attempt."""
        status, view = await self.scene.request("POST", f"/webhooks/acme/{attempt}/retry")
        assert status == 200, view
        return dict(view)
