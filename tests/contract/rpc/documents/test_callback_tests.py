"""Test events: sent to an account's target at once, signed, and without a call."""

import json
from collections.abc import AsyncIterator

import pytest

from tests.harness.callbacks.settings import SettingsWriter
from tests.harness.customers.signatures import verified
from tests.harness.customers.webhook_server import WebhookServer, status
from tests.harness.rpc.scene import RpcScene
from wire.callbacks.account import PutCallback
from wire.callbacks.settings import CallbackSettings
from wire.callbacks.targets import HttpsTarget

PATH = "/status"


@pytest.fixture
async def hooks() -> AsyncIterator[WebhookServer]:
    """Provide a customer's server."""
    async with WebhookServer() as made:
        yield made


async def put(scene: RpcScene, target: str | None) -> CallbackSettings:
    """Set the target, also one without TLS; return the settings."""
    writer = SettingsWriter(scene.store, scene.accounts)
    return await writer.put("acme", PutCallback(target))


async def test_a_test_event_is_signed(scene: RpcScene, hooks: WebhookServer) -> None:
    """It arrives with the account's signature; the result names the event and the time it took."""
    url = hooks.answers(PATH, None)
    settings = await put(scene, url)
    answer, result = await scene.request("POST", "/callbacks/acme/test")
    assert answer == 200
    assert 0 <= result.pop("tookMs") < 60_000
    assert result == {"eventId": "test-1", "target": url, "delivered": True}
    (received,) = hooks.requests_to(PATH)
    body = json.dumps(received.body, separators=(",", ":"))
    assert verified(settings.secret, body, received.headers, url)
    assert (received.id, received.body["event"], received.body["accountId"]) == (
        "test-1", "test", "acme",
    )  # fmt: skip
    signed_s = int(received.headers["webhook-timestamp"])
    assert 0 <= signed_s - received.body["timestamp"] // 1_000 <= 1


@pytest.mark.parametrize(
    ("code", "reason"), [(500, "status_500"), (410, "gone"), (302, "redirect")]
)
async def test_a_failed_test_says_why(
    scene: RpcScene, hooks: WebhookServer, code: int, reason: str
) -> None:
    """Nothing follows from it: neither is it repeated, nor does a 410 stop the target."""
    await put(scene, hooks.answers(PATH, status(code)))
    _, result = await scene.request("POST", "/callbacks/acme/test")
    assert (result["delivered"], result["reason"]) == (False, reason)
    assert len(hooks.requests) == 1
    assert "stopped" not in (await scene.request("GET", "/callbacks/acme"))[1]


async def test_a_stopped_target_can_be_tested(scene: RpcScene, hooks: WebhookServer) -> None:
    """So its owner knows whether it can be set again."""
    url = hooks.answers(PATH, None)
    await put(scene, url)
    await scene.accounts.stop("acme", HttpsTarget(url))
    assert (await scene.request("POST", "/callbacks/acme/test"))[1]["delivered"]


async def test_an_account_without_a_target(scene: RpcScene) -> None:
    """It is said so, also if it has signing secrets."""
    assert await scene.problem("POST", "/callbacks/acme/test") == (409, "no_target")
    await put(scene, None)
    assert await scene.problem("POST", "/callbacks/acme/test") == (409, "no_target")
    assert await scene.problem("POST", "/callbacks/a%2Fb/test") == (400, "invalid")
